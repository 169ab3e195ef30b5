// Changes happen only at the place that was checked: links that appear between check and change are detected.
import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { MOVED, pinPlace } from '../../../../src/node/files/pinnedPlace.ts';
import { resolveInside } from '../../../../src/node/files/resolvePath.ts';

let root: string;
const folders = () => [{ path: '', absolute: join(root, 'work') }];

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'earshot-pinned-'));
  await mkdir(join(root, 'work/src'), { recursive: true });
  await mkdir(join(root, 'work/.git/hooks'), { recursive: true });
  await mkdir(join(root, 'outside'));
  await writeFile(join(root, 'work/src/a.ts'), 'a');
  await writeFile(join(root, 'outside/a.ts'), 'a');
});
afterEach(() => rm(root, { recursive: true }));

async function resolved(path: string, anywhere = false) {
  const file = await resolveInside(folders(), path, { anywhere });
  if (!file.ok) throw new Error(file.failure.message);
  return file.value;
}

async function swapFolder(to: string): Promise<void> {
  await rename(join(root, 'work/src'), join(root, 'src-before'));
  await symlink(to, join(root, 'work/src'));
}

describe.each([true, false])('the link itself is changed: %s', (itself) => {
  test.each(['src/a.ts', 'src/new.ts', 'src/deep/new.ts'])(
    '%s in a folder that becomes a link is refused',
    async (path) => {
      const file = await resolved(path);
      const pinned = await pinPlace(folders(), file, { itself });
      expect(pinned.ok && (await pinned.value.whyMoved())).toBeUndefined();
      await swapFolder(join(root, 'outside'));
      expect(pinned.ok && (await pinned.value.whyMoved())?.code).toBe(MOVED);
      expect(await pinPlace(folders(), file, { itself })).toMatchObject({ ok: false, failure: { code: MOVED } });
    },
  );

  test('a folder that becomes a link to another place inside the workspace is detected', async () => {
    const file = await resolved('src/new.ts');
    await swapFolder('.git/hooks');
    expect(await pinPlace(folders(), file, { itself })).toMatchObject({ ok: false, failure: { code: MOVED } });
  });

  test('an allowed place outside the workspace is pinned to its location', async () => {
    await symlink(join(root, 'outside'), join(root, 'door'));
    const file = await resolved('../door/a.ts', true);
    const pinned = await pinPlace(folders(), file, { itself });
    await rm(join(root, 'door'));
    await symlink(join(root, 'work'), join(root, 'door'));
    expect(pinned.ok && (await pinned.value.whyMoved())?.code).toBe(MOVED);
  });

  test('a workspace opened through a link, and a link inside it, can be changed', async () => {
    await symlink(join(root, 'work'), join(root, 'opened'));
    await symlink('src', join(root, 'work/source'));
    const open = [{ path: '', absolute: join(root, 'opened') }];
    for (const path of ['src/a.ts', 'source/a.ts', 'source/new.ts', 'new.ts']) {
      const file = await resolveInside(open, path);
      const pinned = file.ok ? await pinPlace(open, file.value, { itself }) : file;
      expect(pinned.ok && (await pinned.value.whyMoved())).toBeUndefined();
    }
  });
});

test('a file that becomes a link cannot be written, but can be deleted', async () => {
  const file = await resolved('src/a.ts');
  await rm(file.absolute);
  await symlink(join(root, 'outside/a.ts'), file.absolute);
  expect(await pinPlace(folders(), file, { itself: false })).toMatchObject({ failure: { code: MOVED } });
  expect(await pinPlace(folders(), file, { itself: true })).toMatchObject({ ok: true });
});

test('a dangling link is not written through', async () => {
  await symlink(join(root, 'outside/new.ts'), join(root, 'work/dangling.ts'));
  const file = { path: 'dangling.ts', absolute: join(root, 'work/dangling.ts') };
  expect(await pinPlace(folders(), file, { itself: false })).toMatchObject({ failure: { code: 'dangling' } });
});

// Changes at pinned places, with a folder that is swapped at exact moments: nothing outside, and no false success.
import { mkdir, mkdtemp, readdir, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type HeldFolder } from '../../../../src/node/files/heldFolder.ts';
import { deletePinned, movePinned, readPinned, writePinned } from '../../../../src/node/files/pinnedChanges.ts';
import { type PinnedPlace, pinPlace } from '../../../../src/node/files/pinnedPlace.ts';

const bytes = (text: string) => new TextEncoder().encode(text);
const moved = { ok: false, failure: { code: 'moved' } };

let root: string;
let folder: string;
let outside: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'earshot-pinned-'));
  [folder, outside] = [join(root, 'work'), join(root, 'outside')];
  await mkdir(join(folder, 'src'), { recursive: true });
  await mkdir(outside);
  for (const name of ['work/src/a.txt', 'work/b.txt', 'outside/a.txt']) await writeFile(join(root, name), 'one');
});
afterEach(() => rm(root, { recursive: true }));

async function pin(path: string, itself = false): Promise<PinnedPlace> {
  const file = { path, absolute: join(folder, path) };
  const pinned = await pinPlace([{ path: '', absolute: folder }], file, { itself });
  if (!pinned.ok) throw new Error(pinned.failure.message);
  return pinned.value;
}

async function swap(): Promise<void> {
  await rename(join(folder, 'src'), join(folder, 'src-before'));
  await symlink(outside, join(folder, 'src'));
}

/** The place, whose folder is swapped right after it was opened. */
function swappedWhenOpened(place: PinnedPlace): PinnedPlace {
  return {
    ...place,
    hold: async (create): Promise<HeldFolder> => {
      const held = await place.hold(create);
      await swap();
      return held;
    },
  };
}

const text = (path: string) => readFile(join(root, path), 'utf8').catch(() => undefined);

describe.each(['before', 'after'])('a folder that becomes a link %s it is opened', (when) => {
  const prepared = async (path: string, itself = false) => {
    const place = await pin(path, itself);
    if (when === 'after') return swappedWhenOpened(place);
    await swap();
    return place;
  };
  afterEach(async () => {
    expect(await readdir(outside)).toEqual(['a.txt']);
    expect(await text('outside/a.txt')).toBe('one');
  });

  test('a write fails, and the file keeps its bytes', async () => {
    expect(await writePinned(await prepared('src/a.txt'), bytes('one'), bytes('two'))).toMatchObject(moved);
    expect(await text('work/src-before/a.txt')).toBe('one');
  });

  test('a new file is not left behind', async () => {
    expect(await writePinned(await prepared('src/new.txt'), undefined, bytes('two'))).toMatchObject(moved);
    expect(await readdir(join(folder, 'src-before'))).toEqual(['a.txt']);
  });

  test('a deletion fails, and the file stays', async () => {
    expect(await deletePinned(await prepared('src/a.txt', true), bytes('one'))).toMatchObject({ ok: false });
    expect(await text('work/src-before/a.txt')).toBe('one');
  });

  test('a move into it fails, and the file stays', async () => {
    const source = await pin('b.txt', true);
    expect(await movePinned(source, await prepared('src/b.txt', true))).toMatchObject(moved);
    expect(await text('work/b.txt')).toBe('one');
  });
});

test('a write keeps the file itself and its permissions, makes only missing folders, and refuses other bytes', async () => {
  const before = await stat(join(folder, 'src/a.txt'));
  expect(await writePinned(await pin('src/a.txt'), bytes('one'), bytes('longer'))).toEqual({ ok: true });
  expect((await stat(join(folder, 'src/a.txt'))).ino).toBe(before.ino);
  expect(await writePinned(await pin('src/a.txt'), bytes('one'), bytes('x'))).toMatchObject({
    failure: { code: 'stale' },
  });
  expect(await writePinned(await pin('src/a.txt'), undefined, bytes('x'))).toMatchObject({
    failure: { code: 'stale' },
  });
  expect(await writePinned(await pin('new/deep/c.txt'), undefined, bytes('c'))).toEqual({ ok: true });
  expect([await text('work/src/a.txt'), await text('work/new/deep/c.txt')]).toEqual(['longer', 'c']);
  expect(Buffer.from((await readPinned(await pin('src/a.txt'))) ?? []).toString()).toBe('longer');
});

test('a folder that was there when the place was pinned is not made again', async () => {
  const place = await pin('src/new.txt');
  await rename(join(folder, 'src'), join(folder, 'src-before'));
  expect(await writePinned(place, undefined, bytes('two'))).toMatchObject({ ok: false });
  expect((await readdir(folder)).sort()).toEqual(['b.txt', 'src-before']);
});

// Paths as on macOS: names that differ only in case or in the Unicode form, on a disk that does not distinguish them, and
// links like /tmp and /var.
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { resolveInside } from '../../src/node/files/resolvePath.ts';
import { readJudged } from '../../src/node/files/readInside.ts';
import { hubFolder } from '../../src/node/hubFolder.ts';
import { platformFor } from '../../src/node/platform/platform.ts';
import { WatchedPaths } from '../../src/producers/files/diskWatch.ts';
import { atTestEnd } from '../support/endings.ts';
import { recordingLogger } from '../support/recordingLogger.ts';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'earshot-names-'));
  atTestEnd(() => rm(folder, { recursive: true }));
});

test('the workspace is one, whether it was opened as /tmp/x or as /private/tmp/x', async () => {
  const real = join(folder, 'private', 'tmp', 'shop');
  await mkdir(real, { recursive: true });
  await symlink(join(folder, 'private', 'tmp'), join(folder, 'tmp'));
  await writeFile(join(real, 'tea.txt'), 'tea');
  const linked = join(folder, 'tmp', 'shop');
  for (const [root, other] of [
    [linked, real],
    [real, linked],
  ] as const) {
    const folders = [{ path: '', absolute: root }];
    expect(await resolveInside(folders, 'tea.txt')).toMatchObject({ ok: true, value: { path: 'tea.txt' } });
    const read = await readJudged(
      folders,
      { path: 'tea.txt', absolute: join(root, 'tea.txt') },
      {
        judge: ({ outside }) => (outside ? { code: 'outside', message: '' } : undefined),
        atMost: 100,
      },
    );
    expect(read).toMatchObject({ ok: true });
    expect(await hubFolder(root, folder)).toBe(await hubFolder(other, folder));
  }
});

test('a watched file is one, in either case, on a disk that ignores case', () => {
  const seen: string[] = [];
  const listeners = new Map<string, (path: string) => void>();
  const watcher = {
    on: (event: string, listener: (path: string) => void) => listeners.set(event, listener),
    add: () => undefined,
    unwatch: () => undefined,
    close: async () => undefined,
  };
  const watched = new WatchedPaths({
    logger: recordingLogger([]),
    hasOther: false,
    watch: () => watcher as never,
    platform: platformFor('darwin'),
    touched: (path) => seen.push(path),
    broke: () => undefined,
  });
  watched.add('Café.txt'.normalize('NFC'), '/Users/tea/Café.txt'.normalize('NFC'));
  listeners.get('change')?.('/Users/tea/café.txt'.normalize('NFD'));
  expect(seen).toEqual(['Café.txt'.normalize('NFC')]);
  watched.dispose();
});

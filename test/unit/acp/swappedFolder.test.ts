// A folder that another process swaps for a link all the time: no change of a file leaves the workspace.
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createFolderDisk } from '../../../src/acp/folderDisk.ts';
import { type FileEdit, type FilePath } from '../../../src/core/ports/workspace.ts';
import { createDiskEntries } from '../../../src/storage/checkpoints/diskEntries.ts';
import { startSwapping } from '../../support/workspace/swapping.ts';

const FILES = 60;
const bytes = (text: string) => new TextEncoder().encode(text);

let root: string;
let folder: string;
let outside: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'earshot-swapped-'));
  [folder, outside] = [join(root, 'work'), join(root, 'outside')];
  await mkdir(join(folder, 'src'), { recursive: true });
  await mkdir(outside);
  for (let index = 0; index < FILES; index += 1) {
    await writeFile(join(folder, 'src', `${index}.txt`), 'one\n');
    await writeFile(join(outside, `${index}.txt`), 'one\n');
    await writeFile(join(folder, `${index}.txt`), 'one\n');
  }
});
afterEach(() => rm(root, { recursive: true }));

const at = (path: string): FilePath => ({ path, absolute: join(folder, path) });
const inside = (path: string) => readFile(join(folder, path), 'utf8').catch(() => 'none');

async function expectOutsideUntouched(): Promise<void> {
  expect((await readdir(outside)).length).toBe(FILES);
  for (const name of await readdir(outside)) expect(await readFile(join(outside, name), 'utf8')).toBe('one\n');
}

/** Runs `change` for every file while the folder is swapped, and returns those that it reported as done. */
async function whileSwapped(change: (index: number) => Promise<boolean>): Promise<number[]> {
  const stop = join(root, 'stop');
  const swapping = await startSwapping(join(folder, 'src'), outside, stop);
  const done: number[] = [];
  try {
    for (let index = 0; index < FILES; index += 1) {
      // Some attempts are refused, as they must be.
      for (let tries = 0; tries < 20; tries += 1) {
        if (!(await change(index))) continue;
        done.push(index);
        break;
      }
    }
  } finally {
    await writeFile(stop, '');
    await swapping.ended();
  }
  return done;
}

const EDITS: readonly (readonly [string, (index: number) => FileEdit, string, (index: number) => string])[] = [
  [
    'writes',
    (index) => ({ type: 'write', file: at(`src/${index}.txt`), from: bytes('one\n'), to: bytes('two\n') }),
    'two\n',
    (index) => `src/${index}.txt`,
  ],
  [
    'new files in new folders',
    (index) => ({ type: 'write', file: at(`src/new${index}/deep/a.txt`), to: bytes('two\n') }),
    'two\n',
    (index) => `src/new${index}/deep/a.txt`,
  ],
  [
    'deletions',
    (index) => ({ type: 'delete', file: at(`src/${index}.txt`), from: bytes('one\n') }),
    'none',
    (index) => `src/${index}.txt`,
  ],
  [
    'moves into it',
    (index) => ({ type: 'move', file: at(`${index}.txt`), to: at(`src/moved${index}.txt`), from: bytes('one\n') }),
    'one\n',
    (index) => `src/moved${index}.txt`,
  ],
  [
    'moves out of it',
    (index) => ({ type: 'move', file: at(`src/${index}.txt`), to: at(`moved${index}.txt`), from: bytes('one\n') }),
    'one\n',
    (index) => `moved${index}.txt`,
  ],
];

test.skipIf(process.platform !== 'linux').each(EDITS)(
  '%s: none happens outside, and what is reported as done is in its place',
  async (_, edit, expected, place) => {
    const { apply } = createFolderDisk(folder);
    const done = await whileSwapped(async (index) => (await apply([edit(index)])).ok);
    await expectOutsideUntouched();
    for (const index of done) expect(await inside(place(index))).toBe(expected);
    expect(done.length).toBeGreaterThan(0);
  },
);

test.skipIf(process.platform !== 'linux')(
  'entries that undo restores on disk: none outside, and what is reported as done is in its place',
  async () => {
    const entries = createDiskEntries(() => [{ path: '', absolute: folder }]);
    const entry = (text: string) => ({ bytes: bytes(text), kind: 'plain' as const, mode: 0o600 });
    const done = await whileSwapped(async (index) => {
      const to = index % 2 === 0 ? entry('two\n') : undefined;
      return (await entries.replace(`src/${index}.txt`, entry('one\n'), to)).ok;
    });
    await expectOutsideUntouched();
    for (const index of done) expect(await inside(`src/${index}.txt`)).toBe(index % 2 === 0 ? 'two\n' : 'none');
    expect(done.length).toBeGreaterThan(0);
  },
);

// A folder as on a Mac's disk: names that differ only in case or in the Unicode form are one file, from the first read to
// the undo. The names are translated before they reach the real disk, and listed as they were first written.
import fs from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { readJudged } from '../../src/node/files/readInside.ts';
import { resolveInside } from '../../src/node/files/resolvePath.ts';
import { atTestEnd } from '../support/endings.ts';
import { reviewing } from '../support/walk/reviewing.ts';
import { beginWalk } from '../support/walk/walking.ts';

const NAME = 'Café.txt'.normalize('NFC');
const OTHER = 'src/CAFÉ.TXT'.normalize('NFD');
const FUNCTIONS = [
  'access',
  'lstat',
  'lstatSync',
  'mkdir',
  'open',
  'readdir',
  'readFile',
  'realpath',
  'rename',
  'rm',
  'stat',
];

beforeEach(() => {
  const { readdirSync } = fs;
  const plain = (name: string) => name.normalize('NFC').toLowerCase();
  const namesIn = (folder: string) => {
    try {
      return readdirSync(folder);
    } catch {
      return [];
    }
  };
  const onDisk = (path: unknown) => {
    if (typeof path !== 'string' || !path.includes('/earshot-')) return path;
    const [, ...names] = path.split('/');
    return names.reduce((folder, name) => {
      const known = namesIn(`${folder}/`).find((one) => plain(one) === plain(name));
      return `${folder}/${known ?? name}`;
    }, '');
  };
  // Runs last.
  atTestEnd(async () => syncBuiltinESMExports());
  for (const calls of [fs, fs.promises] as unknown as Record<string, (...args: unknown[]) => unknown>[]) {
    for (const name of FUNCTIONS) {
      const original = calls[name];
      if (original === undefined) continue;
      calls[name] = (...args) => original(onDisk(args[0]), ...(name === 'rename' ? [onDisk(args[1])] : args.slice(1)));
      atTestEnd(async () => {
        calls[name] = original;
      });
    }
  }
  syncBuiltinESMExports();
});

test('a path in another case or Unicode form is the file as the disk names it', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'earshot-one-'));
  atTestEnd(() => rm(folder, { recursive: true }));
  await mkdir(join(folder, 'src'));
  await writeFile(join(folder, 'src', NAME), 'tea');
  const folders = [{ path: '', absolute: folder }];
  const found = await resolveInside(folders, OTHER);
  expect(found).toEqual({ ok: true, value: { path: `src/${NAME}`, absolute: join(folder, 'src', NAME) } });
  const read = await readJudged(
    folders,
    { path: OTHER, absolute: join(folder, OTHER) },
    { judge: () => undefined, atMost: 100 },
  );
  expect(read).toMatchObject({ ok: true });
});

test('a file read under one spelling and edited under another is one file in the review, and is undone', async () => {
  const edits = [{ old_text: 'green', new_text: 'black' }];
  const walked = await beginWalk(
    [
      { calls: [{ id: 'r', name: 'read_file', arguments: { path: `src/${NAME}` } }] },
      { calls: [{ id: 'e', name: 'edit_file', arguments: { path: OTHER, edits } }] },
      { text: ['Done.'] },
    ],
    { checkpoints: true },
  );
  const { put, review, text } = reviewing(walked);
  await mkdir(join(walked.headless.folder, 'src'));
  await put(`src/${NAME}`, 'green tea\n');
  await walked.go();
  expect(await text(`src/${NAME}`)).toBe('black tea\n');
  expect((await review.files()).map(({ path }) => path)).toEqual([`src/${NAME}`]);
  await review.undo();
  expect(await text(`src/${NAME}`)).toBe('green tea\n');
});

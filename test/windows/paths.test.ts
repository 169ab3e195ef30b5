// Paths on Windows: names with both separators, drives, case, links that lead outside, and globs.
import { deepEqual, equal, ok } from 'node:assert/strict';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { compileGlob } from '../../src/core/files/globs.ts';
import { realFileSystem } from '../../src/node/files/fileSystem.ts';
import { findProgram } from '../../src/node/files/fingerprint.ts';
import { holdFolder } from '../../src/node/files/heldFolder.ts';
import { readJudged } from '../../src/node/files/readInside.ts';
import { nameAsWritten, resolveInside } from '../../src/node/files/resolvePath.ts';
import { platform } from '../../src/node/platform/platform.ts';
import { temporaryFolder, test } from './support.ts';

const folder = temporaryFolder();
mkdirSync(join(folder, 'src'));
writeFileSync(join(folder, 'src', 'Tea.ts'), 'tea');
const folders = [{ path: '', absolute: folder }];

test('this is Windows', () => equal(platform.name, 'windows'));

test('a path is found by either separator and in any case, and is written with slashes', async () => {
  for (const path of ['src/Tea.ts', 'src\\Tea.ts', 'SRC\\tea.TS', join(folder, 'src', 'tea.ts')]) {
    const found = await resolveInside(folders, path);
    equal(found.ok && found.value.path, 'src/Tea.ts');
  }
});

test('paths of other drives, shares and folders are outside', async () => {
  for (const path of ['..\\x', 'C:\\Windows\\win.ini', '\\\\server\\share\\x', '\\\\?\\C:\\x']) {
    equal((await resolveInside(folders, path)).ok, false, path);
  }
});

test('a path of the workspace is written with slashes, so globs match it', () => {
  const path = nameAsWritten(folders, join(folder, 'src', 'Tea.ts')) ?? '';
  ok(compileGlob('src/**/*.ts')(path));
  ok(!compileGlob('lib/**')(path));
});

test('a file is read only if the judge allows the place that it leads to', async (context) => {
  const file = { path: 'src/Tea.ts', absolute: join(folder, 'src', 'Tea.ts') };
  const read = await readJudged(folders, file, { judge: () => undefined, atMost: 1000 });
  equal(read.ok && Buffer.from(read.value.bytes).toString(), 'tea');
  const outside = temporaryFolder();
  writeFileSync(join(outside, 'secret'), 'x');
  try {
    symlinkSync(outside, join(folder, 'link'), 'junction');
  } catch {
    context.skip('Wine has no junctions in this folder');
    return;
  }
  const judged: boolean[] = [];
  await readJudged(
    folders,
    { path: 'link/secret', absolute: join(folder, 'link', 'secret') },
    {
      judge: (place) => void judged.push(place.outside),
      atMost: 1000,
    },
  );
  deepEqual(judged, [true]);
});

test('files are written whole, and their folder is held by its identity', async () => {
  await realFileSystem.makeFolder(join(folder, 'a', 'b'));
  await realFileSystem.writeWhole(join(folder, 'a', 'b', 'x'), Buffer.from('1'));
  await realFileSystem.writeWhole(join(folder, 'a', 'b', 'x'), Buffer.from('2'));
  equal(readFileSync(join(folder, 'a', 'b', 'x'), 'utf8'), '2');
  const held = await holdFolder(folder, ['a', 'b']);
  equal(await held.isStill(), true);
  await realFileSystem.move(join(folder, 'a'), join(folder, 'c'));
  equal(await held.isStill(), false);
});

test('a program is found by its name without the ending', async () => {
  const found = await findProgram('cmd', folder, process.env);
  equal(found?.toLowerCase(), 'c:\\windows\\system32\\cmd.exe');
});

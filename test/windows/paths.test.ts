// Paths on Windows: names with both separators, drives, case, links that lead outside, and globs.
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { compileGlob } from '../../src/core/files/globs.ts';
import { realFileSystem } from '../../src/node/files/fileSystem.ts';
import { findProgram } from '../../src/node/files/fingerprint.ts';
import { holdFolder } from '../../src/node/files/heldFolder.ts';
import { readJudged } from '../../src/node/files/readInside.ts';
import { nameAsWritten, resolveInside } from '../../src/node/files/resolvePath.ts';
import { platform } from '../../src/node/platform/platform.ts';
import { temporaryFolder, test, until } from './support.ts';

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

const tea = { path: 'src/Tea.ts', absolute: join(folder, 'src', 'Tea.ts') };

test('a file is read at the place that was judged, and not if that is renamed between the two', async () => {
  const read = await readJudged(folders, tea, { judge: () => undefined, atMost: 1000 });
  equal(read.ok && Buffer.from(read.value.bytes).toString(), 'tea');
  const names = ['SRC', 'src'];
  let judged = 0;
  // The old name still opens the folder, so only the comparison of the paths finds this.
  const judge = () => {
    renameSync(join(folder, 'src'), join(folder, 'away'));
    renameSync(join(folder, 'away'), join(folder, names[judged++ % 2] ?? ''));
    return undefined;
  };
  const renamed = await readJudged(folders, tea, { judge, atMost: 1000 });
  match(renamed.ok ? 'it was read' : renamed.failure.message, /was replaced while it was read/);
  equal(judged, 3);
  renameSync(join(folder, 'src'), join(folder, 'away'));
  renameSync(join(folder, 'away'), join(folder, 'src'));
});

test('a file is not read if its folder is renamed away between judging and reading', async () => {
  const away = join(folder, 'away');
  const judge = () => {
    renameSync(join(folder, 'src'), away);
    return undefined;
  };
  const read = await readJudged(folders, tea, { judge, atMost: 1000 });
  renameSync(away, join(folder, 'src'));
  match(read.ok ? 'it was read' : read.failure.message, /does not exist/);
});

test('a file that another one replaces right after it was opened is judged and read again', async () => {
  const handle = await open(tea.absolute);
  const handles = Object.getPrototypeOf(handle) as Pick<FileHandle, 'stat'>;
  await handle.close();
  const { stat } = handles;
  let judged = 0;
  handles.stat = async function (this: FileHandle, ...options: []) {
    handles.stat = stat;
    renameSync(tea.absolute, join(folder, 'src', 'Old.ts'));
    writeFileSync(tea.absolute, 'new');
    return stat.apply(this, options);
  } as typeof stat;
  const read = await readJudged(folders, tea, { judge: () => void (judged += 1), atMost: 1000 });
  handles.stat = stat;
  deepEqual([read.ok && Buffer.from(read.value.bytes).toString(), judged], ['new', 2]);
});

test('a file behind a junction is judged by the place that it leads to', async (context) => {
  const outside = temporaryFolder();
  writeFileSync(join(outside, 'secret'), 'x');
  try {
    symlinkSync(outside, join(folder, 'link'), 'junction');
  } catch (error) {
    context.skip(`no junction can be made here: ${(error as NodeJS.ErrnoException).code}`);
    return;
  }
  const judged: boolean[] = [];
  const judge = (place: { outside: boolean }) => void judged.push(place.outside);
  await readJudged(folders, { path: 'link/secret', absolute: join(folder, 'link', 'secret') }, { judge, atMost: 1000 });
  deepEqual(judged, [true]);
});

test('a file is not read if its folder becomes a junction between judging and reading', async (context) => {
  const outside = temporaryFolder();
  writeFileSync(join(outside, 'Tea.ts'), 'secret');
  const away = join(folder, 'away');
  let failed: string | undefined;
  const judge = () => {
    if (failed === undefined && !existsSync(away)) {
      renameSync(join(folder, 'src'), away);
      try {
        symlinkSync(outside, join(folder, 'src'), 'junction');
      } catch (error) {
        failed = (error as NodeJS.ErrnoException).code ?? '';
      }
      return undefined;
    }
    return { code: 'outside', message: 'outside' } as const;
  };
  const read = await readJudged(folders, tea, { judge, atMost: 1000 });
  if (failed === undefined) unlinkSync(join(folder, 'src'));
  renameSync(away, join(folder, 'src'));
  if (failed !== undefined) return context.skip(`no junction can be made here: ${failed}`);
  equal(read.ok ? 'it was read' : read.failure.code, 'outside');
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

test('a file that another program has open is replaced once that closes it', async () => {
  const place = join(temporaryFolder(), 'state');
  writeFileSync(place, 'old');
  const reader = await open(place);
  const written = realFileSystem.writeWhole(place, Buffer.from('new'));
  const isTried = () => readdirSync(dirname(place)).some((name) => name.endsWith('.tmp'));
  await until(isTried);
  // Its bytes are written and renamed meanwhile.
  await Promise.race([written, new Promise((resolve) => setTimeout(resolve, 100))]);
  await reader.close();
  await written;
  equal(readFileSync(place, 'utf8'), 'new');
});

test('a program is found by its name without the ending', async () => {
  const found = await findProgram('cmd', folder, process.env);
  equal(found?.toLowerCase(), 'c:\\windows\\system32\\cmd.exe');
});

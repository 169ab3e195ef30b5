// Which paths are inside the workspace, as written and as the disk resolves them.
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, posix, win32 } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { isInside, resolveInside } from '../../../../src/node/files/resolvePath.ts';

let root: string;

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'earshot-paths-'));
  await mkdir(join(root, 'one', 'src'), { recursive: true });
  await mkdir(join(root, 'one-more'));
  await mkdir(join(root, 'two'));
  await writeFile(join(root, 'secret.txt'), '');
  await symlink(join(root, 'secret.txt'), join(root, 'one', 'link.txt'));
  await symlink(root, join(root, 'one', 'up'));
  await symlink(join(root, 'two'), join(root, 'one', 'sibling'));
  await symlink(join(root, 'not-there.txt'), join(root, 'one', 'dangling'));
  await symlink('dangling', join(root, 'one', 'src', 'chain'));
  await symlink('../dangling', join(root, 'one', 'src', 'relative-chain'));
  await symlink('../../not-there', join(root, 'one', 'src', 'dangling-folder'));
  await symlink('src/new.ts', join(root, 'one', 'dangling-inside'));
});
afterAll(() => rm(root, { recursive: true }));

const one = () => [{ path: '', absolute: join(root, 'one') }];
const both = () => [
  { path: 'one', absolute: join(root, 'one') },
  { path: 'two', absolute: join(root, 'two') },
];

test('a path is made relative to the folder, whichever form it was given in', async () => {
  for (const given of ['src/a.ts', './src/a.ts', 'src/../src/a.ts', join(root, 'one', 'src', 'a.ts')]) {
    expect(await resolveInside(one(), given)).toEqual({
      ok: true,
      value: { path: 'src/a.ts', absolute: join(root, 'one', 'src', 'a.ts') },
    });
  }
});

test('names with several dots, spaces, quotes and newlines are valid', async () => {
  for (const name of ['..hidden', 'a b.ts', `q"'.ts`, 'line\nbreak.ts', '…🦊.ts']) {
    expect(await resolveInside(one(), name)).toMatchObject({ ok: true, value: { path: name } });
  }
});

test.each([
  '..',
  '../secret.txt',
  'src/../../secret.txt',
  '../one-more/a.ts',
  '/etc/passwd',
  'link.txt',
  'up/secret.txt',
  'up/new.txt',
  'sibling/a.ts',
  'dangling',
  'dangling/deeper/a.ts',
  'src/relative-chain',
  'src/dangling-folder',
  'src/dangling-folder/a.ts',
])('%s is outside', async (path) => {
  expect(await resolveInside(one(), path)).toMatchObject({ ok: false, failure: { code: 'outside' } });
});

test('with several folders the first part names the folder, and a link between them is inside', async () => {
  expect(await resolveInside(both(), 'two/a.ts')).toMatchObject({
    ok: true,
    value: { path: 'two/a.ts', absolute: join(root, 'two', 'a.ts') },
  });
  expect(await resolveInside(both(), 'one/sibling/a.ts')).toMatchObject({ ok: true });
});

test('another spelling of the same file gets the spelling of the disk; a link stays a link', async () => {
  await symlink(join(root, 'one', 'src'), join(root, 'one', 'SRC'));
  await writeFile(join(root, 'one', 'src', 'a.ts'), '');
  await symlink(join(root, 'one', 'src', 'a.ts'), join(root, 'one', 'src', 'A.ts'));
  expect(await resolveInside(one(), 'SRC/a.ts')).toEqual({
    ok: true,
    value: { path: 'src/a.ts', absolute: join(root, 'one', 'src', 'a.ts') },
  });
  expect(await resolveInside(one(), 'src/A.ts')).toMatchObject({
    ok: true,
    value: { path: 'src/A.ts', absolute: join(root, 'one', 'src', 'A.ts'), real: 'src/a.ts' },
  });
});

test('a workspace without folders and a path with NUL are refused', async () => {
  expect(await resolveInside([], 'a')).toMatchObject({ ok: false, failure: { code: 'no_folder' } });
  expect(await resolveInside(one(), 'a\0b')).toMatchObject({ ok: false, failure: { code: 'bad_path' } });
});

test('a dangling link resolves to where the file would be created', async () => {
  const inside = await resolveInside(one(), 'dangling-inside');
  expect(inside).toMatchObject({ ok: true, value: { path: 'dangling-inside', real: 'src/new.ts' } });
  expect(await resolveInside(one(), 'src/chain')).toMatchObject({ ok: true, value: { real: 'src/dangling' } });
});

test.each([
  ['C:\\shop', 'C:\\shop\\src', win32, true],
  ['C:\\shop', 'c:\\Shop', win32, true],
  ['C:\\', 'C:\\shop', win32, true],
  ['C:\\shop', 'C:\\shop-two', win32, false],
  ['C:\\shop', 'D:\\shop', win32, false],
  ['/shop', '/shop/..data', posix, true],
  ['/', '/shop', posix, true],
  ['/shop', '/shop-two', posix, false],
  ['/shop', '/', posix, false],
] as const)('in %s lies %s: %#', (folder, path, system, expected) => {
  expect(isInside(folder, path, system)).toBe(expected);
});

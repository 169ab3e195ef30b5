// A folder without an editor: changes are made only from the expected bytes, all or none, and never through a changed
// link.
import { mkdir, mkdtemp, readFile, readlink, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createFolderDisk } from '../../../src/acp/folderDisk.ts';
import { readPromptParts } from '../../../src/acp/promptParts.ts';
import { type Client } from '../../../src/core/client/client.ts';
import { guardWorkspace } from '../../../src/core/consent/door.ts';
import { type FilePath } from '../../../src/core/ports/workspace.ts';

let root: string;
let folder: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'earshot-disk-'));
  folder = join(root, 'folder');
  await mkdir(folder);
});
afterEach(() => rm(root, { recursive: true }));

const bytes = (text: string) => new TextEncoder().encode(text);
const at = (path: string): FilePath => ({ path, absolute: join(folder, path) });
const text = (path: string) => readFile(join(root, path), 'utf8');

test('writes, moves and deletes from the expected bytes', async () => {
  const { apply } = createFolderDisk(folder);
  expect(await apply([{ type: 'write', file: at('deep/a.txt'), to: bytes('1') }])).toMatchObject({ ok: true });
  expect(await apply([{ type: 'write', file: at('deep/a.txt'), from: bytes('1'), to: bytes('2') }])).toMatchObject({
    ok: true,
  });
  const moved = await apply([{ type: 'move', file: at('deep/a.txt'), to: at('b.txt'), from: bytes('2') }]);
  expect(moved.ok && moved.value).toHaveLength(2);
  expect(await text('folder/b.txt')).toBe('2');
  expect(await apply([{ type: 'delete', file: at('b.txt'), from: bytes('2') }])).toMatchObject({ ok: true });
  await expect(text('folder/b.txt')).rejects.toThrow();
});

test('a deletion and a move report the permissions of the file, for undo', async () => {
  const { apply } = createFolderDisk(folder);
  for (const name of ['a.txt', 'b.txt']) await writeFile(join(folder, name), '1', { mode: 0o600 });
  const deleted = await apply([{ type: 'delete', file: at('a.txt'), from: bytes('1') }]);
  const moved = await apply([{ type: 'move', file: at('b.txt'), to: at('c.txt'), from: bytes('1') }]);
  expect(deleted.ok && deleted.value.map(({ beforeMode }) => beforeMode)).toEqual([0o600]);
  expect(moved.ok && moved.value.map(({ beforeMode }) => beforeMode)).toEqual([0o600, undefined]);
});

test('changes nothing if one of the files has other bytes or the target exists', async () => {
  const { apply } = createFolderDisk(folder);
  await writeFile(join(folder, 'a.txt'), 'mine');
  await writeFile(join(folder, 'b.txt'), 'yours');
  const first = { type: 'write', file: at('a.txt'), from: bytes('mine'), to: bytes('new') } as const;
  expect(await apply([first, { type: 'delete', file: at('b.txt'), from: bytes('other') }])).toMatchObject({
    ok: false,
    failure: { code: 'stale' },
  });
  expect(await apply([{ type: 'write', file: at('b.txt'), to: bytes('x') }])).toMatchObject({ ok: false });
  expect(await apply([{ type: 'move', file: at('a.txt'), to: at('b.txt'), from: bytes('mine') }])).toMatchObject({
    failure: { code: 'exists' },
  });
  expect([await text('folder/a.txt'), await text('folder/b.txt')]).toEqual(['mine', 'yours']);
});

test('a move does not replace a target that exists but cannot be read', async () => {
  const { apply } = createFolderDisk(folder);
  await writeFile(join(folder, 'a.txt'), 'mine');
  // A link to itself, which no user can read, not even root.
  await symlink('loop', join(folder, 'loop'));
  const moved = await apply([{ type: 'move', file: at('a.txt'), to: at('loop'), from: bytes('mine') }]);
  expect(moved).toMatchObject({ ok: false });
  expect(await readlink(join(folder, 'loop'))).toBe('loop');
  expect(await text('folder/a.txt')).toBe('mine');
});

test('a link out of the folder is neither read nor written through', async () => {
  await writeFile(join(root, 'secret.txt'), 'secret');
  await symlink(join(root, 'secret.txt'), join(folder, 'link.txt'));
  const disk = createFolderDisk(folder);
  expect(await guardWorkspace(disk).read(at('link.txt'))).toMatchObject({ failure: { code: 'outside' } });
  const edit = { type: 'write', file: at('link.txt'), from: bytes('secret'), to: bytes('x') } as const;
  expect(await disk.apply([edit])).toMatchObject({ ok: false });
  expect(await text('secret.txt')).toBe('secret');
});

test('a prompt: links to files of the folder are attached, everything else is text, and images are stored', async () => {
  const uri = (path: string) => pathToFileURL(join(root, path)).href;
  const client = { call: async () => ({ ok: true, value: { hash: 'h' } }) } as unknown as Pick<Client, 'call'>;
  const read = await readPromptParts(
    [
      { type: 'text', text: 'Look:' },
      { type: 'resource_link', uri: uri('folder/src/a.ts'), name: 'a.ts' },
      { type: 'resource_link', uri: uri('secret.txt'), name: 'secret' },
      { type: 'resource', resource: { uri: uri('folder/b.ts'), text: 'b' } },
      { type: 'audio' },
      { type: 'image', data: 'AAAA', mimeType: 'image/png' },
    ],
    { folder, client },
  );
  const content = `Look:\n[secret](${uri('secret.txt')})\n(a part of the type audio was left out)`;
  const attachments = [
    { type: 'file', path: 'src/a.ts' },
    { type: 'file_content', path: 'b.ts', content: 'b' },
    { type: 'image', media_type: 'image/png', hash: 'h' },
  ];
  expect(read).toEqual({ ok: true, value: { content, attachments } });
});

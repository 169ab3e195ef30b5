// Whether a window may have conversations, checked before anything else is loaded.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { realFileSystem } from '../../../src/node/files/fileSystem.ts';
import { mayHaveConversations } from '../../../src/storage/folderIndex.ts';
import { createPlaces } from '../../../src/storage/places.ts';

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'earshot-any-'));
});
afterEach(() => rm(root, { recursive: true, force: true }));

const window = (storage: string, ...workspaceFolders: string[]) => ({
  folder: join(root, storage),
  globalFolder: join(root, 'global'),
  workspaceFolders,
});

/** Lists the conversations, as a window does. */
async function list({ folder, globalFolder, workspaceFolders }: ReturnType<typeof window>) {
  const errors: unknown[] = [];
  const quiet = () => undefined;
  const log = { debug: quiet, info: quiet, warn: quiet, error: (...of: unknown[]) => void errors.push(of) };
  const index = { folder: globalFolder, workspaceFolders: () => workspaceFolders };
  await createPlaces({ files: realFileSystem, folder, index, logger: log }).storages();
  expect(errors).toEqual([]);
}

test('a window without storage has no conversations', async () => {
  expect(await mayHaveConversations(window('a', '/tea'))).toBe(false);
  expect(await mayHaveConversations(window('a'))).toBe(false);
});

test('a window that was used without a conversation has none', async () => {
  await list(window('a', '/tea'));
  expect(await mayHaveConversations(window('a', '/tea'))).toBe(false);
});

test('a conversation in its own storage counts', async () => {
  await mkdir(join(root, 'a', 'conversations', '01JCV00000000000000000000A'), { recursive: true });
  expect(await mayHaveConversations(window('a', '/tea'))).toBe(true);
  expect(await mayHaveConversations(window('b', '/tea'))).toBe(false);
});

test('a former storage of one of its folders counts, that of another folder does not', async () => {
  await list(window('a', '/tea'));
  expect(await mayHaveConversations(window('b', '/tea', '/coffee'))).toBe(true);
  expect(await mayHaveConversations(window('b', '/coffee'))).toBe(false);
});

test('a folder that cannot be listed counts', async () => {
  await mkdir(join(root, 'a'));
  await writeFile(join(root, 'a', 'conversations'), 'no folder');
  expect(await mayHaveConversations(window('a'))).toBe(true);
});

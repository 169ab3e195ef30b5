// The files producer with a real watcher on a real folder: what it reports, withdraws and leaves out.
import { mkdir, mkdtemp, rename, rm, symlink, unlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Disposable } from '../../../../src/base/disposable.ts';
import { Emitter } from '../../../../src/base/emitter.ts';
import { type Publisher, type SeenFiles } from '../../../../src/core/ports/ports.ts';
import { type FileTouch } from '../../../../src/core/ports/sources.ts';
import { realFileSystem } from '../../../../src/node/files/fileSystem.ts';
import { realClock } from '../../../../src/node/realClock.ts';
import { createFilesProducer } from '../../../../src/producers/files/files.ts';
import { createSnapshots } from '../../../../src/storage/snapshots.ts';
import { createTestHost } from '../../../support/notify/producerHost.ts';
import { recordingLogger } from '../../../support/recordingLogger.ts';
import { createFolderWorkspace } from '../../../support/workspace/folderWorkspace.ts';

const PATH = 'src/a.txt';
let root: string;
let errors: string[];
let watching: Disposable;
let published: string[];
/** What the conversation has seen, and what was announced since, as in its log. */
let seen: { hash: string; announced?: string } | undefined;
let withdrawable: boolean;
let onDidChange: Emitter<void>;
let snapshots: ReturnType<typeof createSnapshots>;
let onDidPublish: Emitter<string>;
/** Fires as the editor's watcher, at times chosen by the test. */
let touched: Emitter<FileTouch>;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'earshot-files-'));
  await mkdir(join(root, 'work', 'src'), { recursive: true });
  await writeFile(file(), 'one\n');
  errors = [];
  published = [];
  withdrawable = false;
  onDidChange = new Emitter(fail);
  onDidPublish = new Emitter(fail);
  touched = new Emitter(fail);
  snapshots = createSnapshots({ files: realFileSystem, folder: join(root, 'storage') });
  const hash = await snapshots.put(Buffer.from('one\n'));
  seen = undefined;
  const log = recordingLogger(errors);
  const producer = createFilesProducer({
    clock: realClock,
    logger: log,
    snapshots,
    workspace: createFolderWorkspace(join(root, 'work')),
    editorFiles: { onDidTouch: touched.event },
  });
  const host = createTestHost();
  host.conversations = ['c'];
  watching = producer.start(publisher, seenFiles, host);
  await Promise.resolve();
  seen = { hash };
  onDidChange.fire();
});

afterEach(async () => {
  watching.dispose();
  await rm(root, { recursive: true });
  expect(errors).toEqual([]);
});

const file = () => join(root, 'work', PATH);
const fail = (error: unknown) => {
  throw error;
};

const seenFiles: SeenFiles = {
  all: () => (seen === undefined ? [] : [{ path: PATH, by: [{ conversation: 'c', ...seen }] }]),
  get: (path) => seenFiles.all().find((entry) => entry.path === path),
  onDidChange: (listener) => onDidChange.event(listener),
};

const publisher: Publisher = {
  publish: async (draft, to) => {
    const text = `${to ?? ''} ${draft.kind.source}.${draft.kind.name} ${draft.message.split('\n')[0] ?? ''}`;
    published.push(text);
    if (seen !== undefined && typeof draft.data?.['hash'] === 'string')
      seen = { hash: seen.hash, announced: draft.data['hash'] };
    withdrawable = true;
    onDidPublish.fire(text);
  },
  withdraw: async (kind, subject) => {
    if (!withdrawable || published.at(-1)?.includes(`${kind.source}.${kind.name}`) !== true) return false;
    withdrawable = false;
    if (seen !== undefined) seen = { hash: seen.hash };
    const text = `withdrawn ${kind.source}.${kind.name} ${subject}`;
    published.push(text);
    onDidPublish.fire(text);
    return true;
  },
};

function next(): Promise<string> {
  return new Promise((resolve) => {
    const listening = onDidPublish.event((text) => {
      listening.dispose();
      resolve(text);
    });
  });
}

async function after(change: () => Promise<void>): Promise<string> {
  const notified = next();
  await change();
  return notified;
}

test('a change is reported with a diff to the conversation that has seen the file', async () => {
  expect(await after(() => writeFile(file(), 'two\n'))).toMatch(
    /^c file.changed src\/a.txt changed since you read it(, outside the editor)?:$/,
  );
});

test('changing a file back before delivery withdraws the notification', async () => {
  await after(() => writeFile(file(), 'two\n'));
  expect(await after(() => writeFile(file(), 'one\n'))).toBe(`withdrawn file.changed file:${PATH}`);
});

test('changing a file back after delivery reports that it is as it was read', async () => {
  await after(() => writeFile(file(), 'two\n'));
  withdrawable = false;
  expect(await after(() => writeFile(file(), 'one\n'))).toBe(`c file.changed ${PATH} is again as you read it.`);
});

test('writing the same bytes reports nothing; a later change is reported', async () => {
  await writeFile(file(), 'one\n');
  await writeFile(`${file()}.new`, 'one\n');
  await rename(`${file()}.new`, file());
  expect(await after(() => writeFile(file(), 'three\n'))).toContain('file.changed');
  expect(published).toHaveLength(1);
});

test('a deletion is reported, and withdrawn when the file is back unchanged', async () => {
  expect(await after(() => unlink(file()))).toMatch(
    /^c file.deleted src\/a.txt, which you read, is no longer there(, outside the editor)?\.$/,
  );
  expect(await after(() => writeFile(file(), 'one\n'))).toBe(`withdrawn file.deleted file:${PATH}`);
});

test('bytes of a deleted file found elsewhere replace the pending notification by one with the new name', async () => {
  await after(() => unlink(file()));
  const elsewhere = async (path: string, text: string) => {
    await writeFile(join(root, 'work', path), text);
    touched.fire({ type: 'created', path });
  };
  await elsewhere('src/other.txt', 'two\n');
  expect(await after(() => elsewhere('src/b.txt', 'one\n'))).toBe(`withdrawn file.deleted file:${PATH}`);
  await expect.poll(() => published).toHaveLength(3);
  expect(published[2]).toMatch(/^c file.deleted src\/a.txt, .* A file with the same bytes appeared: src\/b.txt\.$/);
});

test('a delivered deletion is not repeated when the bytes are found elsewhere', async () => {
  await after(() => unlink(file()));
  withdrawable = false;
  await writeFile(join(root, 'work', 'src/b.txt'), 'one\n');
  touched.fire({ type: 'created', path: 'src/b.txt' });
  expect(await after(() => writeFile(file(), 'three\n'))).toContain('file.changed');
  expect(published).toHaveLength(2);
});

test('a change before the file was watched is found when the view changes', async () => {
  seen = undefined;
  onDidChange.fire();
  await writeFile(file(), 'meanwhile\n');
  const notified = next();
  seen = { hash: await snapshots.put(Buffer.from('one\n')) };
  onDidChange.fire();
  expect(await notified).toContain('file.changed');
});

test('a change that is too long is summarized, and binary files are not compared', async () => {
  const long = Array.from({ length: 300 }, (_, index) => `line ${index}`).join('\n');
  expect(await after(() => writeFile(file(), long))).toMatch(
    /\(\+300 −1\)(, outside the editor)?; too much to show here\. Read it again before you rely on it\.$/,
  );
  expect(await after(() => writeFile(file(), Uint8Array.of(0, 1, 2)))).toMatch(
    /changed since you read it(, outside the editor)?; it is no text, so there is nothing to show\.$/,
  );
});

test('replacing a folder by a link out of the workspace is reported for its files, and withdrawn once it is back', async () => {
  await mkdir(join(root, 'elsewhere'));
  await writeFile(join(root, 'elsewhere', 'a.txt'), 'secret\n');
  const swapped = await after(async () => {
    await rename(join(root, 'work', 'src'), join(root, 'src-before'));
    await symlink(join(root, 'elsewhere'), join(root, 'work', 'src'));
    touched.fire({ type: 'deleted', path: 'src' });
  });
  expect(swapped).toMatch(
    /^c file\.changed src\/a\.txt, which you read, was replaced by a link that leads outside the workspace, or lies in a folder that was.*\. Its content is not shown\.$/,
  );
  const back = await after(async () => {
    await unlink(join(root, 'work', 'src'));
    await rename(join(root, 'src-before'), join(root, 'work', 'src'));
    touched.fire({ type: 'created', path: 'src' });
  });
  expect(back).toBe(`withdrawn file.changed file:${PATH}`);
  expect(published.join()).not.toContain('secret');
});

test('a file that became a folder is reported as such', async () => {
  const notified = await after(async () => {
    await unlink(file());
    await mkdir(file());
    touched.fire({ type: 'created', path: PATH });
  });
  expect(notified).toMatch(/^c file\.changed src\/a\.txt, which you read, is a folder now/);
});

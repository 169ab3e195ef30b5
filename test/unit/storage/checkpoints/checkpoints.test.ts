// Checkpoints of whole folders: every byte can be restored, the user's repository is never changed, and nothing
// prevents a checkpoint.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readFile, rename, rm, symlink, truncate, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type CheckpointDifference } from '../../../../src/core/ports/storage.ts';
import { realFileSystem } from '../../../../src/node/files/fileSystem.ts';
import { realClock } from '../../../../src/node/realClock.ts';
import { createCheckpoints, type StoredCheckpoints } from '../../../../src/storage/checkpoints/checkpoints.ts';
import { createSnapshots } from '../../../../src/storage/snapshots.ts';
import { recordingLogger } from '../../../support/recordingLogger.ts';

let root: string;
let folder: string;
let checkpoints: StoredCheckpoints;
let logged: string[];
const { signal } = new AbortController();

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'earshot-checkpoints-'));
  folder = join(root, 'work');
  await mkdir(folder);
  logged = [];
  checkpoints = open();
});
afterEach(async () => {
  await checkpoints.close();
  await rm(root, { recursive: true, force: true });
  expect(logged).toEqual([]);
});

function open(withoutGit = false, now = () => realClock.now()): StoredCheckpoints {
  const files = realFileSystem;
  const log = { ...recordingLogger(logged), warn: (message: string) => logged.push(message) };
  const clock = { ...realClock, now };
  const snapshots = createSnapshots({ files, folder: join(root, 'storage') });
  return createCheckpoints({ files, folder: join(root, 'storage'), snapshots, clock, logger: log, withoutGit });
}

const git = (...args: string[]) =>
  execFileSync('git', ['-c', 'user.name=u', '-c', 'user.email=u@example.org', ...args], {
    cwd: folder,
    encoding: 'utf8',
  });
const put = async (path: string, content: string | Buffer) => {
  await mkdir(join(folder, path, '..'), { recursive: true });
  await writeFile(join(folder, path), content);
};

async function take(also: readonly string[] = [], keep = true) {
  const taken = await checkpoints.take({
    folders: [{ path: '', absolute: folder }],
    also: also.map((path) => ({ path, absolute: join(folder, path) })),
    keep,
    signal,
  });
  if (!taken.ok) throw new Error(taken.failure.message);
  return taken.value;
}

async function differences(before: string, after: string): Promise<readonly CheckpointDifference[]> {
  const compared = await checkpoints.compare(before, after, signal);
  if (!compared.ok) throw new Error(compared.failure.message);
  return compared.value;
}

/** The changes as `path: before → after`, sorted. */
async function compare(before: string, after: string): Promise<string[]> {
  const found = await differences(before, after);
  const both = found.flatMap((one) => [one.before, one.after].filter((bytes) => bytes !== undefined));
  const bytes = await checkpoints.read(both, signal);
  const say = (one: { key: string; size: number } | undefined) => {
    if (one === undefined) return '–';
    const content = bytes.get(one.key);
    expect(content?.length).toBe(one.size);
    return JSON.stringify(Buffer.from(content ?? []).toString('latin1'));
  };
  return found.map(({ file, ...one }) => `${file.path}: ${say(one.before)} → ${say(one.after)}`).sort();
}

/** All files of the user's repository, by content. */
function fingerprint(of: string): string[] {
  return readdirSync(of, { recursive: true, encoding: 'utf8' })
    .filter((name) => statSync(join(of, name)).isFile())
    .sort()
    .map(
      (name) =>
        `${name} ${createHash('sha256')
          .update(readFileSync(join(of, name)))
          .digest('hex')}`,
    );
}

const STRANGE = ['a b.txt', 'quote"\'`.txt', 'line\nbreak.txt', '😀.txt', 'ümlaut/ß.txt', '-dash.txt', ':(glob)*.txt'];

describe.each(['a repository', 'no repository', 'no git'])('in %s', (kind) => {
  beforeEach(() => {
    if (kind === 'a repository') git('init', '-q');
    if (kind === 'no git') checkpoints = open(true);
  });

  test('changed, created and deleted files between two checkpoints are found with their bytes', async () => {
    await put('changed.txt', 'one\r\n');
    await put('gone.bin', Buffer.from([0, 255, 10, 13]));
    await put('same.txt', 'same');
    for (const name of STRANGE) await put(name, 'old');
    const before = await take();
    await put('changed.txt', 'two\n');
    await rm(join(folder, 'gone.bin'));
    await put('new.txt', '');
    for (const name of STRANGE) await put(name, 'new');
    const after = await take([], false);
    expect(await compare(before.name, after.name)).toEqual(
      [
        'changed.txt: "one\\r\\n" → "two\\n"',
        `gone.bin: "\\u0000ÿ\\n\\r" → –`,
        'new.txt: – → ""',
        ...STRANGE.map((name) => `${name}: "old" → "new"`),
      ].sort(),
    );
    expect(await take()).toMatchObject({ name: after.name, leftOut: [] });
  });

  test('repeated changes of the same length at the same time are found', async () => {
    await put('tick.txt', '0');
    let before = await take();
    for (let count = 1; count < 5; count++) {
      await put('tick.txt', String(count));
      const after = await take();
      expect(await compare(before.name, after.name)).toEqual([`tick.txt: "${count - 1}" → "${count}"`]);
      before = after;
    }
  });

  test('ignored folders and large ignored files are left out unless requested', async () => {
    await put('.gitignore', 'hidden/\n*.log\n.env\n');
    await put('hidden/a.txt', 'mine');
    await put('hidden/seen.txt', 'mine');
    await put('large.log', 'x'.repeat(2 * 1024 * 1024));
    await put('.env', 'SECRET=mine');
    // Clocks of disks are coarse, so wait: a file made right before the checkpoint may count as before or after it.
    const made = statSync(join(folder, '.env')).ctimeMs;
    await expect.poll(() => Date.now()).toBeGreaterThan(made + 30);
    const before = await take(['hidden/seen.txt']);
    for (const name of ['hidden/seen.txt', '.env']) await put(name, 'overwritten');
    // Files that are no longer ignored existed before, so they do not count as created.
    await put('.gitignore', '');
    const after = await take(['hidden/seen.txt'], false);
    expect(await compare(before.name, after.name)).toEqual([
      '.env: "SECRET=mine" → "overwritten"',
      '.gitignore: "hidden/\\n*.log\\n.env\\n" → ""',
      'hidden/seen.txt: "mine" → "overwritten"',
    ]);
  });

  test('the nearest .gitignore decides whether a file is ignored', async () => {
    await put('.gitignore', '*.log\n');
    await put('kept/.gitignore', '!*.log\n');
    const [kept, large] = [await take(), 'x'.repeat(2 * 1024 * 1024)];
    await put('kept/large.log', large);
    await put('large.log', large);
    const after = await take();
    expect((await compare(kept.name, after.name)).map((line) => line.split(':')[0])).toEqual(['kept/large.log']);
  });

  test('unreadable and too large files are counted, and never treated as created or deleted', async () => {
    await put('huge.bin', '');
    await truncate(join(folder, 'huge.bin'), 101 * 1024 * 1024);
    await put('grows.bin', 'small');
    const before = await take();
    expect(before.leftOut).toEqual(['huge.bin']);
    await truncate(join(folder, 'grows.bin'), 101 * 1024 * 1024);
    await truncate(join(folder, 'huge.bin'), 1);
    const after = await take();
    expect(after.leftOut).toEqual(['grows.bin']);
    expect(await compare(before.name, after.name)).toEqual([]);
    expect(logged.splice(0)).toEqual([
      'changes are not listed, since the files were too large or unreadable: grows.bin, huge.bin',
    ]);
  });

  test('a checkpoint can be read by another window, and is removed after a month', async () => {
    await put('a.txt', 'one');
    const before = await take();
    await put('a.txt', 'two');
    const after = await take();
    await checkpoints.close();
    checkpoints = open(kind === 'no git');
    expect(await compare(before.name, after.name)).toEqual(['a.txt: "one" → "two"']);
    await checkpoints.close();
    checkpoints = open(kind === 'no git', () => Date.now() + 2 * 24 * 60 * 60 * 1000);
    expect(await checkpoints.cleanUp((name) => name === before.name)).toBe(1);
    expect((await checkpoints.compare(before.name, after.name, signal)).ok).toBe(false);
    expect(await compare(before.name, before.name)).toEqual([]);
    await checkpoints.close();
    checkpoints = open(kind === 'no git', () => Date.now() + 31 * 24 * 60 * 60 * 1000);
    expect(await checkpoints.cleanUp(() => true)).toBe(1);
    const lost = await checkpoints.compare(before.name, before.name, signal);
    expect(!lost.ok && lost.failure.message).toBe('The checkpoint is no longer there.');
  });

  test('a capture can be aborted', async () => {
    await put('a.txt', 'one');
    const abort = new AbortController();
    abort.abort(new Error('called off'));
    const options = { folders: [{ path: '', absolute: folder }], also: [], keep: true, signal: abort.signal };
    await expect(checkpoints.take(options)).rejects.toThrow();
    expect((await take()).leftOut).toEqual([]);
  });
});

test('the user’s index, refs and objects are unchanged, even with hooks, filters and line-ending conversion', async () => {
  git('init', '-q');
  await put('.gitattributes', '* text=auto\n*.txt filter=shout\n*.u16 working-tree-encoding=UTF-16LE eol=crlf\n');
  git('config', 'filter.shout.clean', 'tr a-z A-Z');
  git('config', 'filter.shout.required', 'true');
  git('config', 'core.autocrlf', 'true');
  await put('a.txt', 'kept\r\nas it is $Id$\r\n');
  await put('b.u16', Buffer.from('wide\r\n', 'utf16le'));
  git('add', '-A');
  git('commit', '-qm', 'first');
  await put('staged.txt', 'staged');
  git('add', 'staged.txt');
  await mkdir(join(folder, '.git/hooks'), { recursive: true });
  for (const hook of ['pre-commit', 'post-index-change', 'reference-transaction', 'fsmonitor-watchman']) {
    await writeFile(join(folder, '.git/hooks', hook), '#!/bin/sh\ntouch hook-ran\nexit 1\n', { mode: 0o755 });
  }
  const was = fingerprint(join(folder, '.git'));
  const before = await take();
  await put('a.txt', 'other\r\n');
  await put('b.u16', Buffer.from('w\n', 'utf16le'));
  const after = await take();
  expect(await compare(before.name, after.name)).toEqual([
    'a.txt: "kept\\r\\nas it is $Id$\\r\\n" → "other\\r\\n"',
    'b.u16: "w\\u0000i\\u0000d\\u0000e\\u0000\\r\\u0000\\n\\u0000" → "w\\u0000\\n\\u0000"',
  ]);
  expect(fingerprint(join(folder, '.git'))).toEqual(was);
  expect(readdirSync(folder)).not.toContain('hook-ran');
});

test('a checkpoint survives the removal of the folder and its .git', async () => {
  git('init', '-q');
  await put('src/a.txt', 'committed');
  git('add', '-A');
  git('commit', '-qm', 'first');
  const before = await take();
  // Objects borrowed from the user's repository are copied in the background; the file `borrowed` is removed when that
  // is done.
  const storage = join(root, 'storage', 'checkpoints', 'git');
  await expect.poll(() => readdirSync(join(storage, readdirSync(storage)[0] ?? ''))).not.toContain('borrowed');
  await rename(folder, `${folder}-elsewhere`);
  await mkdir(folder);
  const after = await take();
  expect(await compare(before.name, after.name)).toEqual(['src/a.txt: "committed" → –']);
});

test('a nested repository, and a folder inside a repository, are captured with their own rules', async () => {
  git('init', '-q');
  await put('.gitignore', 'tmp/\n');
  await put('package/a.txt', 'a');
  await put('package/tmp/x.txt', 'ignored from above');
  await put('package/inner/b.txt', 'b');
  execFileSync('git', ['init', '-q'], { cwd: join(folder, 'package/inner') });
  const whole = folder;
  folder = join(whole, 'package');
  const before = await take(['inner/b.txt']);
  await put('a.txt', 'A');
  await put('tmp/x.txt', 'still ignored');
  await put('inner/b.txt', 'B');
  const between = await take(['inner/b.txt']);
  expect(await compare(before.name, between.name)).toEqual(['a.txt: "a" → "A"', 'inner/b.txt: "b" → "B"']);
  await rm(join(folder, 'inner'), { recursive: true });
  const after = await take();
  expect(await compare(between.name, after.name)).toEqual(['inner/b.txt: "B" → –']);
});

test('links, pipes and unreadable files do not prevent the capture', async () => {
  await put('a.txt', 'a');
  await put('b.txt', 'b');
  await put('secret.txt', 's');
  await chmod(join(folder, 'secret.txt'), 0o000);
  await symlink('a.txt', join(folder, 'link.txt'));
  execFileSync('mkfifo', [join(folder, 'pipe')]);
  const before = await take();
  expect(before.leftOut).toEqual(process.getuid?.() === 0 ? [] : ['secret.txt']);
  await put('b.txt', 'B');
  await rm(join(folder, 'link.txt'));
  const after = await take();
  expect(await compare(before.name, after.name)).toEqual(['b.txt: "b" → "B"', 'link.txt: "a.txt" → –']);
  expect(await readFile(join(folder, 'a.txt'), 'utf8')).toBe('a');
});

test('two windows can capture the same folder at once', async () => {
  for (let count = 0; count < 20; count++) await put(`f${count}.txt`, 'old');
  await utimes(join(folder, 'f0.txt'), new Date(0), new Date(0));
  const other = open();
  const options = { folders: [{ path: '', absolute: folder }], also: [], keep: true, signal };
  const taken = await Promise.all([1, 2, 3, 4].flatMap(() => [checkpoints.take(options), other.take(options)]));
  const [first, ...others] = new Set(taken.map((one) => (one.ok ? one.value.name : one.failure.message)));
  expect(others).toEqual([]);
  await put('f1.txt', 'new');
  const after = await take();
  expect(await compare(first ?? '', after.name)).toEqual(['f1.txt: "old" → "new"']);
  await other.close();
});

test('a file that was written right before the checkpoint and moved with its folder is older than its place', async () => {
  await put('folder/one.txt', 'one');
  const before = await take();
  await rename(join(folder, 'folder'), join(folder, 'moved'));
  const after = await take();
  const found = await differences(before.name, after.name);
  expect(found.map(({ file, movedIn }) => [file.path, movedIn])).toEqual([
    ['folder/one.txt', undefined],
    ['moved/one.txt', true],
  ]);
});

// A failing git leaves no change out silently: a file that it refuses is logged, and everything else fails the capture.
import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { realFileSystem } from '../../../../src/node/files/fileSystem.ts';
import { realClock } from '../../../../src/node/realClock.ts';
import { createCheckpoints, type StoredCheckpoints } from '../../../../src/storage/checkpoints/checkpoints.ts';
import { createSnapshots } from '../../../../src/storage/snapshots.ts';
import { recordingLogger } from '../../../support/recordingLogger.ts';

let root: string;
let folder: string;
let storage: string;
let checkpoints: StoredCheckpoints;
let logged: string[];
const { signal } = new AbortController();

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'earshot-failing-git-'));
  [folder, storage] = [join(root, 'work'), join(root, 'storage')];
  await mkdir(folder);
  logged = [];
  const files = realFileSystem;
  const logger = { ...recordingLogger(logged), warn: (message: string) => logged.push(message) };
  const snapshots = createSnapshots({ files, folder: storage });
  checkpoints = createCheckpoints({ files, folder: storage, snapshots, clock: realClock, logger });
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await checkpoints.close();
  await rm(root, { recursive: true, force: true });
  expect(logged).toEqual([]);
});

const put = (path: string, content: string) => writeFile(join(folder, path), content);

async function take() {
  const taken = await checkpoints.take({ folders: [{ path: '', absolute: folder }], also: [], keep: true, signal });
  if (!taken.ok) throw new Error(taken.failure.message);
  return taken.value;
}

/** The changed files and their sizes afterwards. */
async function compare(before: string, after: string) {
  const compared = await checkpoints.compare(before, after, signal);
  if (!compared.ok) throw new Error(compared.failure.message);
  return compared.value.map((one) => [one.file.path, one.after?.size]);
}

describe.skipIf(process.platform === 'win32')('with a git that fails at adding files', () => {
  /** Runs the shell command before git adds files, until `end` is called. */
  async function failing(command: (bin: string) => string) {
    const [bin, real] = [join(root, 'bin'), execFileSync('which', ['git'], { encoding: 'utf8' }).trim()];
    await mkdir(bin);
    const script = `#!/bin/sh\ncase "$*" in *'update-index --add'*) ${command(bin)} ;; esac\nexec '${real}' "$@"\n`;
    await writeFile(join(bin, 'git'), script, { mode: 0o755 });
    vi.stubEnv('PATH', `${bin}:${process.env['PATH'] ?? ''}`);
    return { bin, end: () => vi.unstubAllEnvs() };
  }

  test('a file that git refuses once, as while objects are packed, is captured', async () => {
    execFileSync('git', ['init', '-q'], { cwd: folder });
    await put('a.txt', 'one');
    const before = await take();
    const { bin, end } = await failing(
      (place) =>
        `[ -e '${place}/refused' ] || { touch '${place}/refused'; echo 'unable to create temporary file' >&2; exit 128; }`,
    );
    await put('a.txt', 'three');
    const after = await take();
    end();
    expect(readdirSync(bin).sort()).toEqual(['git', 'refused']);
    expect(after.leftOut).toEqual([]);
    expect(await compare(before.name, after.name)).toEqual([['a.txt', 5]]);
  });

  test('a file that git refuses again is left out, and that is logged once', async () => {
    await put('a.txt', 'one');
    await take();
    const { end } = await failing(() => `echo 'no such luck' >&2; exit 128`);
    await put('a.txt', 'two');
    expect((await take()).leftOut).toEqual(['a.txt']);
    expect((await take()).leftOut).toEqual(['a.txt']);
    end();
    expect(logged.splice(0)).toEqual([
      'a.txt cannot be captured, so its changes are not listed: git update-index: no such luck',
    ]);
  });

  test('no file counts as unreadable because git was killed: the capture fails', async () => {
    await put('a.txt', 'one');
    await take();
    const { end } = await failing(() => 'kill -9 $$');
    await put('a.txt', 'two');
    await expect(take()).rejects.toThrow('git update-index: ended with SIGKILL');
    end();
    expect((await take()).leftOut).toEqual([]);
  });
});

test('a missing object does not hide the size of the others', async () => {
  await put('a.txt', 'one');
  await put('b.txt', 'two');
  const before = await take();
  await put('a.txt', 'three');
  await put('b.txt', 'four');
  const after = await take();
  const store = join(storage, 'checkpoints', 'git');
  const [place = ''] = readdirSync(store);
  const object = execFileSync('git', ['hash-object', '--stdin'], { input: 'three', encoding: 'utf8' }).trim();
  await rm(join(store, place, 'objects', object.slice(0, 2), object.slice(2)));
  expect(await compare(before.name, after.name)).toEqual([
    ['a.txt', 0],
    ['b.txt', 4],
  ]);
});

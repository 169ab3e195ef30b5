// Whatever git takes for its top level, the opened folder is captured, and what is left out is named.
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, cp, lstat, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
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
let checkpoints: StoredCheckpoints;
let logged: string[];
const { signal } = new AbortController();

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'earshot-top-level-'));
  folder = join(root, 'above', 'work');
  await mkdir(folder, { recursive: true });
  logged = [];
  checkpoints = open();
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await checkpoints.close();
  await rm(root, { recursive: true, force: true });
  expect(logged).toEqual([]);
});

function open(withoutGit = false): StoredCheckpoints {
  const files = realFileSystem;
  const logger = { ...recordingLogger(logged), warn: (message: string) => logged.push(message) };
  const snapshots = createSnapshots({ files, folder: join(root, 'storage') });
  return createCheckpoints({ files, folder: join(root, 'storage'), snapshots, clock: realClock, logger, withoutGit });
}

const git = (...args: string[]) =>
  execFileSync('git', ['-c', 'user.name=u', '-c', 'user.email=u@example.org', ...args], { cwd: folder });
const put = async (path: string, content: string) => {
  await mkdir(join(folder, path, '..'), { recursive: true });
  await writeFile(join(folder, path), content);
};
const pipe = (path: string) => execFileSync('mkfifo', [path]);

async function take(of = checkpoints, folders = [{ path: '', absolute: folder }]) {
  const taken = await of.take({ folders, also: [], keep: true, signal });
  if (!taken.ok) throw new Error(taken.failure.message);
  return taken.value;
}

/** The changes as `path: before → after`, sorted. */
async function changes(before: string, after: string, of = checkpoints): Promise<string[]> {
  const compared = await of.compare(before, after, signal);
  if (!compared.ok) throw new Error(compared.failure.message);
  const both = compared.value.flatMap((one) => [one.before, one.after].filter((bytes) => bytes !== undefined));
  const bytes = await of.read(both, signal);
  const say = (one: { key: string } | undefined) =>
    one === undefined
      ? '–'
      : Buffer.from(bytes.get(one.key) ?? [])
          .toString()
          .trim();
  return compared.value.map(({ file, ...one }) => `${file.path}: ${say(one.before)} → ${say(one.after)}`).sort();
}

/** Changes, deletes and creates a file between two checkpoints, and expects that all of that is found. */
async function expectCaptured(): Promise<void> {
  await put('changed.txt', 'one');
  await put('gone.txt', 'one');
  const before = await take();
  await put('changed.txt', 'two');
  await rm(join(folder, 'gone.txt'));
  await put('new.txt', 'new');
  const after = await take();
  expect(await changes(before.name, after.name)).toEqual([
    'changed.txt: one → two',
    'gone.txt: one → –',
    'new.txt: – → new',
  ]);
  expect([...before.leftOut, ...after.leftOut]).toEqual([]);
}

describe.skipIf(process.platform === 'win32')('a folder is captured', () => {
  const CASES: readonly (readonly [string, () => unknown])[] = [
    [
      'whose configuration names the folder above as working tree',
      () => git('config', 'core.worktree', join(root, 'above')),
    ],
    ['whose configuration names a folder elsewhere as working tree', () => git('config', 'core.worktree', '/usr')],
    ['whose configuration says that it is bare', () => git('config', 'core.bare', 'true')],
    ['whose configuration cannot be parsed', () => writeFile(join(folder, '.git', 'config'), '[core\n')],
    [
      'whose configuration includes a pipe',
      () => {
        pipe(join(root, 'pipe'));
        git('config', 'include.path', join(root, 'pipe'));
      },
    ],
    [
      'whose HEAD is a pipe',
      async () => {
        await rm(join(folder, '.git', 'HEAD'));
        pipe(join(folder, '.git', 'HEAD'));
      },
    ],
    [
      'whose list of ignored files is a pipe',
      async () => {
        await rm(join(folder, '.git', 'info', 'exclude'), { force: true });
        pipe(join(folder, '.git', 'info', 'exclude'));
      },
    ],
    [
      'whose list of ignored files is an endless device',
      async () => {
        await rm(join(folder, '.git', 'info', 'exclude'), { force: true });
        await symlink('/dev/zero', join(folder, '.git', 'info', 'exclude'));
      },
    ],
    [
      'whose .git is a file that leads nowhere',
      () => rm(join(folder, '.git'), { recursive: true }).then(() => put('.git', 'gitdir: /nowhere\n')),
    ],
    ['with a sparse checkout', () => git('sparse-checkout', 'set', '--no-cone', 'nothing')],
    [
      'with files that git was told to leave alone',
      async () => {
        await put('changed.txt', 'zero');
        await put('gone.txt', 'zero');
        git('add', '.');
        git('update-index', '--skip-worktree', 'changed.txt');
        git('update-index', '--assume-unchanged', 'gone.txt');
      },
    ],
    [
      'in an editor that was started from a git hook',
      () => {
        vi.stubEnv('GIT_DIR', '/nowhere');
        vi.stubEnv('GIT_WORK_TREE', root);
      },
    ],
  ];
  test.each(CASES)('%s', async (_, prepare) => {
    git('init', '-q');
    await prepare();
    await expectCaptured();
  });

  test('that a repository above it ignores', async () => {
    execFileSync('git', ['init', '-q', join(root, 'above')]);
    await writeFile(join(root, 'above', '.gitignore'), '*\n');
    await expectCaptured();
  });

  test('inside another repository, with a broken .git of its own', async () => {
    execFileSync('git', ['init', '-q', join(root, 'above')]);
    git('init', '-q');
    await rm(join(folder, '.git', 'HEAD'));
    pipe(join(folder, '.git', 'HEAD'));
    await expectCaptured();
  });

  test('without the files that a repository above it ignores', async () => {
    execFileSync('git', ['init', '-q', join(root, 'above')]);
    await writeFile(join(root, 'above', '.gitignore'), 'dist/\n');
    await put('dist/out.js', 'one');
    await put('a.txt', 'one');
    const before = await take();
    await put('dist/out.js', 'two');
    await put('a.txt', 'two');
    expect(await changes(before.name, (await take()).name)).toEqual(['a.txt: one → two']);
  });

  test('without git, if its list of ignored files is a pipe', async () => {
    checkpoints = open(true);
    pipe(join(folder, '.gitignore'));
    await expectCaptured();
  });

  test('without running a filter of the repository', async () => {
    git('init', '-q');
    await put('.gitattributes', '* filter=x text eol=crlf\n');
    git('config', 'filter.x.clean', `sh -c 'touch ${root}/ran; cat'`);
    await expectCaptured();
    expect(existsSync(join(root, 'ran'))).toBe(false);
  });
});

test('files of a folder that becomes a repository, and of one that is none any more, keep their former content', async () => {
  git('init', '-q');
  await put('begins/a.txt', 'one');
  await put('ends/a.txt', 'one');
  await put('ends/same.txt', 'same');
  git('init', '-q', 'ends');
  const before = await take();
  git('init', '-q', 'begins');
  await rm(join(folder, 'ends', '.git'), { recursive: true });
  await put('begins/a.txt', 'two');
  await put('ends/a.txt', 'two');
  expect(await changes(before.name, (await take()).name)).toEqual(['begins/a.txt: one → two', 'ends/a.txt: one → two']);
});

test('a change that another window has captured first is found by this one too', async () => {
  const other = open();
  try {
    await put('a.txt', 'one');
    await take();
    // A file that has just changed is looked at again anyway; its change time cannot be set.
    await new Promise((resolve) => setTimeout(resolve, 2100));
    const before = await take();
    await put('a.txt', 'two');
    await take(other);
    expect(await changes(before.name, (await take()).name)).toEqual(['a.txt: one → two']);
  } finally {
    await other.close();
  }
});

test('permissions that change within the second in which the file was made are noticed', async () => {
  git('init', '-q');
  await take();
  const second = async (name: string) => Math.floor((await lstat(join(folder, name))).ctimeMs / 1000);
  // git compares whole seconds. On a busy machine the second may have passed.
  for (let index = 0; ; index += 1) {
    await new Promise((resolve) => setTimeout(resolve, 1000 - (Date.now() % 1000)));
    const name = `${index}.txt`;
    await put(name, 'one');
    const made = await second(name);
    const before = await take();
    await chmod(join(folder, name), 0o600);
    if ((await second(name)) !== made) continue;
    expect(await changes(before.name, (await take()).name)).toEqual([`${name}: one → one`]);
    return;
  }
});

test('a folder that is not on this disk, and nested repositories beyond the limit, are named as left out', async () => {
  git('init', '-q');
  git('init', '-q', 'nested/n10');
  for (let index = 11; index < 35; index += 1)
    await cp(join(folder, 'nested/n10'), join(folder, `nested/n${index}`), { recursive: true });
  for (let index = 10; index < 35; index += 1) await put(`nested/n${index}/a.txt`, 'one');
  const virtual = { path: 'remote', absolute: 'memfs:/folder' };
  const { name, leftOut } = await take(checkpoints, [{ path: 'work', absolute: folder }, virtual]);
  expect(leftOut).toHaveLength(7);
  expect(leftOut).toContain('remote/');
  expect(await checkpoints.leftOut(name)).toEqual(leftOut);
});

// A repository whose git files are links, pipes, devices or lies: they are not read, and git runs no program for it.
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { appendFile, cp, mkdir, mkdtemp, readFile, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { findGitFolder } from '../../../../src/node/files/gitFolder.ts';
import { realClock } from '../../../../src/node/realClock.ts';
import { GitRepository, type Settled } from '../../../../src/producers/git/gitRepository.ts';
import { type DiffQuestion, workingDiff } from '../../../../src/producers/git/workingDiff.ts';
import { readGitState, readHeadLog } from '../../../../src/producers/git/gitState.ts';

const SECRET = 'a-secret-of-the-user';

let template: string;
let root: string;
let folder: string;
beforeAll(async () => {
  template = folder = await mkdtemp(join(tmpdir(), 'earshot-hostile-template-'));
  git('init', '-q', '-b', 'main');
  await writeFile(join(folder, 'a.txt'), 'one\n');
  git('add', '.');
  git('commit', '-q', '-m', 'first');
  await rm(own('hooks'), { recursive: true });
});
afterAll(() => rm(template, { recursive: true }));
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'earshot-hostile-git-'));
  folder = join(root, 'work');
  await cp(template, folder, { recursive: true, preserveTimestamps: true });
  await writeFile(join(root, 'secret'), `${SECRET}\n`);
});
afterEach(() => rm(root, { recursive: true }));

function git(...args: string[]): string {
  const settings = ['-c', 'user.name=u', '-c', 'user.email=u@example.org', '-c', 'protocol.file.allow=always'];
  return execFileSync('git', [...settings, ...args], {
    cwd: folder,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
}

const own = (...names: string[]) => join(folder, '.git', ...names);

async function state() {
  const found = await findGitFolder(folder);
  if (found === undefined) return undefined;
  return { ...(await readGitState(found)), log: await readHeadLog(found, 0) };
}

async function replace(name: string, by: (path: string) => unknown): Promise<void> {
  await rm(own(name), { recursive: true, force: true });
  await by(own(name));
}

const pipe = (path: string) => execFileSync('mkfifo', [path]);

describe.skipIf(process.platform === 'win32')('git files that are not what they should be', () => {
  const HEADS: readonly (readonly [string, (path: string) => unknown])[] = [
    ['a link to an endless device', (path) => symlink('/dev/zero', path)],
    ['a pipe', pipe],
    ['a link to a file outside the repository', (path) => symlink(join(root, 'secret'), path)],
    ['a reference to a file outside the repository', (path) => writeFile(path, 'ref: ../../secret\n')],
    ['a reference with an absolute path', (path) => writeFile(path, `ref: ${root}/secret\n`)],
    ['a text that is no reference', (path) => writeFile(path, `${SECRET}\n`)],
    ['a file of many gigabytes', (path) => writeFile(path, '').then(() => truncate(path, 3 * 1024 ** 3))],
    ['a folder', (path) => mkdir(path)],
  ];
  test.each(HEADS)('a HEAD that is %s is not read', async (_, make) => {
    await replace('HEAD', make);
    expect(JSON.stringify((await state()) ?? 'none')).not.toContain(SECRET);
    expect((await state())?.commit ?? '').toBe('');
  });

  test.runIf(process.platform === 'linux')('of an endless device in the place of HEAD nothing is read', async () => {
    const bytesRead = async () => Number(/^rchar: (\d+)$/m.exec(await readFile('/proc/self/io', 'utf8'))?.[1]);
    await replace('HEAD', (path) => symlink('/dev/zero', path));
    const before = await bytesRead();
    await state();
    expect((await bytesRead()) - before).toBeLessThan(16 * 1024 * 1024);
  });

  test.each(HEADS.filter(([name]) => !name.startsWith('a reference')))(
    'a reference of the repository that is %s is not read',
    async (_, make) => {
      await replace('refs/heads/main', make);
      expect(await state()).toMatchObject({ branch: 'main', commit: '' });
    },
  );

  test('a folder of references that is a link out of the repository is not followed', async () => {
    await mkdir(join(root, 'refs'));
    await writeFile(join(root, 'refs', 'main'), `${'a'.repeat(40)}\n`);
    await replace('refs/heads', (path) => symlink(join(root, 'refs'), path));
    expect(await state()).toMatchObject({ branch: 'main', commit: '' });
  });

  test.each(HEADS)('packed references that are %s are not read', async (_, make) => {
    git('pack-refs', '--all', '--prune');
    expect((await state())?.commit).toMatch(/^[0-9a-f]{40}$/);
    await replace('packed-refs', make);
    expect(await state()).toMatchObject({ branch: 'main', commit: '' });
  });

  test.each(HEADS)('a log of HEAD that is %s is not read', async (_, make) => {
    expect((await state())?.log).toEqual(['commit (initial): first']);
    await replace('logs/HEAD', make);
    expect(await state()).toMatchObject({ branch: 'main', log: [] });
  });

  test('lines of HEAD’s log that git did not write are not taken for its messages', async () => {
    await appendFile(own('logs/HEAD'), `x\t${SECRET}\n`);
    expect((await state())?.log).toEqual(['commit (initial): first']);
  });

  test.each([
    ['a pipe', pipe],
    ['an endless device', (path: string) => symlink('/dev/zero', path)],
    ['a file that names a folder which is no repository', (path: string) => writeFile(path, `gitdir: ${root}\n`)],
    ['a file without a name', (path: string) => writeFile(path, SECRET)],
  ])('with %s in the place of .git there is no repository', async (_, make) => {
    await rm(own(), { recursive: true });
    await make(own());
    expect(await findGitFolder(folder)).toBeUndefined();
  });

  test.each([
    ['a pipe', pipe],
    ['the name of a folder elsewhere', (path: string) => writeFile(path, `${root}\n`)],
    ['a link to an endless device', (path: string) => symlink('/dev/zero', path)],
  ])('a commondir that is %s leads nowhere', async (_, make) => {
    await mkdir(join(root, 'refs', 'heads'), { recursive: true });
    await writeFile(join(root, 'refs', 'heads', 'main'), `${'a'.repeat(40)}\n`);
    await make(own('commondir'));
    expect((await state())?.commit ?? '').not.toBe('a'.repeat(40));
  });

  test('a linked working tree, a submodule and a separate folder for git are still found', async () => {
    git('worktree', 'add', '-q', '-b', 'other', join(root, 'tree'));
    git('init', '-q', '-b', 'apart', '--separate-git-dir', join(root, 'apart.git'), join(root, 'apart'));
    git('submodule', '--quiet', 'add', '--force', folder, 'sub');
    const branches = [];
    for (const place of [join(root, 'tree'), join(root, 'apart'), join(folder, 'sub')]) {
      const found = await findGitFolder(place);
      const read = found && (await readGitState(found));
      branches.push([found?.tree, read?.branch, read?.commit.length]);
    }
    expect(branches).toEqual([
      [join(root, 'tree'), 'other', 40],
      [join(root, 'apart'), 'apart', 0],
      [join(folder, 'sub'), 'main', 40],
    ]);
  });
});

describe.skipIf(process.platform === 'win32')('git that is asked for the state of a hostile repository', () => {
  /** Everything that is reported of the operation. */
  async function operation(run: () => void | Promise<void>): Promise<Settled> {
    const found = await findGitFolder(folder);
    if (found === undefined) throw new Error('no repository');
    const reported = Promise.withResolvers<Settled>();
    const repository = await GitRepository.open({
      folder: found,
      clock: realClock,
      trusted: true,
      settled: async (settled) => reported.resolve(settled),
      report: reported.reject,
      broke: reported.reject,
    });
    try {
      await run();
      return await reported.promise;
    } finally {
      repository.dispose();
    }
  }

  const { signal } = new AbortController();
  const changes = (more: Partial<DiffQuestion> = {}) => workingDiff(folder, { staged: false, signal, ...more });

  /** Starts a merge of `a.txt` that ends in a conflict. */
  function conflict(): void {
    git('checkout', '-q', '-b', 'theirs');
    execFileSync('sh', ['-c', 'echo theirs > a.txt'], { cwd: folder });
    git('commit', '-q', '-am', 'theirs');
    git('checkout', '-q', 'main');
    execFileSync('sh', ['-c', 'echo ours > a.txt; echo b > b.txt'], { cwd: folder });
    git('add', '.');
    git('commit', '-q', '-am', 'ours');
  }

  test('no program of the repository runs: filter, hook, watcher, diff, pager, remote', async () => {
    conflict();
    const mark = (name: string) => `sh -c 'echo ${name} >> ${root}/ran; cat'`;
    const settled = await operation(async () => {
      try {
        git('merge', 'theirs');
      } catch {
        // The conflict.
      }
      await writeFile(join(folder, 'b.txt'), 'c\n');
      await writeFile(join(folder, '.gitattributes'), '* filter=x diff=x\n');
      const settings = {
        'filter.x.clean': mark('clean'),
        'filter.x.process': mark('process'),
        'core.fsmonitor': mark('fsmonitor'),
        'core.hooksPath': join(root, 'hooks'),
        'diff.external': mark('external'),
        'diff.x.command': mark('command'),
        'diff.x.textconv': mark('textconv'),
        'core.pager': mark('pager'),
        'pager.ls-files': mark('pager'),
        'pager.diff': mark('pager'),
      };
      await mkdir(join(root, 'hooks'));
      await writeFile(join(root, 'hooks', 'post-index-change'), `#!/bin/sh\necho hook >> ${root}/ran\n`, {
        mode: 0o755,
      });
      for (const [name, value] of Object.entries(settings)) git('config', name, value);
    });
    expect(settled).toMatchObject({ conflicts: ['a.txt'], what: 'began a merge, which is not finished' });
    expect(existsSync(join(root, 'ran')) && (await readFile(join(root, 'ran'), 'utf8'))).toBe(false);
  });

  test('no program of the repository runs for the changes that are attached to a message', async () => {
    await writeFile(join(folder, 'a.txt'), 'two\r\nthree\n');
    await writeFile(join(folder, '.gitattributes'), '* filter=x diff=x\n');
    const mark = (name: string) => `sh -c 'echo ${name} >> ${root}/ran; cat'`;
    for (const name of ['filter.x.clean', 'filter.x.process', 'core.fsmonitor', 'diff.external'])
      git('config', name, mark(name));
    for (const name of ['diff.x.command', 'diff.x.textconv', 'core.pager', 'pager.diff'])
      git('config', name, mark(name));
    git('config', 'core.worktree', root);
    expect(await changes()).toBe(
      [
        ...['diff --git a/a.txt b/a.txt', 'index 5626abf..5bd727c 100644', '--- a/a.txt', '+++ b/a.txt'],
        ...['@@ -1 +1,2 @@', '-one', '+two\r', '+three'],
      ].join('\n'),
    );
    expect(await changes({ staged: true })).toBe('');
    expect(existsSync(join(root, 'ran')) && (await readFile(join(root, 'ran'), 'utf8'))).toBe(false);
  });

  test('the changes of the index are those since HEAD, also before the first commit and in a linked working tree', async () => {
    await writeFile(join(folder, 'a.txt'), 'two\n');
    git('add', 'a.txt');
    expect(await changes()).toBe('');
    expect(await changes({ staged: true })).toContain('-one\n+two');
    git('worktree', 'add', '-q', '-b', 'other', join(root, 'tree'));
    await writeFile(join(root, 'tree', 'a.txt'), 'three\n');
    expect(await workingDiff(join(root, 'tree'), { staged: false, signal })).toContain('-one\n+three');
    git('init', '-q', join(root, 'new'));
    folder = join(root, 'new');
    await writeFile(join(folder, 'b.txt'), 'new\n');
    git('add', '.');
    expect(await changes({ staged: true })).toContain('+new');
  });

  test('changes of a repository that git cannot finish reading, or that are too long, are refused', async () => {
    await writeFile(join(folder, 'a.txt'), `${'x'.repeat(99)}\n`.repeat(200_000));
    await expect(changes()).rejects.toThrow('its output is too long');
    pipe(join(root, 'pipe'));
    git('config', 'include.path', join(root, 'pipe'));
    await writeFile(join(folder, 'a.txt'), 'two\n');
    expect(await changes()).toContain('-one\n+two');
    await replace('index', pipe);
    await expect(changes({ milliseconds: 300 })).rejects.toThrow('not ready after');
  });

  test('a missing object is not fetched by a program that the repository names', async () => {
    const first = git('rev-parse', 'HEAD').trim();
    execFileSync('sh', ['-c', 'mkdir d; echo two > d/b.txt'], { cwd: folder });
    git('add', '.');
    git('commit', '-q', '-m', 'second');
    const tree = git('rev-parse', 'HEAD:d').trim();
    const settled = await operation(async () => {
      git('reset', '-q', '--hard', first);
      await rm(own('objects', tree.slice(0, 2), tree.slice(2)));
      git('config', 'core.repositoryFormatVersion', '1');
      git('config', 'extensions.partialClone', 'origin');
      git('config', 'remote.origin.url', `ext::sh -c echo% fetch% >>% ${root}/ran`);
      git('config', 'remote.origin.promisor', 'true');
      git('config', 'protocol.ext.allow', 'always');
    });
    expect(settled.files).toBeUndefined();
    expect(existsSync(join(root, 'ran'))).toBe(false);
  });

  test('a pipe that the configuration includes ends git’s start after its time limit', async () => {
    conflict();
    pipe(join(root, 'pipe'));
    const settled = await operation(() => {
      try {
        git('merge', 'theirs');
      } catch {
        // The conflict.
      }
      git('config', 'include.path', join(root, 'pipe'));
    });
    expect(settled).toMatchObject({ conflicts: [], what: 'began a merge, which is not finished' });
  }, 60_000);

  test('git’s configuration decides neither the working tree nor the paths of conflicts', async () => {
    conflict();
    const settled = await operation(() => {
      try {
        git('merge', 'theirs');
      } catch {
        // The conflict.
      }
      git('config', 'core.worktree', root);
    });
    expect(settled.conflicts).toEqual(['a.txt']);
  });
});

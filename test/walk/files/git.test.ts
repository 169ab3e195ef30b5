// A git operation on many files gives one notification that names the read files: switch, stash, merge conflict,
// rebase, pull.
import { execFileSync } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { devNull, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { type ConversationLog } from '../../../src/core/conversation/log.ts';
import { createChatModel } from '../../../src/models/chat/chatModel.ts';
import { createFilesProducer } from '../../../src/producers/files/files.ts';
import { createGitProducer } from '../../../src/producers/git/git.ts';
import { GitGate } from '../../../src/producers/git/gitGate.ts';
import { type Notification } from '../../../src/protocol/notification.ts';
import { type ScriptedServer, startScriptedServer } from '../../support/models/scriptedServer.ts';
import { type Headless, startHeadlessIn } from '../../support/walk/headless.ts';

let headless: Headless;
let server: ScriptedServer;
let log: ConversationLog;

const environment = {
  ...process.env,
  GIT_CONFIG_GLOBAL: devNull,
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_NAME: 'A',
  GIT_AUTHOR_EMAIL: 'a@example.com',
  GIT_COMMITTER_NAME: 'A',
  GIT_COMMITTER_EMAIL: 'a@example.com',
};

function gitIn(folder: string, ...args: readonly string[]): void {
  execFileSync('git', ['-C', folder, ...args], { env: environment, stdio: 'pipe' });
}

function git(...args: readonly string[]): void {
  gitIn(headless.folder, ...args);
}

/**
 * The repository of every test, made once. The model reads `a` and `b` but not `c`; the branch `other` has a different
 * `a` and no `b`.
 */
let template: string;

beforeAll(async () => {
  template = await mkdtemp(join(tmpdir(), 'earshot-git-'));
  const run = (...args: readonly string[]) => gitIn(template, ...args);
  const put = (name: string, text: string) => writeFile(join(template, 'src', `${name}.txt`), text);
  await mkdir(join(template, 'src'));
  run('init', '--quiet', '--initial-branch=main');
  for (const name of ['a', 'b', 'c']) await put(name, `${name} on main\n`);
  run('add', '-A');
  run('commit', '-qm', 'one');
  run('switch', '-qc', 'other');
  await put('a', 'a on other\n');
  run('rm', '-q', 'src/b.txt');
  await put('c', 'c on other\n');
  run('commit', '-qam', 'two');
  run('switch', '-qc', 'topic', 'main');
  for (const number of [1, 2, 3]) {
    await put('d', `d ${number}\n`);
    run('add', '-A');
    run('commit', '-qm', `topic ${number}`);
  }
  run('switch', '-q', 'main');
});
afterAll(() => rm(template, { recursive: true }));

beforeEach(async () => {
  server = await startScriptedServer(
    {
      calls: ['a', 'b'].map((name) => ({ id: name, name: 'read_file', arguments: { path: `src/${name}.txt` } })),
    },
    { text: ['Read.'] },
    ...Array.from({ length: 4 }, () => ({ text: ['Heard.'] })),
  );
  const root = await mkdtemp(join(tmpdir(), 'earshot-walk-'));
  // Must happen before the producer starts, because it looks for repositories only then.
  await cp(template, join(root, 'workspace'), { recursive: true });
  headless = await startHeadlessIn(root, {
    model: createChatModel({ baseUrl: server.baseUrl, model: 'scripted', apiKey: async () => undefined }),
    producers: (deps) => {
      const gate = new GitGate();
      return [createFilesProducer({ ...deps, gate }), createGitProducer({ ...deps, gate })];
    },
  });
  // The copied files have modification times that differ from those in the index.
  git('update-index', '-q', '--refresh');
  const opened = await headless.earshot.create();
  if (!opened.ok) throw new Error(opened.failure.message);
  ({ log } = opened.value);
  await go();
});

afterEach(async () => {
  await headless.end();
  await server.stop();
  expect(headless.errors).toEqual([]);
});

function write(name: string, text: string): Promise<void> {
  return writeFile(join(headless.folder, 'src', `${name}.txt`), text);
}

async function go(): Promise<void> {
  await headless.earshot.send(log.id, 'Go on.');
  await headless.earshot.settled(log.id);
}

function nextQueued(fits: (notification: Notification) => boolean = () => true): Promise<Notification> {
  return new Promise((resolve) => {
    const listening = log.onDidAppend(({ event }) => {
      if (event.type !== 'notification_queued' || !fits(event.notification)) return;
      listening.dispose();
      resolve(event.notification);
    });
  });
}

function nextWithdrawn(): Promise<void> {
  return new Promise((resolve) => {
    const listening = log.onDidAppend(({ event }) => {
      if (event.type !== 'notification_withdrawn') return;
      listening.dispose();
      resolve();
    });
  });
}

/** Changes a file and waits for its notification; everything before it has arrived by then. */
async function pendingAfterAnEcho(): Promise<readonly string[]> {
  const echo = nextQueued(({ subject }) => subject === 'file:src/a.txt' || subject === 'file:src/b.txt');
  await write('b', 'echo\n');
  await echo;
  return log.state.pending.notifications
    .filter(({ message }) => !message.includes('+echo'))
    .map(({ message }) => message.replace(/\b[0-9a-f]{7}\b/g, 'abcdef0'));
}

test('switching branch gives one notification, and none for each changed file', async () => {
  const queued = nextQueued();
  git('switch', '-q', 'other');
  const { kind, level, message, data } = await queued;
  expect([kind.source, kind.name, level]).toEqual(['git', 'head_changed', 'warning']);
  expect(message.replace(/\b[0-9a-f]{7}\b/g, 'abcdef0')).toBe(
    'Git switched from main to other. 3 files differ. Changed since you read them; read again before use: src/a.txt, src/b.txt (gone).',
  );
  expect(data?.['files']).toMatchObject([
    { path: 'src/a.txt', complete: false },
    { path: 'src/b.txt', hash: 'gone', complete: false },
  ]);
  expect(await pendingAfterAnEcho()).toHaveLength(1);
});

test('switching branch and back before delivery withdraws the notification', async () => {
  const queued = nextQueued();
  git('switch', '-q', 'other');
  await queued;
  const withdrawn = nextWithdrawn();
  git('switch', '-q', 'main');
  await withdrawn;
  expect(await pendingAfterAnEcho()).toEqual([]);
});

test('switching branch and back with a file changed before reports only the file', async () => {
  let queued = nextQueued();
  await write('a', 'a otherwise\n');
  await queued;
  git('commit', '-qam', 'three');
  // Without this the commit and the switch would be one operation.
  expect(await pendingAfterAnEcho()).toHaveLength(1);
  const settled = nextWithdrawn();
  await write('b', 'b on main\n');
  await settled;
  queued = nextQueued(({ kind }) => kind.source === 'git');
  git('switch', '-q', 'other');
  await queued;
  queued = nextQueued(({ kind }) => kind.source === 'file');
  git('switch', '-q', 'main');
  expect((await queued).message).toMatch(/^src\/a.txt changed since you read it, during a git operation:/);
  expect((await pendingAfterAnEcho()).map((message) => message.split(' ')[0])).toEqual(['src/a.txt']);
});

test('switching back after delivery gives one notification that names the files that are again as read', async () => {
  let queued = nextQueued();
  git('switch', '-q', 'other');
  await queued;
  await go();
  queued = nextQueued();
  git('switch', '-q', 'main');
  expect((await queued).message).toMatch(/Again as you read it: src\/a.txt, src\/b.txt\.$/);
  await go();
  expect(log.state.pending.isEmpty).toBe(true);
});

test('a commit changes no file and gives no notification', async () => {
  await write('c', 'c again\n');
  git('commit', '-qam', 'three');
  expect(await pendingAfterAnEcho()).toEqual([]);
});

test('a stash that removes a delivered change gives one notification that names the file', async () => {
  let queued = nextQueued();
  await write('a', 'a changed\n');
  await queued;
  await go();
  queued = nextQueued(({ kind }) => kind.source === 'git');
  git('stash', '-q');
  // The difference is against the last version shown to the model.
  expect((await queued).message).toBe(
    'Git stashed changes away. Changed since you read them; read again before use: src/a.txt.',
  );
  expect(await pendingAfterAnEcho()).toHaveLength(1);
});

test('a stash that removes an undelivered change is not reported', async () => {
  const queued = nextQueued();
  await write('a', 'a changed\n');
  await queued;
  const withdrawn = nextWithdrawn();
  git('stash', '-q');
  // The pending notification is withdrawn because the file is again as it was read.
  await withdrawn;
  expect(await pendingAfterAnEcho()).toEqual([]);
});

test('a stash popped and reverted by hand before delivery is not reported', async () => {
  let queued = nextQueued();
  await write('a', 'a changed\n');
  await queued;
  const withdrawn = nextWithdrawn();
  git('stash', '-q');
  await withdrawn;
  queued = nextQueued(({ kind }) => kind.source === 'git');
  git('stash', 'pop', '-q');
  expect((await queued).message).toMatch(/^Git took stashed changes out\. .*before use: src\/a.txt\./);
  await write('a', 'a on main\n');
  await go();
  expect(server.requests.at(-1)?.body).not.toContain('stash');
  // A late report of the watcher is withdrawn.
  await expect.poll(() => log.state.pending.isEmpty).toBe(true);
});

test('a file reverted by hand before delivery is not named', async () => {
  const queued = nextQueued();
  git('switch', '-q', 'other');
  await queued;
  await write('a', 'a on main\n');
  await go();
  expect(server.requests.at(-1)?.body).toMatch(
    /Git switched from main to other\. .* before use: src\/b.txt \(gone\)\./,
  );
  expect(log.state.pending.isEmpty).toBe(true);
  git('checkout', '-q', 'src/a.txt');
  git('switch', '-q', 'main');
});

test('a merge that stops with conflicts names them', async () => {
  await write('a', 'a otherwise\n');
  git('commit', '-qam', 'three');
  const queued = nextQueued(({ kind }) => kind.source === 'git');
  expect(() => git('merge', '-q', 'other')).toThrow();
  const { message, level } = await queued;
  expect(level).toBe('error');
  expect(message).toMatch(
    /^Git began a merge, which is not finished.* In conflict: src\/a.txt\. Changed since you read them; read again before use: src\/a.txt, src\/b.txt \(gone\)/,
  );
});

test('a rebase of several commits gives one notification, and so does a pull', async () => {
  let queued = nextQueued();
  git('switch', '-q', 'topic');
  await queued;
  await go();
  queued = nextQueued(({ message }) => message.includes('rebased'));
  git('rebase', '-q', 'other');
  expect((await queued).message).toMatch(/^Git rebased topic .*before use: src\/a.txt, src\/b.txt \(gone\)/);
  expect(await pendingAfterAnEcho()).toHaveLength(1);
  queued = nextQueued(({ message }) => message.includes('to main'));
  git('checkout', '-qf', 'main');
  await queued;
  await go();
  queued = nextQueued(({ message }) => message.includes('pulled'));
  git('pull', '-q', '--ff-only', '.', 'other');
  expect((await queued).message).toMatch(/^Git pulled into main/);
});

test('reopening after an undelivered switch and further git operations reports the current state', async () => {
  let queued = nextQueued();
  git('switch', '-q', 'other');
  await queued;
  const reopen = async () => {
    const opened = await headless.earshot.open(log.id);
    if (!opened.ok) throw new Error(opened.failure.message);
    ({ log } = opened.value);
  };
  await headless.earshot.close(log.id);
  git('switch', '-q', 'topic');
  headless = await headless.restart();
  await reopen();
  await go();
  expect(server.requests.at(-1)?.body).toMatch(/Git switched from main to topic\. /);
  expect(server.requests.at(-1)?.body).not.toContain('main to other');
  queued = nextQueued(({ kind }) => kind.source === 'git');
  git('switch', '-q', 'other');
  await queued;
  await headless.earshot.close(log.id);
  git('switch', '-q', 'topic');
  headless = await headless.restart();
  await reopen();
  await go();
  expect(server.requests.at(-1)?.body).not.toContain('topic to other');
});

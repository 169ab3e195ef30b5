// Git reports are compared again at the delivery point: only what is true then is reported, and nothing is lost.
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Clock } from '../../../../src/base/clock.ts';
import { type Disposable } from '../../../../src/base/disposable.ts';
import { failed, succeeded } from '../../../../src/base/errors.ts';
import { type Producer, type Publisher, type SeenFiles } from '../../../../src/core/ports/ports.ts';
import { type DeliveryPoint } from '../../../../src/core/ports/producers.ts';
import { createGitProducer } from '../../../../src/producers/git/git.ts';
import { GitGate } from '../../../../src/producers/git/gitGate.ts';
import { type RepositoryDeps, type Settled } from '../../../../src/producers/git/gitRepository.ts';
import { createManualClock } from '../../../support/manualClock.ts';
import { createTestHost } from '../../../support/notify/producerHost.ts';
import { recordingLogger } from '../../../support/recordingLogger.ts';
import { createFolderWorkspace } from '../../../support/workspace/folderWorkspace.ts';

const POINT = { conversation: 'c' } as DeliveryPoint;
const before = { branch: 'main', commit: 'aaaaaaaa', stash: '', underWay: undefined, logLength: 0, locked: false };
const switched: Settled = {
  before,
  after: { ...before, branch: 'other', commit: 'bbbbbbbb' },
  what: 'switched from main to other',
  files: 2,
  conflicts: [],
  since: 0,
};
const stashed: Settled = { ...switched, after: before, what: 'took stashed changes out', files: undefined };

/** The files on disk by path; the hash of bytes is their text. */
let disk: Map<string, string>;
/** Paths with unsaved changes. */
let unsaved: Set<string>;
/** What the conversation has seen, and what was announced since. */
let views: Map<string, { hash: string; announced?: string }>;
let published: string[];
let reading: () => Promise<void>;
let repository: RepositoryDeps;
let producer: Producer;
let watching: Disposable;
let errors: string[];

beforeEach(async () => {
  disk = new Map([
    ['a.ts', 'a on main'],
    ['b.ts', 'b on main'],
  ]);
  unsaved = new Set();
  views = new Map([...disk].map(([path, hash]) => [path, { hash }]));
  published = [];
  errors = [];
  reading = async () => undefined;
  const workspace = Object.assign(createFolderWorkspace('/shop'), {
    resolve: async (path: string) => succeeded({ path, absolute: `/shop/${path}` }),
    read: async ({ path }: { path: string }) => {
      await reading();
      const text = disk.get(path);
      if (text === undefined) return failed('not_found', `${path} does not exist.`);
      return succeeded({ bytes: Buffer.from(text), unsaved: unsaved.has(path) });
    },
  });
  const snapshots = {
    hash: (bytes: Uint8Array) => Buffer.from(bytes).toString(),
    put: async (bytes: Uint8Array) => Buffer.from(bytes).toString(),
    get: async () => undefined,
  };
  const opened = Promise.withResolvers<RepositoryDeps>();
  producer = createGitProducer({
    clock: hastyClock(),
    logger: recordingLogger(errors),
    snapshots,
    workspace,
    gate: new GitGate(),
    find: async () => ({ own: '/shop/.git', shared: '/shop/.git', tree: '/shop' }),
    open: async (deps) => {
      opened.resolve(deps);
      return { passed: async () => 'free', dispose: () => undefined };
    },
  });
  const publisher: Publisher = {
    publish: async ({ message, data }) => {
      published.push(message);
      // As the log does: the files of a pending notification count as announced.
      for (const { path, hash } of (data?.['files'] ?? []) as { path: string; hash: string }[]) announce(path, hash);
    },
    withdraw: async () => false,
  };
  const seen: SeenFiles = {
    all: () => [...views.keys()].flatMap((path) => seen.get(path) ?? []),
    get: (path) => {
      const view = views.get(path);
      return view && { path, by: [{ conversation: 'c', ...view }] };
    },
    onDidChange: () => ({ dispose: () => undefined }),
  };
  const host = createTestHost();
  host.conversations = ['c'];
  watching = producer.start(publisher, seen, host);
  repository = await opened.promise;
});

afterEach(() => {
  watching.dispose();
  expect(errors).toEqual([]);
});

/** A clock on which every wait ends at once. */
function hastyClock(): Clock {
  const clock = createManualClock();
  return {
    now: () => clock.now(),
    monotonic: () => clock.monotonic(),
    after: (milliseconds, run) => {
      const timer = clock.after(milliseconds, run);
      queueMicrotask(() => clock.advance(milliseconds));
      return timer;
    },
  };
}

function announce(path: string, announced: string): void {
  const { hash } = views.get(path) ?? { hash: '' };
  views.set(path, { hash, announced });
}

async function sample() {
  return (await producer.sample?.(POINT)) ?? [];
}

/** The revised notification, or undefined if it stays unchanged. */
async function revised(): Promise<string | undefined> {
  const [git] = (await sample()).filter(({ kind }) => kind.source === 'git');
  if (git === undefined) return undefined;
  expect(git.replaces).toBe(published.at(-1));
  return git.draft?.message ?? 'withdrawn';
}

/** Git changes these files. */
async function gitChanges(settled: Settled, ...paths: string[]): Promise<void> {
  for (const path of paths) disk.set(path, `${path} by git`);
  await repository.settled(settled);
}

test('a report that is still true is delivered unchanged, and compared once', async () => {
  await gitChanges(switched, 'a.ts', 'b.ts');
  expect(published).toEqual([expect.stringMatching(/read again before use: a.ts, b.ts\.$/)]);
  expect(await revised()).toBeUndefined();
  disk.set('a.ts', 'a on main');
  expect(await sample()).toEqual([]);
});

test('a file that is again in its known state is not named', async () => {
  await gitChanges(switched, 'a.ts', 'b.ts');
  disk.set('a.ts', 'a on main');
  const samples = await sample();
  expect(samples.map(({ kind, subject, draft }) => [kind.name, subject, draft?.message])).toEqual([
    ['head_changed', 'git:/shop', expect.stringMatching(/read again before use: b.ts\.$/)],
    ['changed', 'file:a.ts', undefined],
  ]);
});

test('a file that was reported as changed before is reported as again as it was read', async () => {
  announce('a.ts', 'a before that');
  await gitChanges(switched, 'a.ts');
  disk.set('a.ts', 'a on main');
  expect(await revised()).toMatch(/Again as you read it: a.ts\.$/);
});

test('a file with unsaved changes is still reported as changed by git', async () => {
  await gitChanges(switched, 'a.ts');
  unsaved.add('a.ts');
  expect(await revised()).toBeUndefined();
  disk.set('b.ts', 'b by somebody');
  expect(await revised()).toBeUndefined();
});

test('a file that changed again is named, unless another notification reports it', async () => {
  await gitChanges(switched, 'a.ts', 'b.ts');
  disk.set('a.ts', 'a by the user');
  disk.set('b.ts', 'b by the user');
  announce('b.ts', 'b by the user');
  const [git] = await sample();
  expect(git?.draft?.message).toMatch(/read again before use: a.ts\.$/);
  expect(git?.draft?.data?.['files']).toEqual([{ path: 'a.ts', hash: 'a by the user', complete: false }]);
});

test('if other notifications report all its files, it names none', async () => {
  await gitChanges(switched, 'a.ts');
  disk.set('a.ts', 'a by the user');
  announce('a.ts', 'a by the user');
  expect(await revised()).toMatch(/^Git switched from main to other\. 2 files differ\.$/);
});

test('a stash that was undone is withdrawn; one without seen files is not reported', async () => {
  await gitChanges(stashed);
  expect(published).toEqual([]);
  await gitChanges(stashed, 'a.ts');
  expect(published).toHaveLength(1);
  disk.set('a.ts', 'a on main');
  expect(await revised()).toBe('withdrawn');
});

test('a git operation that ends while files are read is not replaced by the one before it', async () => {
  await gitChanges(switched, 'a.ts');
  disk.set('a.ts', 'a on main');
  let once = true;
  reading = async () => {
    if (!once) return;
    once = false;
    await gitChanges({ ...switched, what: 'switched from main to third' }, 'b.ts');
  };
  expect(await sample()).toEqual([]);
  // The new operation is compared at the next delivery point.
  disk.set('b.ts', 'b on main');
  expect(await revised()).toMatch(/^Git switched from main to third\. .*differ\. Again as you read it: a.ts\.$/);
});

test('a file that is still being written after the git operation is reported in its final state', async () => {
  const read = ['half', 'half and the rest', 'half and the rest'];
  reading = async () => {
    disk.set('a.ts', read.shift() ?? 'half and the rest');
  };
  await repository.settled(switched);
  expect(views.get('a.ts')?.announced).toBe('half and the rest');
});

test('a file that differs at every read is not in the git report', async () => {
  let number = 0;
  reading = async () => {
    disk.set('a.ts', `line ${number++}`);
  };
  disk.set('b.ts', 'b by git');
  await repository.settled(switched);
  expect(published).toEqual([expect.not.stringContaining('a.ts')]);
  expect(published).toEqual([expect.stringContaining('b.ts')]);
});

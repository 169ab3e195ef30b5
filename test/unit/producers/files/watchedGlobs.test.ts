// Files that match a watched glob and were not read: what is reported to whom, and the effect of git, the
// conversation's calls and reads.
import { afterEach, beforeEach, expect, test } from 'vitest';
import { failed, succeeded } from '../../../../src/base/errors.ts';
import { type ActiveCall } from '../../../../src/core/ports/producers.ts';
import { type FileTouch } from '../../../../src/core/ports/sources.ts';
import { Authorship } from '../../../../src/producers/files/authorship.ts';
import { WatchedGlobs } from '../../../../src/producers/files/watchedGlobs.ts';
import { GitGate } from '../../../../src/producers/git/gitGate.ts';
import { createManualClock, type ManualClock } from '../../../support/manualClock.ts';
import { createMemoryPublisher, type MemoryPublisher } from '../../../support/notify/memoryPublisher.ts';
import { createTestHost, type TestHost } from '../../../support/notify/producerHost.ts';
import { createFolderWorkspace } from '../../../support/workspace/folderWorkspace.ts';

const PATH = 'dist/app.js';
let disk: Map<string, string>;
let clock: ManualClock;
let gate: GitGate;
let host: TestHost;
let publisher: MemoryPublisher;
let authorship: Authorship;
let globs: WatchedGlobs;
/** Each entry is a conversation and a path that it has read. */
let seen: Set<string>;
let errors: unknown[];

beforeEach(() => {
  disk = new Map();
  seen = new Set();
  errors = [];
  clock = createManualClock();
  gate = new GitGate();
  host = createTestHost();
  host.conversations = ['a', 'b'];
  host.globs = ['dist/**'];
  publisher = createMemoryPublisher(() => host.conversations);
  const snapshots = { hash: (bytes: Uint8Array) => Buffer.from(bytes).toString() };
  authorship = new Authorship({ clock, live: host.live, snapshots });
  const workspace = Object.assign(createFolderWorkspace('/shop'), {
    resolve: async (path: string) => succeeded({ path, absolute: `/shop/${path}` }),
    read: async ({ path }: { path: string }) => {
      const text = disk.get(path);
      if (text === undefined) return failed('not_found', `${path} does not exist.`);
      return succeeded({ bytes: Buffer.from(text), unsaved: false });
    },
  });
  globs = new WatchedGlobs({
    clock,
    workspace,
    snapshots: { hash: (bytes: Uint8Array) => Buffer.from(bytes).toString() } as never,
    publisher,
    authorship,
    exclusions: { excludes: async () => false, touched: () => undefined },
    watched: { addFolder: () => undefined, removeFolder: () => undefined } as never,
    live: host.live,
    hasEditor: true,
    gate,
    isSeen: (path, conversation) => seen.has(`${conversation} ${path}`),
    report: (error) => errors.push(error),
  });
});
afterEach(() => {
  globs.dispose();
  authorship.dispose();
  expect([...errors, ...host.broken]).toEqual([]);
});

/** Writes or deletes the file, and lets the change be compared. */
async function becomes(text: string | undefined, path = PATH): Promise<void> {
  const type: FileTouch['type'] = text === undefined ? 'deleted' : disk.has(path) ? 'changed' : 'created';
  if (text === undefined) disk.delete(path);
  else disk.set(path, text);
  globs.touched(path, type);
  await untilCompared();
}

async function untilCompared(): Promise<void> {
  clock.advance(300);
  for (let turn = 0; turn < 10; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

const delivered = (conversation = 'a') =>
  publisher
    .deliver(conversation)
    .map((one) => one.replace(', which you watch for,', '').replace(', outside the editor', ''));

test('a build that deletes and rewrites a file is a change, delivered or not', async () => {
  await becomes('one');
  expect(delivered()).toEqual(['file.created dist/app.js was created.']);
  await becomes(undefined);
  await becomes('two');
  expect(delivered()).toEqual(['file.changed dist/app.js changed.']);
  await becomes(undefined);
  await becomes('two');
  expect(delivered()).toEqual([]);
  await becomes(undefined);
  expect(delivered()).toEqual(['file.deleted dist/app.js was deleted.']);
  await becomes('two');
  expect(delivered()).toEqual(['file.created dist/app.js was created.']);
});

test('creating and deleting a file before delivery reports nothing; after delivery the deletion is reported', async () => {
  await becomes('one');
  expect(delivered('a')).toHaveLength(1);
  await becomes(undefined);
  expect([delivered('a'), delivered('b')]).toEqual([['file.deleted dist/app.js was deleted.'], []]);
});

test('only conversations that watch the file and have not read it get the report', async () => {
  await becomes('one');
  delivered('a');
  delivered('b');
  seen.add(`a ${PATH}`);
  await becomes('two');
  expect([delivered('a'), delivered('b')]).toEqual([[], ['file.changed dist/app.js changed.']]);
});

test('changes by git are not reported again; changes by others at the same time are', async () => {
  await becomes('one');
  await becomes('mine', 'dist/mine.js');
  delivered();
  gate.addOperation(clock.now(), clock.now(), new Set([PATH]));
  await becomes('two');
  await becomes('mine too', 'dist/mine.js');
  expect(delivered()).toEqual(['file.changed dist/mine.js changed.']);
  clock.advance(120_000);
  await becomes('three');
  expect(delivered()).toEqual(['file.changed dist/app.js changed.']);
});

test('a file that a call of the conversation writes is compared after the call, and not reported to that conversation', async () => {
  const call: ActiveCall = {
    conversation: 'a',
    tool: 'write_file',
    paths: [PATH],
    started: clock.now(),
    made: new Map(),
  };
  host.calls = [call];
  await becomes('one');
  expect([delivered('a'), delivered('b')]).toEqual([[], []]);
  host.titles.set('a', 'Tea');
  host.calls = [{ ...call, ended: clock.now(), made: new Map([[PATH, 'one']]) }];
  await untilCompared();
  expect(delivered('a')).toEqual([]);
  expect(delivered('b')).toEqual([expect.stringMatching(/^file.created dist\/app.js was created.*Tea/)]);
});

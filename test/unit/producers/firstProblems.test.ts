// The first report of a server on a file that was read: the starting state if nothing changed since the read, otherwise
// reported, with a note if the problems may be older.
import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Disposable } from '../../../src/base/disposable.ts';
import { Emitter } from '../../../src/base/emitter.ts';
import { succeeded } from '../../../src/base/errors.ts';
import { type Producer } from '../../../src/core/ports/ports.ts';
import { type Problem, type ProblemsChange, type ReportedProblems } from '../../../src/core/ports/problems.ts';
import { type FilePath } from '../../../src/core/ports/workspace.ts';
import { createDiagnosticsProducer } from '../../../src/producers/diagnostics/diagnostics.ts';
import { createManualClock, type ManualClock } from '../../support/manualClock.ts';
import { createMemoryPublisher, type MemoryPublisher } from '../../support/notify/memoryPublisher.ts';
import { createTestHost } from '../../support/notify/producerHost.ts';
import { recordingLogger } from '../../support/recordingLogger.ts';
import { createFolderWorkspace } from '../../support/workspace/folderWorkspace.ts';

const USER = 'src/user.ts';
const SHAPE = 'src/shape.ts';
const fileOf = (path: string): FilePath => ({ path, absolute: `/shop/${path}` });
const problem = (message: string): Problem => ({ severity: 'error', message, line: 1, column: 1 });

let clock: ManualClock;
let found: Map<string, readonly Problem[]>;
/** Files that are open, so that a server has checked them. */
let open: Set<string>;
let seen: string[];
let changes: Emitter<ProblemsChange>;
let read: Emitter<void>;
let publisher: MemoryPublisher;
let producer: Producer & ReportedProblems;
let watching: Disposable;
let errors: string[];

beforeEach(() => {
  clock = createManualClock();
  found = new Map();
  open = new Set();
  seen = [];
  errors = [];
  const failed = (failure: unknown) => errors.push(String(failure));
  changes = new Emitter(failed);
  read = new Emitter(failed);
  const host = createTestHost();
  host.conversations = ['c'];
  publisher = createMemoryPublisher(() => host.conversations);
  producer = createDiagnosticsProducer({
    clock,
    logger: recordingLogger(errors),
    workspace: Object.assign(createFolderWorkspace('/shop'), {
      resolve: async (path: string) => succeeded(fileOf(path)),
      mayShow: async () => true,
    }),
    problems: {
      all: () => [],
      of: (file) => ({ file, open: open.has(file.path), problems: found.get(file.path) ?? [] }),
      onDidChange: changes.event,
      opened: () => [],
      keepOpen: () => undefined,
    },
  });
  const by = [{ conversation: 'c', hash: 'h' }];
  watching = producer.start(
    publisher,
    {
      all: () => seen.map((path) => ({ path, by })),
      get: (path) => (seen.includes(path) ? { path, by } : undefined),
      onDidChange: read.event,
    },
    host,
  );
});

afterEach(() => {
  watching.dispose();
  expect(errors).toEqual([]);
});

async function pass(milliseconds: number): Promise<void> {
  clock.advance(milliseconds);
  for (let turn = 0; turn < 10; turn += 1) await setImmediate();
}

/** The conversation reads the file, and its document is opened for that. */
async function reads(path: string): Promise<void> {
  seen.push(path);
  read.fire();
  await pass(100);
  changes.fire({ type: 'opened', files: [fileOf(path)] });
}

const changesOnDisk = (path: string, agoMilliseconds?: number) =>
  changes.fire({ type: 'changed', files: [fileOf(path)], ...(agoMilliseconds !== undefined && { agoMilliseconds }) });
const isEdited = (path: string) => changes.fire({ type: 'edited', files: [fileOf(path)] });

function report(path: string, ...messages: string[]): void {
  open.add(path);
  found.set(path, messages.map(problem));
  changes.fire({ type: 'reported', files: [fileOf(path)] });
}

const OLDER = `diagnostics.introduced ${USER} has 1 problem (first reported after ${SHAPE} changed, so they may be older):`;

test('the first report is the starting state, no matter how late, if nothing has changed since the read', async () => {
  await reads(USER);
  await pass(60_000);
  report(USER, 'Old.');
  await pass(2000);
  report(USER, 'Old.', 'Also old, from the second step.');
  await pass(2000);
  expect(publisher.pending('c')).toEqual([]);
  await pass(60_000);
  report(USER, 'Old.', 'Also old, from the second step.', 'New.');
  await pass(2000);
  expect(publisher.pending('c')).toEqual([`diagnostics.introduced ${USER} has 1 new problem, 3 in all:`]);
});

test.each([0, 1000, 60_000])(
  'if another file changes on disk before the first report, which takes %d ms, its problems are reported as possibly older',
  async (slow) => {
    await reads(USER);
    await pass(500);
    changesOnDisk(SHAPE);
    await pass(slow);
    report(USER, 'Broken.');
    await pass(2000);
    expect(publisher.pending('c')).toEqual([OLDER]);
  },
);

test('if another file is edited in the editor before the first report, its problems are reported as possibly older', async () => {
  await reads(USER);
  isEdited(SHAPE);
  await pass(500);
  report(USER, 'Broken.');
  await pass(2000);
  expect(publisher.pending('c')).toEqual([OLDER]);
});

test('reading another file between a change and the next report does not make the problem part of the starting state', async () => {
  await reads(USER);
  isEdited(SHAPE);
  report(USER, 'Broken.');
  await reads('src/other.ts');
  await pass(2000);
  expect(publisher.pending('c')).toEqual([OLDER]);
});

test('after a change soon after the first report only later problems are reported, without doubt once every server had time', async () => {
  await reads(USER);
  report(USER, 'Old.');
  await pass(500);
  changesOnDisk('README.md');
  await pass(2500);
  changesOnDisk(SHAPE);
  report(USER, 'Old.', 'Broken.');
  await pass(2000);
  expect(publisher.pending('c')).toEqual([`diagnostics.introduced ${USER} has 1 new problem, 2 in all:`]);
});

test('the first report of a server that is quicker than the editor’s watcher is reported', async () => {
  await reads(USER);
  await pass(500);
  report(USER, 'Broken.');
  await pass(600);
  changesOnDisk(SHAPE);
  await pass(2000);
  expect(publisher.pending('c')).toEqual([OLDER]);
});

test('a change before the read that the watcher reports later leads to no report', async () => {
  await reads(USER);
  await pass(500);
  changesOnDisk(SHAPE, 2000);
  await pass(100);
  report(USER, 'Old.');
  await pass(2000);
  changesOnDisk(SHAPE, 5000);
  await pass(2000);
  expect(publisher.pending('c')).toEqual([]);
});

test('the watcher’s echo of a save and a change of an unrelated file lead to no report', async () => {
  await reads(USER);
  isEdited(SHAPE);
  await pass(100);
  await reads('src/other.ts');
  report('src/other.ts', 'Old.');
  await pass(400);
  changesOnDisk(SHAPE);
  changesOnDisk('notes.md');
  await pass(2000);
  expect(publisher.pending('c')).toEqual([]);
});

test('a problem that is resolved before delivery is withdrawn and not reported', async () => {
  await reads(USER);
  changesOnDisk(SHAPE);
  report(USER, 'Broken.');
  await pass(2000);
  expect(publisher.pending('c')).toEqual([OLDER]);
  changesOnDisk(SHAPE);
  report(USER);
  await pass(2000);
  expect(publisher.pending('c')).toEqual([]);
});

test('a first report during an edit of another file is in the result of the edit as possibly older, and not repeated', async () => {
  await reads(USER);
  const edit = producer.beginEdit('c');
  isEdited(SHAPE);
  await pass(50);
  report(USER, 'Broken.');
  const settled = edit.settle([fileOf(SHAPE)], new AbortController().signal);
  for (let step = 0; step < 30; step += 1) await pass(100);
  expect(await settled).toContain(
    `${USER} has 1 problem (first reported after ${SHAPE} changed, so they may be older):`,
  );
  edit.dispose();
  report(USER, 'Broken.');
  await pass(5000);
  expect(publisher.pending('c')).toEqual([]);
});

test('a file without any report does not count as free of problems: a late first report after a change is possibly older', async () => {
  await reads(USER);
  await pass(20_000);
  changesOnDisk(SHAPE);
  await pass(20_000);
  report(USER, 'Broken.');
  await pass(2000);
  expect(publisher.pending('c')).toEqual([OLDER]);
});

// A file that is being written is reported as two equal reads found it; a file that keeps changing blocks nothing.
import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Disposable } from '../../../src/base/disposable.ts';
import { Emitter } from '../../../src/base/emitter.ts';
import { failed, succeeded } from '../../../src/base/errors.ts';
import { type Producer, type SeenFiles } from '../../../src/core/ports/ports.ts';
import { type ActiveCall, type DeliveryPoint } from '../../../src/core/ports/producers.ts';
import { type FileTouch } from '../../../src/core/ports/sources.ts';
import { createFilesProducer } from '../../../src/producers/files/files.ts';
import { createManualClock, type ManualClock } from '../../support/manualClock.ts';
import { createTestHost, type TestHost } from '../../support/notify/producerHost.ts';
import { recordingLogger } from '../../support/recordingLogger.ts';
import { createFolderWorkspace } from '../../support/workspace/folderWorkspace.ts';

const PATH = 'log.txt';
const SEEN = 'one\ntwo\nthree\n';
const POINT = { conversation: 'c', type: 'result' } as DeliveryPoint;

let disk: string | undefined;
let clock: ManualClock;
/** How many milliseconds too soon timers fire. */
let early: number;
let host: TestHost;
let touched: Emitter<FileTouch>;
let announced: string | undefined;
/** The first line of each notification, and the added and removed lines of its diff. */
let published: string[];
let producer: Producer;
let watching: Disposable;
let errors: string[];

beforeEach(async () => {
  disk = SEEN;
  announced = undefined;
  published = [];
  errors = [];
  clock = createManualClock();
  early = 0;
  touched = new Emitter((error) => errors.push(String(error)));
  host = createTestHost();
  host.conversations = ['c'];
  const workspace = Object.assign(createFolderWorkspace('/shop'), {
    resolve: async (path: string) => succeeded({ path, absolute: `/shop/${path}` }),
    read: async ({ path }: { path: string }) =>
      path !== PATH || disk === undefined
        ? failed('not_found', `${path} does not exist.`)
        : succeeded({ bytes: Buffer.from(disk), unsaved: false }),
  });
  const watcher = { on: () => watcher, add: () => watcher, unwatch: () => watcher, close: async () => undefined };
  producer = createFilesProducer({
    clock: { ...clock, after: (milliseconds, run) => clock.after(Math.max(0, milliseconds - early), run) },
    logger: recordingLogger(errors),
    // The hash of bytes is their text.
    snapshots: {
      hash: (bytes) => Buffer.from(bytes).toString(),
      put: async (bytes) => Buffer.from(bytes).toString(),
      get: async (hash) => Buffer.from(hash),
    },
    workspace,
    editorFiles: { onDidTouch: touched.event },
    watch: () => watcher as never,
  });
  const seen: SeenFiles = {
    all: () => [{ path: PATH, by: [{ conversation: 'c', hash: SEEN, ...(announced !== undefined && { announced }) }] }],
    get: (path) => seen.all().find((one) => one.path === path),
    onDidChange: () => ({ dispose: () => undefined }),
  };
  watching = producer.start(
    {
      publish: async ({ message, data }) => {
        announced = String(data?.['hash']);
        const lines = message.split('\n').filter((line, index) => index === 0 || /^[-+]/.test(line));
        published.push(lines.join(' '));
      },
      withdraw: async () => false,
    },
    seen,
    host,
  );
  await settled();
});

afterEach(() => {
  watching.dispose();
  expect(errors).toEqual([]);
});

/** Everything is in memory, so all consequences happen within a few turns of the event loop. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await setImmediate();
}

async function pass(milliseconds: number): Promise<void> {
  for (let passed = 0; passed < milliseconds; passed += 50) {
    clock.advance(50);
    await settled();
  }
}

async function write(text: string | undefined, then = 0): Promise<void> {
  disk = text;
  touched.fire({ type: 'changed', path: PATH });
  await pass(then);
}

test('a file that is written in steps is reported once, in its final state', async () => {
  await write('one\n', 300);
  await write('one\nTWO\n', 250);
  await write('one\nTWO\nthree\n', 250);
  expect(published).toEqual([]);
  await pass(3000);
  expect(published).toEqual([`${PATH} changed since you read it, outside the editor: -two +TWO`]);
});

test('a file that is emptied before it is written is not reported as empty', async () => {
  await write('', 500);
  await write('one\ntwo\nthree\nfour\n', 3000);
  expect(published).toEqual([`${PATH} changed since you read it, outside the editor: +four`]);
});

test('a file that stays empty is reported as empty', async () => {
  await write('', 3000);
  expect(published).toEqual([`${PATH} changed since you read it, outside the editor: -one -two -three`]);
});

test('a file that is half written when a conversation is opened is reported whole', async () => {
  watching.dispose();
  disk = 'one\ntwo\n';
  host.changed.fire();
  watching = producer.start(
    { publish: async ({ message }) => void published.push(message.split('\n')[0] ?? ''), withdraw: async () => false },
    seenOnce,
    host,
  );
  await pass(150);
  disk = 'one\ntwo\nthree\nfour\n';
  await pass(3000);
  expect(published).toEqual([`${PATH} changed since you read it, while Earshot was not listening:`]);
});

const seenOnce: SeenFiles = {
  all: () => [{ path: PATH, by: [{ conversation: 'c', hash: SEEN }] }],
  get: (path) => seenOnce.all().find((one) => one.path === path),
  onDidChange: () => ({ dispose: () => undefined }),
};

test('a change by a command of the conversation is delivered with its result after one more read', async () => {
  await running();
  disk = 'one\n2\nthree\n';
  const sampled = Promise.resolve(producer.sample?.(POINT));
  await pass(250);
  await sampled;
  expect(published).toEqual([`${PATH} changed since you read it, while your command \`make\` was running: -two +2`]);
});

test('a file that is half written at a delivery point is left for the next one', async () => {
  await running();
  disk = 'one\n2\n';
  const first = Promise.resolve(producer.sample?.(POINT));
  await pass(100);
  disk = 'one\n2\nthree\n';
  await pass(300);
  await first;
  expect(published).toEqual([]);
  await pass(2000);
  expect(published).toEqual([expect.stringContaining('-two +2')]);
});

test('a file that keeps changing is reported once as such, blocks no delivery, and is reported when it stops changing', async () => {
  for (let line = 0; line < 200; line += 1) await write(`${disk ?? ''}line ${line}\n`, 50);
  expect(published).toEqual([
    `${PATH} has changed since you read it and keeps changing. Read it again when you need it.`,
  ]);
  await running();
  const began = clock.now();
  const sampled = Promise.resolve(producer.sample?.(POINT)).then(() => 'sampled');
  while ((await Promise.race([sampled, settled()])) === undefined) {
    disk = `${disk ?? ''}more\n`;
    await pass(50);
  }
  expect(clock.now() - began).toBeLessThan(500);
  await write(SEEN, 5000);
  expect(published.slice(1)).toEqual([`${PATH} is again as you read it.`]);
});

async function running(): Promise<void> {
  const call: ActiveCall = {
    conversation: 'c',
    tool: 'run_command',
    command: 'make',
    paths: [],
    started: clock.now(),
    made: new Map(),
  };
  host.calls = [call];
  host.changed.fire();
  await settled();
}

test('a request carries a change also if the timer of the second read fires early', async () => {
  early = 5;
  disk = 'one\nTWO\nthree\n';
  const point = { conversation: 'c', type: 'request' } as DeliveryPoint;
  const carried = Promise.resolve(producer.sample?.(point)).then(() => [...published]);
  await settled();
  clock.advance(200 - early);
  await settled();
  await pass(50);
  expect(await carried).toEqual([`${PATH} changed since you read it, outside the editor: -two +TWO`]);
});

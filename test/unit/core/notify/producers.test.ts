// Starting and stopping producers: settings apply at once; a failed producer is stopped, reported once and restarted
// with back-off.
import { afterEach, beforeEach, expect, test } from 'vitest';
import { toDisposable } from '../../../../src/base/disposable.ts';
import { Producers } from '../../../../src/core/notify/producers.ts';
import { type Producer, type Publisher } from '../../../../src/core/ports/ports.ts';
import { type ProducerHost } from '../../../../src/core/ports/producers.ts';
import { type NotificationDraft } from '../../../../src/protocol/notification.ts';
import { readSettings } from '../../../../src/protocol/settings.ts';
import { createManualClock } from '../../../support/manualClock.ts';
import { createTestHost } from '../../../support/notify/producerHost.ts';
import { recordingLogger } from '../../../support/recordingLogger.ts';

let clock: ReturnType<typeof createManualClock>;
let errors: string[];
let happened: string[];
let switches: Record<string, boolean>;
let producers: Producers;
let started: { publisher: Publisher; host: ProducerHost } | undefined;
/** The error that `start` throws next. */
let fault: Error | undefined;
let host: ReturnType<typeof createTestHost>;

const terminals: Producer = {
  name: 'terminals',
  start: (publisher, _seen, host) => {
    if (fault !== undefined) throw fault;
    happened.push('started');
    started = { publisher, host };
    return toDisposable(() => happened.push('stopped'));
  },
};

beforeEach(() => {
  clock = createManualClock();
  host = createTestHost();
  [errors, happened, switches, fault, started] = [[], [], {}, undefined, undefined];
  begin();
});

afterEach(() => producers.dispose());

function begin(): void {
  producers = new Producers({
    producers: [terminals],
    clock,
    logger: recordingLogger(errors),
    outlet: {
      publish: async ({ message }) => void happened.push(message),
      withdraw: async () => false,
      listeners: () => [],
      isPending: () => false,
      deliver: async () => undefined,
    },
    seen: { all: () => [], get: () => undefined, onDidChange: () => toDisposable(() => undefined) },
    live: host.live,
    settings: () => readSettings((name) => (name === 'notifications.producers' ? switches : undefined)).settings,
  });
}

function throttledDraft(message: string): NotificationDraft {
  return {
    kind: { source: 'terminal', name: 'failed' },
    level: 'warning',
    message,
    subject: 'terminal:npm test',
    origin: 'process',
    at: new Date(clock.now()).toISOString(),
  };
}

function breakProducer(reason = 'no more watches'): void {
  started?.host.broke(new Error(reason));
}

test('a setting stops a producer and starts it again without a reload', () => {
  switches = { terminals: false };
  producers.refresh();
  producers.refresh();
  expect(happened).toEqual(['started', 'stopped']);
  switches = {};
  producers.refresh();
  expect(happened).toEqual(['started', 'stopped', 'started']);
});

test('a producer that fails repeatedly is reported once and restarted after 1, 2, 4 … s, at most 5 minutes', () => {
  const waits: number[] = [];
  for (let round = 0; round < 12; round += 1) {
    breakProducer();
    const before = clock.now();
    const count = happened.length;
    while (happened.length === count) clock.advance(1000);
    waits.push((clock.now() - before) / 1000);
  }
  expect(waits).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300]);
  expect(errors).toEqual(['the producer terminals failed and will be restarted: no more watches']);
});

test('a producer that cannot start is listed as a problem until it has run for a while', () => {
  producers.dispose();
  fault = new Error('not here');
  begin();
  expect(producers.problems).toMatchObject([
    { message: 'The notification source “terminals” is not running: not here.' },
  ]);
  fault = undefined;
  let changes = 0;
  const listening = producers.onDidChange(() => (changes += 1));
  clock.advance(1000);
  expect(happened.at(-1)).toBe('started');
  // The producer may fail again at once, so the problem stays listed for a while.
  expect([producers.problems.length, changes]).toEqual([1, 0]);
  clock.advance(10_000);
  expect([producers.problems.length, changes]).toEqual([0, 1]);
  listening.dispose();
});

test('a failure after a long run without failures is reported again', () => {
  breakProducer();
  clock.advance(1000);
  clock.advance(11 * 60_000);
  breakProducer('something else');
  expect(errors).toHaveLength(2);
  clock.advance(1000);
  expect(happened.filter((what) => what === 'started')).toHaveLength(3);
});

test('a producer disabled during its back-off is not restarted', () => {
  breakProducer();
  switches = { terminals: false };
  producers.refresh();
  expect(producers.problems).toEqual([]);
  clock.advance(60 * 60_000);
  expect(happened).toEqual(['started', 'stopped']);
  expect(clock.waiting).toBe(0);
});

test('failures reported by a stopped producer are ignored', () => {
  const before = started;
  breakProducer();
  before?.host.broke(new Error('again'));
  clock.advance(1000);
  before?.host.broke(new Error('and again'));
  expect(happened).toEqual(['started', 'stopped', 'started']);
});

test('closing a conversation drops the throttled notifications for it alone', async () => {
  host.conversations = ['kept', 'closed'];
  host.changed.fire();
  const publish = async (message: string, to: string) => started?.publisher.publish(throttledDraft(message), to);
  for (const to of host.conversations) await publish(`${to} 1`, to);
  const held = host.conversations.map((to) => publish(`${to} 2`, to));
  host.conversations = ['kept'];
  host.changed.fire();
  clock.advance(60_000);
  await Promise.all(held);
  expect(happened).toEqual(['started', 'kept 1', 'closed 1', 'kept 2']);
});

test('stopping a producer publishes its throttled notifications', async () => {
  const first = started?.publisher.publish(throttledDraft('one'));
  const held = started?.publisher.publish(throttledDraft('two'));
  switches = { terminals: false };
  producers.refresh();
  await Promise.all([first, held]);
  expect(happened).toEqual(['started', 'one', 'stopped', 'two']);
});

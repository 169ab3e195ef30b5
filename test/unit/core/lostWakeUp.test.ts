// Lost wake-ups: for any interleaving of "becomes idle" and "is queued", each notification and message is delivered
// once and turns never overlap.
import fc from 'fast-check';
import { beforeEach, expect, test } from 'vitest';
import { setDisposableTracker } from '../../../src/base/disposable.ts';
import { Earshot } from '../../../src/core/earshot.ts';
import { type Model } from '../../../src/core/ports/ports.ts';
import { type EventFile, type Snapshots } from '../../../src/core/ports/storage.ts';
import { type Services } from '../../../src/core/tools/services.ts';
import { type LogEvent } from '../../../src/protocol/event.ts';
import { type NotificationDraft } from '../../../src/protocol/notification.ts';
import { scopeOf } from '../../../src/protocol/scopes.ts';
import { readSettings } from '../../../src/protocol/settings.ts';
import { countingIds } from '../../support/log/memoryStorage.ts';
import { createManualClock, type ManualClock } from '../../support/manualClock.ts';
import { recordingLogger } from '../../support/recordingLogger.ts';
import { runs } from '../../support/runs.ts';
import { TestFrontend } from '../../support/walk/testFrontend.ts';
import { createFolderWorkspace } from '../../support/workspace/folderWorkspace.ts';
import { bareServices } from '../../support/walk/bareServices.ts';

const RUNS = runs(750, 10_000);
/** The simulated milliseconds in which everything is queued; the last answer may end later. */
const SPAN = 8;
const LONG = 700_000;
const LONGEST_STEPS = 200;

interface Schedule {
  /** The time at which each notification is queued. */
  readonly facts: readonly number[];
  /** The time of each message of the user, which is queued during a turn or starts one. */
  readonly messages: readonly number[];
  /**
   * The delays of the disk for each event and of the model for each answer; reused from the start when they run out.
   */
  readonly disk: readonly number[];
  readonly model: readonly number[];
}

const schedules: fc.Arbitrary<Schedule> = fc.record({
  facts: fc.array(fc.nat(SPAN), { minLength: 1, maxLength: 4 }),
  messages: fc.array(fc.nat(SPAN), { maxLength: 2 }),
  disk: fc.array(fc.nat(2), { minLength: 1, maxLength: 8 }),
  model: fc.array(fc.nat(3), { minLength: 1, maxLength: 5 }),
});

/** Returns the values one by one, starting over at the end. */
function cycle(values: readonly number[]): () => number {
  let next = 0;
  return () => values[next++ % values.length] ?? 0;
}

/** Resolves once everything that is due has run. */
const allDueHasRun = () => new Promise<void>((resolve) => setImmediate(resolve));

/** Keeps the order in which events were appended, as the real file does. */
function slowFile(clock: ManualClock, delay: () => number, written: LogEvent[]): EventFile {
  let free = clock.now();
  return {
    append: (event) => {
      free = Math.max(free, clock.now() + delay());
      return new Promise((resolve) => {
        clock.after(free - clock.now(), () => {
          written.push(event);
          resolve();
        });
      });
    },
    repair: async () => ({ events: written, nextSeq: written.length + 1, damage: [] }),
    close: async () => undefined,
  };
}

function slowModel(clock: ManualClock, delay: () => number): Model {
  return {
    id: 'm',
    label: 'm',
    detail: '',
    contextWindow: 100_000,
    // Prevents title requests.
    ruleBased: true,
    async *stream(_request, signal) {
      await new Promise<void>((resolve) => {
        clock.after(delay(), () => resolve());
        signal.addEventListener('abort', () => resolve(), { once: true });
      });
      if (signal.aborted) return;
      yield { type: 'text', text: 'Noted.' };
      yield { type: 'finished' };
    },
  };
}

const unused = () => {
  throw new Error('not used here');
};

function memorySnapshots(): Snapshots {
  const kept = new Map<string, Uint8Array>();
  const hash = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64');
  return {
    put: async (bytes) => {
      kept.set(hash(bytes), bytes);
      return hash(bytes);
    },
    get: async (name) => kept.get(name),
    hash,
  };
}

async function play(schedule: Schedule): Promise<readonly LogEvent[]> {
  const clock = createManualClock();
  const written: LogEvent[] = [];
  const errors: string[] = [];
  const { settings } = readSettings(() => undefined);
  const file = slowFile(clock, cycle(schedule.disk), written);
  const model = slowModel(clock, cycle(schedule.model));
  const opened = { file, events: [], nextSeq: 1, damage: [] };
  const logger = recordingLogger(errors);
  const ports: Services = {
    ...bareServices({ clock, logger }),
    clock,
    ids: countingIds(),
    logger,
    store: {
      open: async () => ({ ok: true, value: opened }),
      follow: unused,
      read: unused,
      scan: unused,
      reader: () => ({ read: unused }),
      end: unused,
      sizes: unused,
      create: unused,
      remove: unused,
      list: unused,
      due: { mark: unused, unmark: unused, list: unused },
    },
    snapshots: memorySnapshots(),
    workspace: { ...createFolderWorkspace('/nowhere'), folders: [], trusted: false },
    frontend: new TestFrontend(),
    tools: [],
    producers: [],
    settings: () => settings,
    model: () => model,
  };
  const earshot = new Earshot(ports);
  const pass = async (milliseconds: number) => {
    clock.advance(milliseconds);
    await allDueHasRun();
  };
  const begun = earshot.create();
  await pass(0);
  await pass(2);
  const live = await begun;
  if (!live.ok) throw new Error(live.failure.message);
  const { id } = live.value.log;

  const queueing: Promise<unknown>[] = [earshot.queue(id, 'Begin.')];
  for (let now = 0; now <= SPAN; now++) {
    for (const [number, at] of schedule.facts.entries()) {
      if (at === now) queueing.push(earshot.publish(stopped(id, number)));
    }
    for (const [number, at] of schedule.messages.entries()) {
      if (at === now) queueing.push(earshot.queue(id, `message ${number}`));
    }
    await pass(1);
  }
  let allQueued = false;
  const all = Promise.all(queueing).then(() => {
    allQueued = true;
  });
  const settle = async () => {
    for (let step = 0; step < LONGEST_STEPS && (!allQueued || earshot.get(id)?.running === true); step++) await pass(1);
  };
  await settle();
  // Lets the back-off of a kind expire, at most five times.
  for (let round = 0; round < 5 && earshot.get(id)?.log.state.pending.isEmpty === false; round++) {
    await pass(LONG);
    await settle();
  }
  await all;
  const ended = earshot.shutDown();
  await pass(10);
  await ended;
  expect(errors).toEqual([]);
  return written;
}

function stopped(conversation: string, number: number): NotificationDraft {
  return {
    kind: { source: 'tool', name: 'stopped' },
    level: 'info',
    message: `handle ${number} stopped.`,
    subject: `handle:${number}`,
    scopes: [scopeOf('conversation', conversation)],
    origin: 'process',
    at: '2026-01-01T00:00:00.000Z',
  };
}

function check(schedule: Schedule, events: readonly LogEvent[]): void {
  let open = false;
  const queued: string[] = [];
  const delivered: string[] = [];
  for (const event of events) {
    if (event.type === 'turn_started') {
      expect(open, 'two turns at once').toBe(false);
      open = true;
    } else if (event.type === 'turn_ended') open = false;
    else if (event.type === 'notification_queued') queued.push(event.notification.id);
    else if (event.type === 'user_text_queued') queued.push(event.event_id);
    else if (event.type === 'chat_request') {
      const { shown = [], merged = [], counted = [], user_text = [] } = event.notifications ?? {};
      delivered.push(...shown, ...merged, ...counted, ...user_text);
    }
  }
  expect(open, 'every turn has ended').toBe(false);
  expect(events.filter(({ type }) => type === 'notification_queued')).toHaveLength(schedule.facts.length);
  expect(delivered.sort()).toEqual(queued.sort());
}

// Tracking the origin of each disposable would take most of the time here.
beforeEach(() => setDisposableTracker(undefined));

test(`every one of ${RUNS.toLocaleString('en')} random schedules delivers everything exactly once`, async () => {
  let woken = 0;
  await fc.assert(
    fc.asyncProperty(schedules, async (schedule) => {
      const events = await play(schedule);
      check(schedule, events);
      if (events.some((event) => event.type === 'turn_started' && event.source === 'system')) woken += 1;
    }),
    { numRuns: RUNS },
  );
  // The schedules covered both: system turns, and user turns that delivered everything.
  expect(woken).toBeGreaterThan(RUNS / 100);
  expect(woken).toBeLessThan(RUNS);
}, 600_000);

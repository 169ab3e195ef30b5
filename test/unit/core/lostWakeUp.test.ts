// The lost wake-up: for any interleaving of "becomes idle" and "is queued", what is queued is delivered, once, and turns never overlap.
import fc from 'fast-check';
import { beforeEach, expect, test } from 'vitest';
import { setDisposableTracker } from '../../../src/base/disposable.ts';
import { Earshot } from '../../../src/core/earshot.ts';
import { ownScope } from '../../../src/core/notify/hearing.ts';
import { type Model, type Ports } from '../../../src/core/ports.ts';
import { type EventFile } from '../../../src/core/storagePorts.ts';
import { type LogEvent } from '../../../src/protocol/event.ts';
import { type NotificationDraft } from '../../../src/protocol/notification.ts';
import { readSettings } from '../../../src/protocol/settings.ts';
import { createFolderWorkspace } from '../../support/folderWorkspace.ts';
import { createManualClock, type ManualClock } from '../../support/manualClock.ts';
import { countingIds } from '../../support/memoryStorage.ts';
import { recordingLog } from '../../support/recordingLog.ts';
import { TestFrontend } from '../../support/testFrontend.ts';
import { runs } from '../../support/runs.ts';

const RUNS = runs(1500, 10_000);
/** Simulated milliseconds in which everything is said; the last answer may end later. */
const SPAN = 8;
const LONG = 700_000;
const LONGEST_STEPS = 200;

interface Schedule {
  /** When each is queued. */
  readonly facts: readonly number[];
  /** When each is said while a turn runs, or begins one. */
  readonly words: readonly number[];
  /** How long the disk takes for the next event, and the model for the next answer; used in turn. */
  readonly disk: readonly number[];
  readonly model: readonly number[];
}

const schedules: fc.Arbitrary<Schedule> = fc.record({
  facts: fc.array(fc.nat(SPAN), { minLength: 1, maxLength: 4 }),
  words: fc.array(fc.nat(SPAN), { maxLength: 2 }),
  disk: fc.array(fc.nat(2), { minLength: 1, maxLength: 8 }),
  model: fc.array(fc.nat(3), { minLength: 1, maxLength: 5 }),
});

/** The next of them, again and again. */
function cycle(values: readonly number[]): () => number {
  let next = 0;
  return () => values[next++ % values.length] ?? 0;
}

/** Whatever can happen now has happened. */
const quiet = () => new Promise<void>((resolve) => setImmediate(resolve));

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
    mend: async () => ({ events: written, nextSeq: written.length + 1, damage: [] }),
    close: async () => undefined,
  };
}

function slowModel(clock: ManualClock, delay: () => number): Model {
  return {
    id: 'm',
    label: 'm',
    detail: '',
    contextWindow: 100_000,
    // It says nothing that a title could be made of.
    ruleBased: true,
    async *stream(_request, signal) {
      await new Promise<void>((resolve) => {
        clock.after(delay(), () => resolve());
        signal.addEventListener('abort', () => resolve(), { once: true });
      });
      if (signal.aborted) return;
      yield { type: 'text', text: 'Heard.' };
      yield { type: 'finished' };
    },
  };
}

const unused = () => {
  throw new Error('not used here');
};

async function play(schedule: Schedule): Promise<readonly LogEvent[]> {
  const clock = createManualClock();
  const written: LogEvent[] = [];
  const errors: string[] = [];
  const { settings } = readSettings(() => undefined);
  const file = slowFile(clock, cycle(schedule.disk), written);
  const model = slowModel(clock, cycle(schedule.model));
  const opened = { file, events: [], nextSeq: 1, damage: [] };
  const ports: Ports = {
    clock,
    ids: countingIds(),
    log: recordingLog(errors),
    store: {
      open: async () => ({ ok: true, value: opened }),
      follow: unused,
      read: unused,
      create: unused,
      remove: unused,
      list: unused,
    },
    snapshots: { put: unused, get: unused, hash: unused },
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
    await quiet();
  };
  const begun = earshot.create();
  await pass(0);
  await pass(2);
  const live = await begun;
  if (!live.ok) throw new Error(live.failure.message);
  const { id } = live.value.log;

  const saying: Promise<unknown>[] = [earshot.queue(id, 'Begin.')];
  for (let now = 0; now <= SPAN; now++) {
    for (const [number, at] of schedule.facts.entries()) {
      if (at === now) saying.push(earshot.publish(stopped(id, number)));
    }
    for (const [number, at] of schedule.words.entries()) {
      if (at === now) saying.push(earshot.queue(id, `word ${number}`));
    }
    await pass(1);
  }
  let said = false;
  const all = Promise.all(saying).then(() => {
    said = true;
  });
  const settle = async () => {
    for (let step = 0; step < LONGEST_STEPS && (!said || earshot.get(id)?.running === true); step++) await pass(1);
  };
  await settle();
  // The back-off of a kind passes: at most four times.
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
    scopes: [ownScope(conversation)],
    origin: 'process',
    at: '2026-01-01T00:00:00.000Z',
  };
}

function check(schedule: Schedule, events: readonly LogEvent[]): void {
  let open = false;
  const queued: string[] = [];
  const told: string[] = [];
  for (const event of events) {
    if (event.type === 'turn_started') {
      expect(open, 'two turns at once').toBe(false);
      open = true;
    } else if (event.type === 'turn_ended') open = false;
    else if (event.type === 'notification_queued') queued.push(event.notification.id);
    else if (event.type === 'user_text_queued') queued.push(event.event_id);
    else if (event.type === 'chat_request') {
      const { shown = [], merged = [], counted = [], user_text = [] } = event.notifications ?? {};
      told.push(...shown, ...merged, ...counted, ...user_text);
    }
  }
  expect(open, 'every turn has ended').toBe(false);
  expect(events.filter(({ type }) => type === 'notification_queued')).toHaveLength(schedule.facts.length);
  expect(told.sort()).toEqual(queued.sort());
}

// Where each disposable was made is asked for thousands of times here, and takes most of the time.
beforeEach(() => setDisposableTracker(undefined));

test(`every one of ${RUNS.toLocaleString('en')} random schedules is delivered`, async () => {
  let woken = 0;
  await fc.assert(
    fc.asyncProperty(schedules, async (schedule) => {
      const events = await play(schedule);
      check(schedule, events);
      if (events.some((event) => event.type === 'turn_started' && event.source === 'system')) woken += 1;
    }),
    { numRuns: RUNS },
  );
  // Both were met: turns that were woken, and turns that took everything with them.
  expect(woken).toBeGreaterThan(RUNS / 100);
  expect(woken).toBeLessThan(RUNS);
}, 600_000);

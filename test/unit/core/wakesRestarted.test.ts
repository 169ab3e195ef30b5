// Real timers and conditions over a world that changes, with a new process after every change: each fires once, at the
// moment and for the reason that a naive evaluation of the whole history names.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ConversationLog } from '../../../src/core/conversation/log.ts';
import { enqueue } from '../../../src/core/notify/queue.ts';
import { type EventFile } from '../../../src/core/ports/storage.ts';
import { Wakes } from '../../../src/core/wakes/wakes.ts';
import { type LogEvent } from '../../../src/protocol/event.ts';
import { type Atom, type Condition } from '../../../src/protocol/wakes.ts';
import { countingIds, silentLogger } from '../../support/log/memoryStorage.ts';
import { createManualClock } from '../../support/manualClock.ts';
import { runs } from '../../support/runs.ts';
import { afterTicks } from '../../support/ticks.ts';

/** A change comes at the beginning of a step, and every source has seen it before its end. */
const STEP = 10_000;
const FILES = ['a', 'b'] as const;
const PORTS = [1, 2] as const;
const SCRIPTS = ['x', 'y'] as const;

type Change =
  | { readonly file: (typeof FILES)[number]; readonly text: string | undefined }
  | { readonly port: (typeof PORTS)[number]; readonly open: boolean }
  | { readonly script: (typeof SCRIPTS)[number] }
  | 'nothing';

/** Durations end in the middle of a step, the deadline later in it. */
const after = fc.integer({ min: 0, max: 6 }).map((steps) => `${steps * 10 + 7}s`);
const atom: fc.Arbitrary<Atom> = fc.oneof(
  fc.record({ file: fc.constantFrom(...FILES), is: fc.constantFrom('changed', 'exists', 'gone') }),
  fc.record({ port: fc.constantFrom(...PORTS), is: fc.constantFrom('open', 'closed') }),
  fc.record({ notify: fc.constantFrom(...SCRIPTS) }),
  fc.record({ after }),
);
const tree = fc.letrec<{ part: Condition }>((tie) => ({
  part: fc.oneof(
    { maxDepth: 2, withCrossShrink: true },
    atom,
    fc.array(tie('part'), { minLength: 1, maxLength: 3 }).map((all) => ({ all })),
    fc.array(tie('part'), { minLength: 1, maxLength: 3 }).map((any) => ({ any })),
  ),
})).part;
const change: fc.Arbitrary<Change> = fc.oneof(
  fc.record({ file: fc.constantFrom(...FILES), text: fc.constantFrom('one', 'two', undefined) }),
  fc.record({ port: fc.constantFrom(...PORTS), open: fc.boolean() }),
  fc.record({ script: fc.constantFrom(...SCRIPTS) }),
  fc.constant('nothing' as const),
);

interface World {
  readonly files: ReadonlyMap<string, string>;
  readonly open: ReadonlySet<number>;
}

function changed({ files, open }: World, one: Change): World {
  const next = { files: new Map(files), open: new Set(open) };
  if (one === 'nothing' || 'script' in one) return next;
  if ('port' in one) {
    if (one.open) next.open.add(one.port);
    else next.open.delete(one.port);
  } else if (one.text === undefined) next.files.delete(one.file);
  else next.files.set(one.file, one.text);
  return next;
}

const EMPTY: World = { files: new Map([['a', 'one']]), open: new Set([1]) };

/** What happened up to a moment: the worlds since it was set, the first of them included, and the scripts. */
interface History {
  readonly worlds: readonly World[];
  readonly scripts: readonly string[];
  readonly passed: number;
}

function holds(condition: Condition, history: History): boolean {
  if ('all' in condition) return condition.all.every((one) => holds(one, history));
  if ('any' in condition) return condition.any.some((one) => holds(one, history));
  const { worlds, scripts, passed } = history;
  const now = worlds.at(-1) ?? EMPTY;
  if ('port' in condition) return now.open.has(condition.port) === (condition.is === 'open');
  if ('notify' in condition) return scripts.includes(condition.notify);
  if ('after' in condition) return passed >= Number(condition.after.slice(0, -1)) * 1000;
  if (!('file' in condition)) throw new Error('the test has no such atom');
  const { file, is } = condition;
  if (is === 'changed') return worlds.some((world) => world.files.get(file) !== worlds[0]?.files.get(file));
  return now.files.has(file) === (is === 'exists');
}

/** The step in which it fires, and why; undefined: it holds at once, or not within these steps. */
function naive(condition: Condition, changes: readonly Change[], deadline: number) {
  const worlds = [EMPTY];
  const scripts: string[] = [];
  const isTimer = 'after' in condition;
  for (const [step, one] of changes.entries()) {
    worlds.push(changed(worlds.at(-1) ?? EMPTY, one));
    if (one !== 'nothing' && 'script' in one) scripts.push(one.script);
    for (const moment of [6000, 7500, 9500]) {
      const passed = step * STEP + moment;
      if (holds(condition, { worlds, scripts, passed })) return { step, name: isTimer ? 'due' : 'met' };
      if (passed >= deadline) return { step, name: isTimer ? 'due' : 'expired' };
    }
  }
  return undefined;
}

const nowhere: EventFile = {
  append: () => Promise.resolve(),
  repair: () => Promise.resolve({ events: [], nextSeq: 1, damage: [] }),
  close: () => Promise.resolve(),
};

/** The product: one process after the other, which know only the log and the world. */
async function real(condition: Condition, changes: readonly Change[], deadline: number, isTorn: boolean) {
  const clock = createManualClock();
  const ids = countingIds();
  const events: LogEvent[] = [];
  let world = EMPTY;
  const start = () => {
    const opened = { events: [...events], nextSeq: events.length + 1, damage: [], file: nowhere };
    const log = new ConversationLog({ id: 'c', opened, clock, ids, logger: silentLogger });
    const appended = log.onDidAppend(({ event }) => events.push(event));
    const wakes = new Wakes({
      ...{ clock, ids },
      logger: { ...silentLogger, error: (message, error) => expect.unreachable(`${message}: ${String(error)}`) },
      probe: async (port) => world.open.has(port),
      snapshots: { hash: (bytes) => new TextDecoder().decode(bytes) },
      workspace: {
        resolve: async (path) => ({ ok: true, value: { path, absolute: `/${path}` } }),
        fingerprint: async ({ path }) => {
          const value = world.files.get(path);
          return value === undefined
            ? { ok: false, failure: { code: 'not_found', message: 'It is gone.' } }
            : { ok: true, value };
        },
        readLocally: async () => expect.unreachable('no file is too large'),
      },
    });
    const joined = wakes.join(log);
    const started = wakes.start();
    const end = () => {
      started.dispose();
      joined.dispose();
      wakes.dispose();
      appended.dispose();
    };
    return { log, wakes, end };
  };
  let process = start();
  const until = clock.now() + deadline;
  const set = await process.wakes.set('c', { name: 'w', when: condition, until, most: 1, note: '', call: 'x' });
  if (!set.ok) throw new Error(set.failure.message);
  if (set.value.met !== undefined) {
    process.end();
    return 'at once';
  }
  const fires: { readonly step: number; readonly name: string }[] = [];
  for (const [step, one] of changes.entries()) {
    const before = events.length;
    world = changed(world, one);
    if (one !== 'nothing' && 'script' in one) {
      const kind = { source: 'script', name: one.script };
      const at = new Date(clock.now()).toISOString();
      await enqueue(process.log, ids, { kind, level: 'info', message: one.script, origin: 'plugin', at });
      // Killed before anything else could see the line.
      if (isTorn) {
        process.end();
        process = start();
      }
    }
    for (let time = 0; time < STEP; time += 500) {
      clock.advance(500);
      await afterTicks(2);
    }
    process.end();
    process = start();
    await afterTicks(2);
    for (const event of events.slice(before)) {
      if (event.type === 'notification_queued' && event.notification.grant !== undefined)
        fires.push({ step, name: event.notification.kind.name });
    }
  }
  process.end();
  return fires;
}

test('a condition over files, ports, scripts and time fires once, when a naive evaluator says so, with a restart after every change', async () => {
  const seen = new Set<string>();
  await fc.assert(
    fc.asyncProperty(
      tree,
      fc.array(change, { minLength: 1, maxLength: 8 }),
      fc.integer({ min: 1, max: 7 }),
      fc.boolean(),
      async (condition, changes, steps, isTorn) => {
        const deadline = steps * STEP + 9000;
        const start = { worlds: [EMPTY], scripts: [], passed: 0 };
        const expected = naive(condition, changes, deadline);
        const fired = await real(condition, changes, deadline, isTorn);
        seen.add(fired === 'at once' ? fired : (fired[0]?.name ?? 'open'));
        if (holds(condition, start)) expect(fired).toBe('at once');
        else expect(fired).toEqual(expected === undefined ? [] : [expected]);
      },
    ),
    { numRuns: runs(150, 1000) },
  );
  expect(seen).toEqual(new Set(['at once', 'met', 'expired', 'due', 'open']));
}, 600_000);

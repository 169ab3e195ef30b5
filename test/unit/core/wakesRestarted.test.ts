// Real timers and conditions over a world that changes, with a new process after every change: each fires once, at the
// moment and for the reason that a naive evaluation of the whole history names.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Emitter } from '../../../src/base/emitter.ts';
import { ConversationLog } from '../../../src/core/conversation/log.ts';
import { enqueue } from '../../../src/core/notify/queue.ts';
import { type Handle, type HandleChange } from '../../../src/core/ports/handles.ts';
import { type EventFile } from '../../../src/core/ports/storage.ts';
import { type TaskEnd } from '../../../src/core/ports/tasks.ts';
import { type FilePath } from '../../../src/core/ports/workspace.ts';
import { Wakes } from '../../../src/core/wakes/wakes.ts';
import { type LogEvent } from '../../../src/protocol/event.ts';
import { type NotificationDraft } from '../../../src/protocol/notification.ts';
import { type Atom, type Condition } from '../../../src/protocol/wakes.ts';
import { countingIds, silentLogger } from '../../support/log/memoryStorage.ts';
import { createManualClock } from '../../support/manualClock.ts';
import { runs } from '../../support/runs.ts';
import { afterTicks } from '../../support/ticks.ts';

/** A change comes at the beginning of a step, and every source has seen it before its end. */
const STEP = 10_000;
const FILES = ['a', 'b'] as const;
const PORTS = [1, 2] as const;
/** Lines, events and commits that come as notifications. */
const NEWS = ['script', 'event', 'commit'] as const;
const LINES = ['ready', 'busy'] as const;
const TASK_ENDS = ['ok', 'failed'] as const;
const HANDLE_STATES = ['running', 'waiting', 'ok', 'failed'] as const;
/** Language servers report so long after their window has started. */
const SERVERS_START = 3000;

type Change =
  | { readonly file: (typeof FILES)[number]; readonly text: string | undefined }
  | { readonly port: (typeof PORTS)[number]; readonly open: boolean }
  | { readonly news: (typeof NEWS)[number] }
  | { readonly prints: (typeof LINES)[number] }
  | { readonly becomes: (typeof HANDLE_STATES)[number] }
  | { readonly task: (typeof TASK_ENDS)[number] }
  | { readonly problems: number }
  | 'nothing';

/** Durations end in the middle of a step, the deadline later in it. */
const after = fc.integer({ min: 0, max: 6 }).map((steps) => `${steps * 10 + 7}s`);
const atom: fc.Arbitrary<Atom> = fc.oneof(
  fc.record({ file: fc.constantFrom(...FILES), is: fc.constantFrom('changed', 'exists', 'gone') }),
  fc.record({ port: fc.constantFrom(...PORTS), is: fc.constantFrom('open', 'closed') }),
  fc.constantFrom<Atom>({ notify: 'x' }, { event: 'github' }, { event: 'github/push' }, { event: 'gitlab' }),
  fc.constantFrom<Atom>({ notified: 'git.head_changed' }, { notified: 'git.head_changed', has: 'COMMIT' }),
  fc.record({ handle: fc.constant('h'), is: fc.constantFrom('ok', 'failed', 'ended', 'waiting') }),
  fc.record({ output: fc.constant('h'), has: fc.constant('Ready') }),
  fc.record({ task: fc.constant('t'), is: fc.constantFrom('ok', 'failed', 'ended') }),
  fc.record({ problems: fc.constant('src/**'), is: fc.constantFrom('none', 'some') }),
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
  fc.record({ news: fc.constantFrom(...NEWS) }),
  fc.record({ prints: fc.constantFrom(...LINES) }),
  fc.record({ becomes: fc.constantFrom(...HANDLE_STATES) }),
  fc.record({ task: fc.constantFrom(...TASK_ENDS) }),
  fc.record({ problems: fc.constantFrom(0, 0, 2) }),
  fc.constant('nothing' as const),
);

interface World {
  readonly files: ReadonlyMap<string, string>;
  readonly open: ReadonlySet<number>;
  readonly handle: (typeof HANDLE_STATES)[number];
  readonly printed: string;
  readonly problems: number;
}

/** A command that has ended does nothing more. */
function changed(world: World, one: Change): World {
  const next = { ...world, files: new Map(world.files), open: new Set(world.open) };
  const hasEnded = world.handle === 'ok' || world.handle === 'failed';
  if (one === 'nothing' || 'news' in one || 'task' in one) return next;
  if ('problems' in one) return { ...next, problems: one.problems };
  if ('becomes' in one) return hasEnded ? next : { ...next, handle: one.becomes };
  if ('prints' in one) return hasEnded ? next : { ...next, printed: `${world.printed}${one.prints}\n` };
  if ('port' in one) {
    if (one.open) next.open.add(one.port);
    else next.open.delete(one.port);
  } else if (one.text === undefined) next.files.delete(one.file);
  else next.files.set(one.file, one.text);
  return next;
}

const EMPTY: World = {
  files: new Map([['a', 'one']]),
  open: new Set([1]),
  handle: 'running',
  printed: 'ready before\n',
  problems: 1,
};

/** What happened up to a moment: the worlds since it was set, the first of them included, news and ends of tasks. */
interface History {
  readonly worlds: readonly World[];
  readonly news: readonly string[];
  readonly tasks: readonly string[];
  readonly passed: number;
}

function holds(condition: Condition, history: History): boolean {
  if ('all' in condition) return condition.all.every((one) => holds(one, history));
  if ('any' in condition) return condition.any.some((one) => holds(one, history));
  const { worlds, news, tasks, passed } = history;
  const now = worlds.at(-1) ?? EMPTY;
  if ('port' in condition) return now.open.has(condition.port) === (condition.is === 'open');
  if ('notify' in condition) return news.includes('script');
  if ('event' in condition) return condition.event !== 'gitlab' && news.includes('event');
  if ('notified' in condition) return news.includes('commit');
  if ('problems' in condition) return now.problems > 0 === (condition.is === 'some');
  if ('task' in condition) return condition.is === 'ended' ? tasks.length > 0 : tasks.includes(condition.is);
  if ('output' in condition) return now.printed.slice(EMPTY.printed.length).includes('ready');
  if ('handle' in condition)
    return condition.is === 'ended' ? ['ok', 'failed'].includes(now.handle) : now.handle === condition.is;
  if ('after' in condition) return passed >= Number(condition.after.slice(0, -1)) * 1000;
  if (!('file' in condition)) throw new Error('the test has no such atom');
  const { file, is } = condition;
  if (is === 'changed') return worlds.some((world) => world.files.get(file) !== worlds[0]?.files.get(file));
  return now.files.has(file) === (is === 'exists');
}

/** A command that has ended cannot become what it is not. */
function isImpossible(condition: Condition, history: History): boolean {
  if ('all' in condition) return condition.all.some((one) => isImpossible(one, history));
  if ('any' in condition) return condition.any.every((one) => isImpossible(one, history));
  const hasEnded = ['ok', 'failed'].includes(history.worlds.at(-1)?.handle ?? '');
  return ('handle' in condition || 'output' in condition) && hasEnded && !holds(condition, history);
}

/** The step in which it fires, and why; undefined: it holds at once, or not within these steps. */
function naive(condition: Condition, changes: readonly Change[], deadline: number) {
  const worlds = [EMPTY];
  const news: string[] = [];
  const tasks: string[] = [];
  const isTimer = 'after' in condition;
  for (const [step, one] of changes.entries()) {
    worlds.push(changed(worlds.at(-1) ?? EMPTY, one));
    if (one !== 'nothing' && 'news' in one) news.push(one.news);
    if (one !== 'nothing' && 'task' in one) tasks.push(one.task);
    for (const moment of [6000, 7500, 9500]) {
      const history = { worlds, news, tasks, passed: step * STEP + moment };
      if (holds(condition, history)) return { step, name: isTimer ? 'due' : 'met' };
      if (isImpossible(condition, history)) return { step, name: 'expired' };
      if (history.passed >= deadline) return { step, name: isTimer ? 'due' : 'expired' };
    }
  }
  return undefined;
}

/** The command of the world, of which each process makes its own handle. */
function handleIn({ handle: state, printed }: World): Handle {
  const hasEnded = state === 'ok' || state === 'failed';
  const bytes = new TextEncoder().encode(printed);
  const end = { cause: 'exited', code: state === 'ok' ? 0 : 1, signal: null, milliseconds: 1000 };
  const status = { startedAt: AT, inputOpen: true, size: bytes.length, kept: 0, ...(hasEnded && { end }) };
  // One byte less than there is: the rest comes with the next read.
  const read = async (from: number, limit: number) => ({
    from,
    bytes: bytes.slice(from, from + Math.max(1, limit - 1)),
  });
  const known = { conversation: 'c', run: 'r', name: 'h', milliseconds: 1000, lastLines: async () => '' };
  return { ...known, hasEnded, state: hasEnded ? 'stopped' : state, process: { status, read } } as unknown as Handle;
}

const AT = '2026-01-01T00:00:00.000Z';
const news: Readonly<Record<(typeof NEWS)[number], Omit<NotificationDraft, 'at' | 'level'>>> = {
  script: { kind: { source: 'script', name: 'x' }, message: 'A line.', origin: 'plugin' },
  event: {
    ...{ kind: { source: 'mcp', name: 'event' }, message: 'An event.', origin: 'mcp' },
    scopes: ['mcp:github', 'mcp:github/push'],
  },
  commit: { kind: { source: 'git', name: 'head_changed' }, message: 'Another commit.', origin: 'filesystem' },
};

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
  const reported = new Emitter<readonly FilePath[]>(() => undefined);
  const handleChanged = new Emitter<HandleChange>(() => undefined);
  const taskEnded = new Emitter<TaskEnd>(() => undefined);
  const changedFiles = [{ path: 'src/a.ts', absolute: '/src/a.ts' }];
  const start = () => {
    const started = clock.now();
    const serversStart = clock.after(SERVERS_START, () => reported.fire(changedFiles));
    const opened = { events: [...events], nextSeq: events.length + 1, damage: [], file: nowhere };
    const log = new ConversationLog({ id: 'c', opened, clock, ids, logger: silentLogger });
    const appended = log.onDidAppend(({ event }) => events.push(event));
    const wakes = new Wakes({
      ...{ clock, ids },
      logger: { ...silentLogger, error: (message, error) => expect.unreachable(`${message}: ${String(error)}`) },
      probe: async (port) => world.open.has(port),
      handles: { list: () => [handleIn(world)] as never, onDidChange: handleChanged.event },
      tasks: { list: async () => ({ ok: true, value: [{ name: 't', background: false }] }), onDidEnd: taskEnded.event },
      problems: {
        concerned: () => ['src/a.ts'],
        // As after a reload: before the servers have started, the list is empty.
        find: async () =>
          clock.now() - started < SERVERS_START ? { count: 0, unknown: 'starting' } : { count: world.problems },
        onDidChange: reported.event,
      },
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
    const running = wakes.start();
    const end = () => {
      running.dispose();
      serversStart.dispose();
      joined.dispose();
      wakes.dispose();
      appended.dispose();
    };
    return { log, wakes, end };
  };
  let process = start();
  const subscribed = { type: 'events_subscribed', name: 'g', identity: 'i', event: 'push', mode: 'push' } as const;
  for (const server of ['github', 'gitlab']) await process.log.append({ ...subscribed, name: server, server });
  clock.advance(6000);
  await afterTicks(2);
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
    reported.fire(changedFiles);
    handleChanged.fire({ type: 'state', handle: handleIn(world) });
    if (one !== 'nothing' && 'task' in one) {
      const end = { goesOn: false, exitCode: one.task === 'ok' ? 0 : 1, milliseconds: 1000, problems: [] };
      taskEnded.fire({ task: { name: 't', background: false }, ...end });
    }
    if (one !== 'nothing' && 'news' in one) {
      const at = new Date(clock.now()).toISOString();
      await enqueue(process.log, ids, { ...news[one.news], level: 'info', at });
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

test('a condition over files, ports, commands, tasks, problems, notifications and time fires once, when a naive evaluator says so, with a restart after every change', async () => {
  const seen = new Set<string>();
  await fc.assert(
    fc.asyncProperty(
      tree,
      fc.array(change, { minLength: 1, maxLength: 10 }),
      fc.integer({ min: 1, max: 7 }),
      fc.boolean(),
      async (condition, changes, steps, isTorn) => {
        const deadline = steps * STEP + 9000;
        const start = { worlds: [EMPTY], news: [], tasks: [], passed: 0 };
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

test.each<[Condition, Change[]]>([
  [{ all: [{ notify: 'x' }, { after: '7s' }] }, [{ news: 'script' }]],
  [{ all: [{ problems: 'src/**', is: 'some' }, { after: '7s' }] }, ['nothing']],
  [{ all: [{ port: 1, is: 'open' }, { after: '7s' }] }, ['nothing']],
])('the time of one part passes while the others hold: %j', async (condition, changes) => {
  expect(await real(condition, changes, 19_000, false)).toEqual([{ step: 0, name: 'met' }]);
});

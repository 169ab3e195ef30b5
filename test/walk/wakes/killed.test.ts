// Timers and conditions, also on commands, output and scripts, while their process is killed at random moments, sleeps, or finds another time of day: each fires
// exactly once. The process is the composition of the programs without an editor (`bin/headless/`).
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, test } from 'vitest';
import { realIds } from '../../../src/node/realIds.ts';
import { type LogEvent } from '../../../src/protocol/event.ts';
import { type Notification } from '../../../src/protocol/notification.ts';
import { atTestEnd } from '../../support/endings.ts';
import { isFull, runs } from '../../support/runs.ts';
import { fakeTimeFrom, hasFaketime, onlyTimeOfDay, setOffset } from '../../support/walk/fakeTime.ts';

const child = resolve(import.meta.dirname, '../../crash/wakesChild.ts');
const RUNS = runs(2, 20);
/** Timers and conditions, each. */
const EACH = 4;

interface Place {
  readonly root: string;
  readonly id: string;
}

async function makePlace(): Promise<Place> {
  const root = await mkdtemp(join(tmpdir(), 'earshot-wakes-'));
  atTestEnd(() => rm(root, { recursive: true, force: true, maxRetries: 5 }));
  await mkdir(join(root, 'workspace'));
  return { root, id: realIds.ulid() };
}

interface RunOptions {
  readonly count?: number;
  readonly after?: string;
  /** What the conditions wait for does not happen. */
  readonly untouched?: true;
  /** Also conditions on a command, its output and a script, and a repeated timer. */
  readonly all?: true;
  /** An offset of the time of day for libfaketime, such as `+2h`. */
  readonly clock?: string;
  /** A file with such an offset (`setOffset`), which may change while the process runs. */
  readonly clockFile?: string;
}

/** Runs the process until `enough` says so after a line, then kills it. */
async function runAndKill(
  { root, id }: Place,
  run: number,
  { count = 0, after = '1s', untouched, all, clock, clockFile }: RunOptions,
  enough: (lines: readonly string[], pid: number) => boolean | Promise<boolean>,
): Promise<readonly string[]> {
  const about = [
    root,
    id,
    String(run),
    String(count),
    after,
    untouched === true ? 'untouched' : 'touched',
    all ? 'all' : '',
  ];
  const program = [process.execPath, '--no-warnings', child, ...about];
  const [name = '', ...args] = clock === undefined ? program : ['faketime', '-f', clock, ...program];
  const env = { ...process.env, ...onlyTimeOfDay, ...(clockFile !== undefined && fakeTimeFrom(clockFile)) };
  const running = spawn(name, args, { stdio: ['ignore', 'pipe', 'inherit'], env, detached: true });
  const pid = running.pid ?? 0;
  const ended = once(running, 'exit');
  const lines: string[] = [];
  let isKilled = false;
  for await (const line of createInterface({ input: running.stdout })) {
    lines.push(line);
    if (isKilled || !(await enough(lines, pid))) continue;
    isKilled = true;
    process.kill(-pid, 'SIGKILL');
  }
  await ended;
  expect(lines.filter((line) => line.startsWith('error'))).toEqual([]);
  return lines;
}

async function eventsOf({ root, id }: Place): Promise<readonly LogEvent[]> {
  const text = await readFile(join(root, 'storage/conversations', id, 'events.jsonl'), 'utf8');
  // The last line may have been cut off by a kill.
  return text.split('\n').flatMap((line) => {
    try {
      return [JSON.parse(line) as LogEvent];
    } catch {
      return [];
    }
  });
}

async function firesOf(place: Place): Promise<readonly Notification[]> {
  const events = await eventsOf(place);
  return events.flatMap((event) =>
    event.type === 'notification_queued' && event.notification.grant !== undefined ? [event.notification] : [],
  );
}

/** The timers and conditions that have not fired yet. */
async function dueIn(place: Place): Promise<readonly string[]> {
  const fired = (await firesOf(place)).map(({ data }) => String(data?.['wake']));
  const events = await eventsOf(place);
  return events.flatMap((event) => (event.type === 'wake_set' && !fired.includes(event.name) ? [event.name] : []));
}

const isIdle = (lines: readonly string[]) => lines.includes('idle');
const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** A repeated timer fires as often as was granted, and names each of its due times in one fire. */
async function expectEachDueTimeOnce(
  place: Place,
  names: readonly string[],
  fires: readonly Notification[],
): Promise<void> {
  const events = await eventsOf(place);
  expect(names).not.toEqual([]);
  for (const name of names) {
    const set = events.find((event) => event.type === 'wake_set' && event.name === name);
    const of = fires.filter(({ data }) => data?.['wake'] === name);
    expect(of).toHaveLength(4);
    let through = Date.parse(set?.timestamp ?? '');
    for (const { at, data } of of) {
      through += 500 * (1 + Number(data?.['missed'] ?? 0));
      expect(Date.parse(at)).toBe(through);
    }
  }
}

test(
  `each timer and condition fires exactly once when its process is killed ${RUNS} times`,
  async () => {
    const place = await makePlace();
    const set: string[] = [];
    for (let run = 0; run < RUNS; run += 1) {
      // After some of them are on disk, at any moment until all were due.
      // The first time all of them, so that there are some of each kind.
      const least = run === 0 ? Infinity : 2 + Math.floor(Math.random() * EACH * 3);
      const hasDue = run > 0 && (await dueIn(place)).length > 0;
      const more = Math.random() * 2500;
      const lines = await runAndKill(place, run, { count: EACH, all: true }, async (all) => {
        const isSet = all.filter((line) => line.startsWith('set ')).length >= least || all.includes('settled');
        if (!isSet) return false;
        await pause(all.length > least + 2 ? more : more / 10);
        return true;
      });
      if (hasDue) expect(lines[0]).toBe('due true');
      set.push(...lines.flatMap((line) => (line.startsWith('set ') ? [line.slice(4)] : [])));
    }
    await runAndKill(place, RUNS, { all: true }, isIdle);
    const fires = await firesOf(place);
    const isRepeated = (name: string) => name.startsWith('r');
    const names = fires.map(({ data }) => String(data?.['wake'])).filter((name) => !isRepeated(name));
    expect(set.length).toBeGreaterThanOrEqual(RUNS);
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
    expect(set.filter((name) => !names.includes(name) && !isRepeated(name))).toEqual([]);
    for (const kind of ['c', 't', 'o', 'h', 'n']) expect(names.filter((name) => name.startsWith(kind))).not.toEqual([]);
    // Nothing was due that could not be met.
    expect(fires.filter(({ kind }) => kind.name === 'expired')).toEqual([]);
    await expectEachDueTimeOnce(place, set.filter(isRepeated), fires);
    // The grant of each was used once, and woke the model once.
    const events = await eventsOf(place);
    const granted = events.filter((event) => event.type === 'wake_granted');
    expect(new Set(granted.map(({ id }) => id)).size).toBe(granted.length);
  },
  RUNS * 90_000 + 120_000,
);

test.skipIf(!hasFaketime)(
  'what was due while nothing ran fires once at the next start, and a timer says that it is late',
  async () => {
    const place = await makePlace();
    await runAndKill(
      place,
      0,
      { count: 1, after: '20m', untouched: true },
      (lines) => lines.includes('set c0-0') && lines.includes('set t0-0'),
    );
    expect(await firesOf(place)).toEqual([]);
    await runAndKill(place, 0, { clock: '+3h', untouched: true }, isIdle);
    const fires = await firesOf(place);
    expect(fires.map(({ kind }) => kind.name).toSorted()).toEqual(['due', 'expired']);
    const late = fires.find(({ kind }) => kind.name === 'due');
    expect(late?.message).toMatch(/is due\. It was due at (?:[\d-]+ )?\d\d:\d\d; it is (?:[\d-]+ )?\d\d:\d\d now\.$/);
  },
  60_000,
);

test.skipIf(!hasFaketime)(
  'a clock that was set back by a day does not make a timer wait for a day',
  async () => {
    const place = await makePlace();
    await runAndKill(
      place,
      0,
      { count: 1, after: '3s' },
      (lines) => lines.includes('set c0-0') && lines.includes('set t0-0'),
    );
    const before = Date.now();
    await runAndKill(place, 0, { clock: '-1d' }, isIdle);
    expect(Date.now() - before).toBeLessThan(20_000);
    expect(await firesOf(place)).toHaveLength(2);
  },
  60_000,
);

/** They may wait for half a minute: the system does not tell timers that it has slept. */
test.skipIf(!hasFaketime || !isFull).each([
  ['while the machine sleeps for three hours', '20m', 3, true],
  ['while the time of day is set forward by three hours', '20m', 3, false],
  ['while the time of day is set back by a day', '6s', -24, false],
] as const)(
  '%s, a running process fires each timer and condition exactly once, and soon after',
  async (_what, after, offset, sleeps) => {
    const place = await makePlace();
    const clockFile = join(place.root, 'clock');
    await setOffset(clockFile, 0);
    await runAndKill(place, 0, { count: 2, after, clockFile }, async (lines, pid) => {
      if (lines.filter((line) => line.startsWith('set ')).length < 4) return false;
      if (sleeps) process.kill(-pid, 'SIGSTOP');
      await setOffset(clockFile, offset);
      if (sleeps) process.kill(-pid, 'SIGCONT');
      await expect.poll(() => firesOf(place), { timeout: 90_000 }).toHaveLength(4);
      return true;
    });
    const fires = await firesOf(place);
    // A condition may find its deadline before the file that it waits for.
    expect(fires.map(({ data }) => String(data?.['wake'])).toSorted()).toEqual(['c0-0', 'c0-1', 't0-0', 't0-1']);
    if (offset > 0) expect(fires.filter(({ message }) => message.includes('It was due at'))).toHaveLength(2);
  },
  180_000,
);

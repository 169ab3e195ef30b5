// The process that follows lines of a command, of a file and of scripts is killed at random moments, sleeps, and finds
// another time of day: each line is in the log exactly once.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, copyFile, mkdir, mkdtemp, readFile, rename, rm, truncate } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { writeEntry } from '../../../src/node/scripts/scriptSpool.ts';
import { type LogEvent } from '../../../src/protocol/event.ts';
import { compileCache } from '../../support/compileCache.ts';
import { atTestEnd } from '../../support/endings.ts';
import { startScriptedServer } from '../../support/models/scriptedServer.ts';
import { firstUnlessFull, runs } from '../../support/runs.ts';
import { fakeTimeFrom, hasFaketime, setOffset } from '../../support/walk/fakeTime.ts';

const program = resolve(import.meta.dirname, '../../support/walk/durableWindow.ts');
const KILLS = runs(2, 20);
/** The windows live for up to this long. */
const LIFE = 1500;

interface Folders {
  readonly root: string;
  readonly home: string;
  readonly baseUrl: string;
  /** The offset of the time of day of all programs, if it changes. */
  readonly clock: string | undefined;
}

async function startWindow(
  { root, home, baseUrl, clock }: Folders,
  conversation = '',
): Promise<{ child: ChildProcess; id: string }> {
  const child = spawn(process.execPath, ['--no-warnings', program, root, baseUrl, home, conversation], {
    env: { ...process.env, ...compileCache, ...(clock !== undefined && fakeTimeFrom(clock)) },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  atTestEnd(async () => void child.kill('SIGKILL'));
  const [printed] = (await once(child.stdout, 'data')) as [Buffer];
  return { child, id: printed.toString('utf8').trim() };
}

async function kill(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}

async function eventsIn({ root }: Folders, id: string) {
  const text = await readFile(join(root, 'storage', 'conversations', id, 'events.jsonl'), 'utf8');
  return text.split('\n').flatMap((line) => (line.endsWith('}') ? [JSON.parse(line) as LogEvent] : []));
}

async function queuedIn(folders: Folders, id: string) {
  const events = await eventsIn(folders, id);
  return events.flatMap((event) => (event.type === 'notification_queued' ? [event.notification] : []));
}

type Queued = Awaited<ReturnType<typeof queuedIn>>;

/** How many lines were reported for this source, and which of them were shown. */
function linesOf(queued: Queued, target: string): { readonly count: number; readonly shown: readonly string[] } {
  const matched = queued.filter(({ kind, scopes = [] }) => kind.source === 'output' && scopes.includes(target));
  const counts = matched.map(({ data }) => {
    const { matches = {} } = data?.['searched'] as { readonly matches?: Readonly<Record<string, number>> };
    return Object.values(matches).reduce((sum, count) => sum + count, 0);
  });
  return {
    count: counts.reduce((sum, count) => sum + count, 0),
    shown: matched.flatMap(({ message }) => message.match(/^\| hit \d+$/gm) ?? []),
  };
}

const linesFromScripts = (queued: Queued) =>
  queued.flatMap(({ kind, data }) =>
    kind.source === 'script' ? (data?.['lines'] as { readonly id: string }[]).map(({ id }) => id) : [],
  );

/** The two ways of programs that rotate logs. */
const rotations: readonly (readonly [string, (log: string, to: string) => Promise<void>])[] = [
  ['is renamed', rename],
  [
    'is copied and emptied',
    async (log, to) => {
      await copyFile(log, to);
      await truncate(log);
    },
  ],
];

/** By how many hours the time of day is wrong when the first window starts, when it wakes, when the next one starts … */
const OFFSETS = [0, 3, -24] as const;
const JUMPS = runs(1, 20);

/** `jumps`: before each kill a window sleeps until another time of day, and the next window finds yet another one. */
async function expectEachOnce(
  rotate: (log: string, to: string) => Promise<void>,
  kills: number,
  jumps = false,
): Promise<void> {
  const root = await mkdtemp(join(tmpdir(), 'earshot-killed-'));
  atTestEnd(() => rm(root, { recursive: true, force: true, maxRetries: 10 }));
  await mkdir(join(root, 'workspace'));
  const notify_on = ['/^hit \\d+$/'];
  const command = `i=0; while [ ! -e stop ]; do i=$((i+1)); echo "miss $i"; echo "hit $i"; sleep 0.02; done; echo $i > count`;
  const server = await startScriptedServer(
    {
      calls: [
        { id: 'a', name: 'run_command', arguments: { command, background: true, handle: 'job', notify_on } },
        { id: 'b', name: 'watch', arguments: { tail: [{ path: 'app.log', notify_on }] } },
      ],
    },
    { text: ['Done.'] },
  );
  atTestEnd(() => server.stop());
  const clock = jumps ? join(root, 'clock') : undefined;
  const folders = { root, home: join(root, 'home'), baseUrl: server.baseUrl, clock };
  let changes = 0;
  const offset = () => OFFSETS[changes % OFFSETS.length] ?? 0;
  const changeClock = async () => {
    changes += 1;
    if (clock !== undefined) await setOffset(clock, offset());
  };
  if (clock !== undefined) await setOffset(clock, offset());
  const log = join(root, 'workspace', 'app.log');
  const first = await startWindow(folders);
  const { id } = first;
  let { child } = first;
  const scripts: string[] = [];
  let written = 0;
  const writing = { on: true };
  atTestEnd(async () => void (writing.on = false));
  const writer = (async () => {
    while (writing.on) {
      written += 1;
      await appendFile(log, `hit ${written}\nmiss\n`);
      // Often several times while no window looks.
      if (written % 50 === 0) await rotate(log, `${log}.${written / 50}`);
      const entry = {
        at: new Date().toISOString(),
        dir: root,
        text: `line ${written}`,
        name: 'line',
        level: 'info' as const,
      };
      // The spool takes at most 1,000, and a window that starts slowly takes none.
      if (written % 5 === 0 && scripts.length - linesFromScripts(await queuedIn(folders, id)).length < 300)
        scripts.push(await writeEntry({ ...entry, to: id }, folders.home));
      await pause(20);
    }
  })();
  /** How far the time of the newest event is from the one that is set, in hours. */
  const hoursApart = async () => {
    const { timestamp = '' } = (await eventsIn(folders, id)).at(-1) ?? {};
    return Math.abs((Date.parse(timestamp) - Date.now()) / 3_600_000 - offset());
  };
  for (let count = 0; count < kills; count += 1) {
    await pause(Math.random() * LIFE);
    if (clock !== undefined) {
      await expect.poll(hoursApart, { timeout: 60_000 }).toBeLessThan(1);
      child.kill('SIGSTOP');
      await changeClock();
      child.kill('SIGCONT');
      await expect.poll(hoursApart, { timeout: 60_000 }).toBeLessThan(1);
      await pause(Math.random() * LIFE);
    }
    await kill(child);
    await changeClock();
    ({ child } = await startWindow(folders, id));
  }
  writing.on = false;
  await writer;
  await appendFile(join(root, 'workspace', 'stop'), '');
  const printed = async () => Number(await readFile(join(root, 'workspace', 'count'), 'utf8').catch(() => '-1'));
  await expect.poll(printed, { timeout: 120_000 }).toBeGreaterThan(0);
  const total = await printed();
  const counts = async () => {
    const queued = await queuedIn(folders, id);
    return [
      linesOf(queued, 'handle:job').count,
      linesOf(queued, 'file:app.log').count,
      linesFromScripts(queued).length,
    ];
  };
  await expect.poll(counts, { timeout: 240_000, interval: 500 }).toEqual([total, written, scripts.length]);
  const queued = await queuedIn(folders, id);
  for (const target of ['handle:job', 'file:app.log']) {
    const { shown } = linesOf(queued, target);
    expect(shown.length).toBeGreaterThan(kills);
    expect(new Set(shown).size).toBe(shown.length);
  }
  expect(linesFromScripts(queued).sort()).toEqual(scripts.sort());
  await kill(child);
}

const TITLE = 'each line of a command, of a file that %s by a rotation and of scripts is in the log exactly once';
const timeout = (kills: number) => kills * 60_000 + 480_000;

test.each(rotations)(
  `killed ${KILLS} times, ${TITLE}`,
  (_how, rotate) => expectEachOnce(rotate, KILLS),
  timeout(KILLS),
);

test.skipIf(!hasFaketime).each(firstUnlessFull(rotations))(
  `killed ${JUMPS} times while the time of day is set forward and back, ${TITLE}`,
  (_how, rotate) => expectEachOnce(rotate, JUMPS, true),
  timeout(JUMPS),
);

// A window under load is killed repeatedly, also while its disk fails: nothing acknowledged is lost, nothing is stored or
// delivered twice, the log always opens.
import { execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { ConversationLog } from '../../../src/core/conversation/log.ts';
import { openOrFollow } from '../../../src/core/conversation/opening.ts';
import { platform } from '../../../src/node/platform/platform.ts';
import { realFileSystem } from '../../../src/node/files/fileSystem.ts';
import { realClock } from '../../../src/node/realClock.ts';
import { realIds } from '../../../src/node/realIds.ts';
import { createStorage } from '../../../src/storage/storage.ts';
import { parseLines, settle } from '../../support/log/logOracle.ts';
import { silentLogger } from '../../support/log/memoryStorage.ts';
import { runs } from '../../support/runs.ts';

const child = resolve(import.meta.dirname, '../../crash/child.ts');
/** `npm run test:crash` uses 500. */
const RUNS = Number(process.env['EARSHOT_CRASH_RUNS'] ?? runs(5, 25));
/** A new log is started after this many runs, so that it does not grow without limit. */
const RUNS_A_LOG = 25;

test(
  `nothing is lost or delivered twice when a window under load is killed ${RUNS} times`,
  async () => {
    for (let first = 0; first < RUNS; first += RUNS_A_LOG) await killAgainAndAgain(Math.min(RUNS_A_LOG, RUNS - first));
  },
  RUNS * 60_000,
);

/** Where Debian's package fiu-utils is missing, these tests are skipped; also in the posix lane, which has the same faults. */
const hasFiu = platform.name === 'linux' && spawnSync('fiu-run', ['-h']).error === undefined;
const FAULTS: readonly (readonly [string, Readonly<Record<string, number>>])[] = [
  ['writes fail or are short', { 'posix/io/rw/write': 0.01, 'posix/io/rw/write/reduce': 0.01 }],
  ['writes fail and files cannot be cut', { 'posix/io/rw/write': 0.01, 'posix/io/rw/ftruncate': 0.5 }],
];

test.skipIf(!hasFiu).each(FAULTS)(
  'nothing is lost, doubled or delivered twice while %s at random',
  async (_, probabilities) => {
    const faults = Object.entries(probabilities).flatMap(([name, probability]) => [
      '-c',
      `enable_random name=${name},probability=${probability}`,
    ]);
    await killAgainAndAgain(runs(5, 25), faults);
  },
  RUNS_A_LOG * 60_000,
);

/** `faults` are options of libfiu for the window. */
async function killAgainAndAgain(runs: number, faults: readonly string[] = []): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'earshot-crash-'));
  const id = realIds.ulid();
  const acknowledged: string[] = [];
  let failures = 0;
  try {
    // Faults are random: it goes on until some writes have failed and some have not.
    const isShown = () => faults.length === 0 || Math.min(failures, acknowledged.length) > 0;
    for (let run = 0; run < runs || !isShown(); run++) {
      const lines = await runAndKill(folder, id, run, faults);
      const failed = lines.filter((line) => /^(?:error|failed)/.test(line));
      failures += failed.length;
      expect(lines[0]).toBe('owned');
      if (faults.length === 0) expect(failed).toEqual([]);
      for (const line of lines) {
        const [what, mark = ''] = line.split(' ');
        if (what === 'queued') acknowledged.push(`mark ${mark};`);
        if (what === 'sent') acknowledged.push(`request ${mark};`);
      }
      await check(folder, id, acknowledged);
    }
    if (faults.length === 0) expect(acknowledged.length).toBeGreaterThan(runs * 20);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Kills the window after a random number of acknowledgements. An incomplete last line is not an acknowledgement. */
async function runAndKill(
  folder: string,
  id: string,
  run: number,
  faults: readonly string[],
): Promise<readonly string[]> {
  const pipe = join(folder, 'faults');
  const window = [process.execPath, '--no-warnings', child, folder, id, String(run)];
  const [program = '', ...args] = faults.length === 0 ? window : ['fiu-run', '-x', '-f', pipe, ...window];
  // A failed write to a pipe of libuv aborts Node, which says so.
  const running = spawn(program, args, { stdio: ['ignore', 'pipe', faults.length === 0 ? 'inherit' : 'ignore'] });
  const gone = new AbortController();
  const ended = once(running, 'exit').finally(() => gone.abort());
  const lines: string[] = [];
  /** With faults, of acknowledgements and failures after the first failure. */
  const enough = 20 + Math.floor(Math.random() * 200);
  let counted = 0;
  for await (const line of createInterface({ input: running.stdout })) {
    lines.push(line);
    // Not before, because a program that has just started writes to little else than pipes.
    if (lines.length === 1 && faults.length > 0) await inject(pipe, [...faults, String(running.pid)], gone.signal);
    if (faults.length === 0 || counted > 0 || line.startsWith('failed')) counted += 1;
    if (counted === enough) running.kill('SIGKILL');
  }
  await ended;
  return lines;
}

/** `gone`: the process has ended, and `fiu-ctrl` would wait for it for ever. */
async function inject(pipe: string, args: readonly string[], gone: AbortSignal): Promise<void> {
  await promisify(execFile)('fiu-ctrl', ['-f', pipe, ...args], { signal: gone }).catch(() => undefined);
}

async function check(folder: string, id: string, acknowledged: readonly string[]): Promise<void> {
  const parts = { clock: realClock, ids: realIds, logger: silentLogger, window: 'parent' };
  const storage = createStorage({ files: realFileSystem, folder, ...parts });
  const opening = await openOrFollow(storage, id);
  if (!opening.ok) throw new Error(opening.failure.message);
  const log = new ConversationLog({ id, opened: opening.value.opened, ...parts });
  expect([log.owned, log.damage]).toEqual([true, []]);
  const text = await readFile(join(folder, 'conversations', id, 'events.jsonl'), 'utf8');
  const events = parseLines(text);
  const written = events.flatMap((event) => {
    if (event.type === 'notification_queued') return markOf(event.notification.message);
    return event.type === 'chat_request' ? markOf(event.content) : [];
  });
  const there = new Set(written);
  expect(acknowledged.filter((mark) => !there.has(mark))).toEqual([]);
  expect(written).toHaveLength(there.size);
  const { states } = settle(events);
  expect([...states.values()].filter((all) => all.length !== 1)).toEqual([]);
  const pending = [...states].filter(([, all]) => all[0] === 'pending').map(([queued]) => queued);
  expect(log.state.pending.notifications.map((notification) => notification.id)).toEqual(pending);
  await log.close();
  await opening.value.lock?.release();
}

function markOf(text: string): string {
  return /^(?:mark|request) [\d-]+;/.exec(text)?.[0] ?? text;
}

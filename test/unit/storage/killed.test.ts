// A window under load is killed repeatedly: nothing acknowledged is lost, nothing is delivered twice, the log always opens.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, test } from 'vitest';
import { ConversationLog } from '../../../src/core/conversation/log.ts';
import { openOrFollow } from '../../../src/core/conversation/opening.ts';
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

async function killAgainAndAgain(runs: number): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'earshot-crash-'));
  const id = realIds.ulid();
  const acknowledged: string[] = [];
  try {
    for (let run = 0; run < runs; run++) {
      const lines = await runAndKill(folder, id, run);
      expect(lines[0]).toBe('owned');
      expect(lines.filter((line) => line.startsWith('error'))).toEqual([]);
      for (const line of lines) {
        const [what, mark = ''] = line.split(' ');
        if (what === 'queued') acknowledged.push(`mark ${mark};`);
        if (what === 'sent') acknowledged.push(`request ${mark};`);
      }
      await check(folder, id, acknowledged);
    }
    expect(acknowledged.length).toBeGreaterThan(runs * 20);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Kills the window after a random number of acknowledgements. An incomplete last line is not an acknowledgement. */
async function runAndKill(folder: string, id: string, run: number): Promise<string[]> {
  const running = spawn(process.execPath, ['--no-warnings', child, folder, id, String(run)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(running, 'exit');
  const lines: string[] = [];
  const enough = 20 + Math.floor(Math.random() * 200);
  for await (const line of createInterface({ input: running.stdout })) {
    lines.push(line);
    if (lines.length === enough) running.kill('SIGKILL');
  }
  await ended;
  return lines;
}

async function check(folder: string, id: string, acknowledged: readonly string[]): Promise<void> {
  const parts = { clock: realClock, ids: realIds, logger: silentLogger, window: 'parent' };
  const storage = createStorage({ files: realFileSystem, folder, ...parts });
  const opening = await openOrFollow(storage, id);
  if (!opening.ok) throw new Error(opening.failure.message);
  const log = new ConversationLog({ id, opened: opening.value.opened, ...parts });
  expect([log.owned, log.damage]).toEqual([true, []]);
  const text = await readFile(join(folder, 'conversations', id, 'events.jsonl'), 'utf8');
  const there = new Set([...text.matchAll(/(?:mark|request) [\d-]+;/g)].map(([mark]) => mark));
  expect(acknowledged.filter((mark) => !there.has(mark))).toEqual([]);
  const { states } = settle(parseLines(text));
  expect([...states.values()].filter((all) => all.length !== 1)).toEqual([]);
  const pending = [...states].filter(([, all]) => all[0] === 'pending').map(([queued]) => queued);
  expect(log.state.pending.notifications.map((notification) => notification.id)).toEqual(pending);
  await log.close();
  await opening.value.lock?.release();
}

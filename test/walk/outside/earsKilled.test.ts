// Whatever kills earshot-ears or takes its place, each occurrence reaches the agent exactly once: twenty kills at random
// moments, and a folder that changes hands between earshot-ears and windows while lines of scripts and of a log come in
// and timers are due.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { writeEntry } from '../../../src/node/scripts/scriptSpool.ts';
import { agentProcess } from '../../../src/node/agentProcess.ts';
import { attachListener } from '../../../src/plugins/client/listenerClient.ts';
import { pokeWindows } from '../../../src/plugins/client/pokeWindows.ts';
import { type SearchedLines } from '../../../src/protocol/lines/lineWatch.ts';
import { compileCache } from '../../support/compileCache.ts';
import { atTestEnd } from '../../support/endings.ts';
import { type EarsWorld, makeEarsWorld, outsideEvents, queuedFor, untilWatched } from '../../support/plugins/ears.ts';
import { useTool } from '../../support/plugins/outsideAgents.ts';
import { readFileAs } from '../../support/plugins/outsideWorld.ts';
import { runs } from '../../support/runs.ts';

const KILLS = runs(3, 20);
const HANDOVERS = runs(1, 6);
const LONGEST_PAUSE = 120;
const CHANGE_EVERY = 8;
const LOG = 'build.log';

/** Timers that are due while everything is killed. */
const TIMERS = [1, 3, 5, 8, 12];

/** The agent waits for lines of a log, and for timers. */
async function waitForMore(world: EarsWorld): Promise<void> {
  const { folder, home } = world;
  const client = agentProcess(process.pid);
  const agent = await attachListener(folder, { agent: 'claude-code', version: '1', session: 's1', client }, home);
  await agent?.request('call', { tool: 'tail', arguments: { tail: [{ path: LOG, notify_on: ['ding'] }] } });
  for (const seconds of TIMERS) {
    const timer = { name: `t${seconds}`, when: { after: `${seconds}s` } };
    await agent?.request('call', { tool: 'wake_when', arguments: timer });
  }
  agent?.close();
}

/** Each timer has fired once, and each line was counted once. */
async function expectMoreOnce(world: EarsWorld, count: number): Promise<void> {
  const found = async (source: string) => (await queuedFor(world)).filter(({ kind }) => kind.source === source);
  const lines = async () => {
    const all = (await found('output')).map(({ data }) => data?.['searched'] as SearchedLines);
    return all.reduce((sum, { matches = {} }) => sum + (matches['0'] ?? 0), 0);
  };
  const fired = async () => (await found('time')).map(({ data }) => data?.['wake']).sort();
  await expect.poll(lines, { timeout: 60_000 }).toBe(count);
  await expect.poll(fired, { timeout: 60_000 }).toEqual(TIMERS.map((seconds) => `t${seconds}`).sort());
}

/** Occurrences, which are lines of scripts and of a log, and changes of a file that the agent has read. */
function startLoad({ folder, home }: EarsWorld) {
  let [count, stopped] = [0, false];
  const run = async () => {
    while (!stopped) {
      const number = count++;
      if (number % CHANGE_EVERY === 0) await appendFile(join(folder, 'src/menu.txt'), `soda ${number}\n`);
      await appendFile(join(folder, LOG), `ding ${number}\n`);
      const entry = { at: new Date().toISOString(), dir: folder, text: `bell ${number}`, name: 'bell', level: 'info' };
      const id = await writeEntry({ ...entry, level: 'info' }, home);
      // Whoever watches may be gone at this moment: then the spool keeps the line.
      await pokeWindows(id, folder, false, home);
      await sleep(Math.random() * LONGEST_PAUSE);
    }
  };
  const done = run();
  return {
    stop: async () => {
      stopped = true;
      await done;
      return count;
    },
  };
}

/** Claude uses tools all the time. Everything that its hooks have printed. */
function startAgent(world: EarsWorld) {
  const texts: string[] = [];
  let stopped = false;
  const run = async () => {
    while (!stopped) {
      texts.push(await useTool(world, { mayComplain: true }));
      await sleep(Math.random() * LONGEST_PAUSE);
    }
  };
  const done = run();
  return {
    /** Resolves once all bells were told, or no more are for a long time, and nothing comes after that. */
    stop: async (bells: number) => {
      stopped = true;
      await done;
      await untilWatched(world);
      const told = async () => bellsIn(texts.join('\n')).length + (await countedBells(world)).length;
      for (let quiet = 0; quiet < ((await told()) < bells ? 50 : 3); ) {
        // A busy machine may end the hook before it has anything.
        const text = await useTool(world, { mayComplain: true });
        texts.push(text);
        quiet = text === '' ? quiet + 1 : 0;
        await sleep(400);
      }
      return texts.join('\n');
    },
  };
}

const numbersIn = (text: string, pattern: RegExp) =>
  [...text.matchAll(pattern)].map(([, number]) => Number(number)).sort((a, b) => a - b);
const bellsIn = (text: string) => numbersIn(text, /^\| bell (\d+)\b/gm);

/** Bells beyond the limit of one delivery, which the agent got as a number and can read. */
async function countedBells(world: EarsWorld): Promise<readonly number[]> {
  const events = await outsideEvents(world);
  const ids = new Set(
    events.flatMap((event) => ('notifications' in event ? (event.notifications as { counted: string[] }).counted : [])),
  );
  return events.flatMap((event) =>
    event.type === 'notification_queued' && ids.has(event.notification.id) ? bellsIn(event.notification.message) : [],
  );
}

async function expectEachOnce(world: EarsWorld, text: string, count: number): Promise<void> {
  const told = [...bellsIn(text), ...(await countedBells(world))].sort((a, b) => a - b);
  expect(told).toEqual(Array.from({ length: count }, (_, index) => index));
  // A change that nobody watched may be reported without its lines, but none is shown twice.
  const sodas = numbersIn(text, /^\+soda (\d+)\b/gm);
  expect(sodas).toEqual([...new Set(sodas)]);
  expect(text).toContain('src/menu.txt');
}

test(`killed ${KILLS} times at random moments while lines come in, it tells each once`, {
  timeout: 240_000 + KILLS * 15_000,
}, async () => {
  const world = await makeEarsWorld();
  await untilWatched(world);
  await useTool(world, { event: 'SessionStart' });
  await readFileAs(world);
  await waitForMore(world);
  const load = startLoad(world);
  const agent = startAgent(world);
  let killed = 0;
  while (killed < KILLS) {
    await sleep(Math.random() * 700);
    const state = await world.state();
    if (state === undefined) continue;
    process.kill(state.pid, 'SIGKILL');
    killed += 1;
  }
  const count = await load.stop();
  await expectEachOnce(world, await agent.stop(count), count);
  await expectMoreOnce(world, count);
});

const program = resolve(import.meta.dirname, '../../support/plugins/listeningWindow.ts');

async function startWindow({ root, home }: EarsWorld): Promise<ChildProcess> {
  const env = { PATH: process.env['PATH'] ?? '', HOME: home, EARSHOT_HOME: home, ...compileCache };
  const child = spawn(process.execPath, ['--no-warnings', program, root], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  atTestEnd(async () => void child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  return child;
}

test('the folder changes hands between it and windows while lines come in: each is told once', {
  timeout: 300_000,
}, async () => {
  const world = await makeEarsWorld();
  await untilWatched(world);
  await useTool(world, { event: 'SessionStart' });
  await readFileAs(world);
  await waitForMore(world);
  const load = startLoad(world);
  const agent = startAgent(world);
  for (let index = 0; index < HANDOVERS; index += 1) {
    const window = await startWindow(world);
    expect(await world.state()).toBeUndefined();
    await sleep(Math.random() * 1500);
    const ended = once(window, 'exit');
    window.kill('SIGKILL');
    await ended;
    await expect.poll(() => world.state(), { timeout: 60_000 }).toBeDefined();
    await sleep(Math.random() * 1500);
  }
  const count = await load.stop();
  await expectEachOnce(world, await agent.stop(count), count);
  await expectMoreOnce(world, count);
});

// Measures what the hook costs another agent for each tool call with earshot-ears: a process of Node alone, nobody
// watches, nothing is pending, a notification is delivered, and the first call, which starts earshot-ears.
import { spawn } from 'node:child_process';
import { mkdir, realpath, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'esbuild';
import { hook, nodePrograms } from '../../esbuild.mjs';
import { writeEntry } from '../../src/node/scripts/scriptSpool.ts';
import { endEars, recordEarsProgram } from '../../src/plugins/client/ears.ts';
import { pokeWindows } from '../../src/plugins/client/pokeWindows.ts';
import { createEarsApprovals } from '../../src/plugins/host/approvedPrograms.ts';
import { listenKey } from '../../src/plugins/host/consent.ts';
import { newTemporaryFolder } from '../host/install/cache.mjs';
import { runToExit } from '../host/processes/lifetime.mjs';
import { median } from './withEditor.ts';

const ROUNDS = 50;
/** The agent waits for the hook with every tool call: at most this many times as long as for a process of Node alone. */
const GOAL = 4;

await runToExit(async () => {
  const root = await realpath(await newTemporaryFolder());
  const [programs, home, folder] = [join(root, 'programs'), join(root, 'home'), join(root, 'folder')];
  for (const made of [home, join(folder, '.git')]) await mkdir(made, { recursive: true });
  await writeFile(join(folder, 'menu.txt'), 'tea\n');
  const options = { outdir: programs, minify: true, sourcemap: false, logLevel: 'error' as const };
  await build({ ...nodePrograms, ...options, entryPoints: { ears: 'src/bin/ears.ts' } });
  await build({ ...hook, ...options });
  const program = join(programs, 'notifications-hook.js');
  const run = (args: readonly string[]) => runOnce(args, { home, folder });
  const times = async (args: readonly string[], before: () => Promise<unknown> = async () => undefined) => {
    const found: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      await before();
      found.push((await run(args)).milliseconds);
    }
    return median(found);
  };
  const node = await times(['-e', '0']);
  const nobody = await times([program]);
  await recordEarsProgram({ node: process.execPath, program: join(programs, 'ears.js') }, home);
  const logger = { debug: () => undefined, info: () => undefined, warn: console.warn, error: console.error };
  await createEarsApprovals(home, logger).add(listenKey('claude-code'));
  const first = (await run([program])).milliseconds;
  const nothing = await times([program]);
  const ring = async () => {
    const entry = { at: new Date().toISOString(), dir: folder, text: 'the oven is hot', name: 'oven', level: 'info' };
    await pokeWindows(await writeEntry({ ...entry, level: 'info' }, home), folder, false, home);
  };
  const delivered = await times([program], ring);
  await ring();
  const { output } = await run([program]);
  await endEars(folder, home);
  const print = (what: string, milliseconds: number) => console.log(`  ${what}: ${milliseconds.toFixed(0)} ms`);
  console.log(`one call of the hook, median of ${ROUNDS}`);
  print('control: node -e 0', node);
  print('nobody watches', nobody);
  print('nothing is pending', nothing);
  print('a notification is delivered', delivered);
  print('the first call, which starts earshot-ears (once)', first);
  const met = output.includes('the oven is hot') && Math.max(delivered, nothing) <= GOAL * node;
  console.log(`  at most ${GOAL} times the control: ${met ? 'met' : 'MISSED'}`);
  return met ? 0 : 1;
});

function runOnce(args: readonly string[], { home, folder }: { home: string; folder: string }) {
  const env = { PATH: process.env['PATH'] ?? '', HOME: home, EARSHOT_HOME: home };
  const started = performance.now();
  return new Promise<{ milliseconds: number; output: string }>((done, fail) => {
    const child = spawn(process.execPath, args, { env, cwd: folder, stdio: ['pipe', 'pipe', 'inherit'] });
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    child.on('error', fail);
    child.on('close', () => done({ milliseconds: performance.now() - started, output }));
    child.stdin.on('error', () => undefined);
    const input = { session_id: 's1', cwd: folder, hook_event_name: 'PostToolBatch', tool_calls: [] };
    child.stdin.end(JSON.stringify(input));
  });
}

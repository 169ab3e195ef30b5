// In the real editor: how long the extension host stands still during a checkout of 10,000 files, and what is said; then what 100,000 cost at rest.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { devNull } from 'node:os';
import { join } from 'node:path';
import { estimateTokens } from '../../src/core/notify/tokens.ts';
import { build } from '../host/build.ts';
import { newTemporaryFolder } from '../host/cache.mjs';
import { runInsideEditor } from '../host/insideEditor.ts';
import { runToExit } from '../host/lifetime.mjs';
import { repository } from '../host/setup.mjs';
import type { IdleOrder, IdleResult } from './inside/idle.ts';
import { orderFor } from './inside/report.ts';
import type { Side, Stall, StormOrder, StormResult } from './inside/storm.ts';

const FILES = 10_000;
const ELSEWHERE = 'elsewhere.sh';
const SEEN = ['src/a.ts', 'src/b.ts', 'src/c.ts'];
const ROUNDS = 5;
const GOAL = 2;
const TOKENS = 400;
const IDLE_FILES = 100_000;
const IDLE_SECONDS = 60;
const NOBODYS = { GIT_CONFIG_GLOBAL: devNull, GIT_CONFIG_NOSYSTEM: '1' };

await runToExit(async () => {
  await build();
  await build('--tests');
  const temporary = await newTemporaryFolder();
  const met = await measureStorm(temporary);
  await measureIdle(temporary);
  return met ? 0 : 1;
});

async function measureStorm(temporary: string): Promise<boolean> {
  const folder = join(temporary, 'storm');
  const copy = join(temporary, 'copy');
  makeRepository(folder);
  cpSync(folder, copy, { recursive: true });
  // A path outside the workspace in a command would have to be allowed by somebody.
  writeFileSync(join(folder, ELSEWHERE), `git -C '${copy}' switch -q "$1"\n`);
  const { stalls, blocks } = await inside<StormResult>(temporary, 'storm', folder, repository, {
    elsewhere: `sh ${ELSEWHERE}`,
    seen: SEEN,
    rounds: ROUNDS,
  } satisfies StormOrder);
  const ratioTo = (side: Side, of: keyof Stall) =>
    median(stalls.earshot.map((one, round) => one[of] / (stalls[side][round]?.[of] ?? Number.NaN)));
  const ms = (side: Side, of: keyof Stall) => `${median(stalls[side].map((one) => one[of])).toFixed(1)} ms`;
  const ratio = ratioTo('unwatched', 'processor');
  console.log(`checkout of ${FILES} files, ${SEEN.length} seen, during a turn: longest stall of the extension host`);
  console.log('  control: the same writes in the same window, where nobody watches');
  console.log(
    `  ratio ${ratio.toFixed(2)} (goal ≤ ${GOAL}, ${ratio <= GOAL ? 'met' : 'MISSED'}); ${ms('earshot', 'processor')} of the processor against ${ms('unwatched', 'processor')}`,
  );
  console.log(
    `  by the wall clock, whatever else the machine does: ratio ${ratioTo('unwatched', 'wall').toFixed(2)}; ${ms('earshot', 'wall')} against ${ms('unwatched', 'wall')}`,
  );
  console.log(
    `  with the editor's watcher and without Earshot's producers: ${ms('deaf', 'processor')} of the processor, ${ms('deaf', 'wall')} by the wall clock`,
  );
  const worst = Math.max(...blocks.flat().map(({ text }) => estimateTokens(text)));
  const single = blocks.every((one) => one.length === 1 && one[0]?.shown === 1);
  const named = blocks.flat().every(({ text }) => SEEN.every((path) => text.includes(path)));
  const said = single && named && worst <= TOKENS;
  console.log(
    `  told: ${blocks.flat().length} blocks for ${blocks.length} checkouts, ${single ? 'one notification each' : 'NOT one notification each'}, at most ${worst} tokens (goal ≤ ${TOKENS}), the ${SEEN.length} ${named ? 'named' : 'NOT named'}: ${said ? 'met' : 'MISSED'}`,
  );
  if (!said) console.log(JSON.stringify(blocks, null, 2));
  return ratio <= GOAL && said;
}

async function measureIdle(temporary: string): Promise<void> {
  const folder = join(temporary, 'idle');
  fill(folder, IDLE_FILES, 'idle');
  git(folder, 'init', '-q', '-b', 'main');
  const nothing = join(temporary, 'nothing');
  mkdirSync(nothing);
  const manifest = { name: 'nothing', publisher: 'nobody', version: '1.0.0', engines: { vscode: '*' } };
  writeFileSync(join(nothing, 'package.json'), JSON.stringify(manifest));
  const measure = (extension: string, seen: readonly string[]) =>
    inside<IdleResult>(temporary, 'idle', folder, extension, { seen, seconds: IDLE_SECONDS } satisfies IdleOrder);
  console.log(`${IDLE_FILES} files at rest, ${SEEN.length} seen, for ${IDLE_SECONDS} s`);
  for (const [name, result] of [
    ['with Earshot', await measure(repository, SEEN)],
    ['without it', await measure(nothing, [])],
  ] as const) {
    const { watcher } = result;
    const other = watcher === undefined ? '' : `; the editor's watcher ${printUse(watcher)}`;
    console.log(
      `  ${name}: the extension host ${printUse(result)}, ${result.heldMegabytes.toFixed(0)} of them held by JavaScript${other}`,
    );
  }
}

function printUse({ milliseconds, megabytes }: Pick<IdleResult, 'milliseconds' | 'megabytes'>): string {
  const share = (milliseconds / 10 / IDLE_SECONDS).toFixed(2);
  return `${milliseconds.toFixed(0)} ms of the processor (${share} %), ${megabytes.toFixed(0)} MB`;
}

/** Runs test/bench/inside/NAME.ts in a window of its own and returns what it hands back. */
async function inside<T>(
  temporary: string,
  name: string,
  folder: string,
  extension: string,
  order: unknown,
): Promise<T> {
  const file = join(temporary, 'result.json');
  const lines: string[] = [];
  const exitCode = await runInsideEditor({
    folder,
    extension,
    tests: join(repository, '.build', 'vscode-tests', `${name}.cjs`),
    dataDir: join(await newTemporaryFolder(), 'data'),
    // The editor's own git extension shows ten thousand changes for a moment, half a second long, whoever listens besides.
    settings: { 'git.enabled': false },
    env: { ...NOBODYS, ...orderFor(file, order) },
    longestMilliseconds: 60 * 60_000,
    // For whoever works on it: how far it has come.
    log: process.env['EARSHOT_BENCH_VERBOSE'] === undefined ? (line) => lines.push(line) : console.log,
  });
  if (exitCode !== 0) throw new Error(`it failed inside the editor:\n${lines.join('\n')}`);
  return JSON.parse(readFileSync(file, 'utf8')) as T;
}

function fill(folder: string, count: number, text: string): void {
  for (let index = 0; index < count; index += 1) {
    if (index % 100 === 0) mkdirSync(join(folder, `many/f${index / 100}`), { recursive: true });
    writeFileSync(join(folder, `many/f${Math.floor(index / 100)}/${index}.txt`), `${text} ${index}\n`);
  }
  mkdirSync(join(folder, 'src'), { recursive: true });
  for (const path of SEEN) writeFileSync(join(folder, path), `// ${text} ${path}\n`);
}

function git(folder: string, ...args: readonly string[]): void {
  const who = ['-c', 'gc.auto=0', '-c', 'user.name=A', '-c', 'user.email=a@example.com'];
  execFileSync('git', ['-C', folder, ...who, ...args], { env: { ...process.env, ...NOBODYS } });
}

function makeRepository(folder: string): void {
  mkdirSync(folder);
  git(folder, 'init', '-q', '-b', 'main');
  writeFileSync(join(folder, '.gitignore'), `sentinel.txt\n${ELSEWHERE}\n`);
  for (const branch of ['main', 'other']) {
    if (branch === 'other') git(folder, 'switch', '-qc', branch);
    fill(folder, FILES, branch);
    git(folder, 'add', '-A');
    git(folder, 'commit', '-qm', branch);
  }
  git(folder, 'switch', '-q', 'main');
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

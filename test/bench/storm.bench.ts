// A checkout of 10,000 files during a turn: how long the event loop stands still, and what is said; then what 100,000 files cost at rest.
import { execFileSync, fork } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { devNull } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { Emitter } from '../../src/base/emitter.ts';
import { type ConversationLog } from '../../src/core/conversation/log.ts';
import { estimateTokens } from '../../src/core/notify/tokens.ts';
import { type EditorFiles, type FileTouch } from '../../src/core/sourcePorts.ts';
import { createOpenAiModel } from '../../src/models/openai.ts';
import { createFilesProducer } from '../../src/producers/files.ts';
import { createGitProducer } from '../../src/producers/git.ts';
import { GitGate } from '../../src/producers/gitGate.ts';
import { type Headless, startHeadless } from '../support/headless.ts';
import { type ScriptedServer, startScriptedServer } from '../support/scriptedServer.ts';

const FILES = 10_000;
const SEEN = ['src/a.ts', 'src/b.ts', 'src/c.ts'];
const ROUNDS = 5;
const GOAL = 2;
const TOKENS = 400;
const IDLE_FILES = 100_000;
const IDLE_SECONDS = 60;

interface Side {
  readonly headless: Headless;
  readonly server: ScriptedServer;
  readonly log: ConversationLog;
  end(): Promise<void>;
}

/** The editor's watcher is another process, which tells in batches. */
function editorWatcher(folder: string): { files: EditorFiles; ready: Promise<void>; stop(): void } {
  const touched = new Emitter<FileTouch>((error) => console.error(error));
  const child = fork(new URL('editorWatcher.ts', import.meta.url), [folder]);
  const ready = new Promise<void>((resolve) => child.once('message', () => resolve()));
  child.on('message', (batch: readonly FileTouch[] | 'ready') => {
    if (batch !== 'ready') for (const touch of batch) touched.fire(touch);
  });
  return { files: { onDidTouch: touched.event }, ready, stop: () => void child.kill() };
}

function fill(folder: string, count: number, text: string): void {
  for (let index = 0; index < count; index += 1) {
    if (index % 100 === 0) mkdirSync(join(folder, `many/f${index / 100}`), { recursive: true });
    writeFileSync(join(folder, `many/f${Math.floor(index / 100)}/${index}.txt`), `${text} ${index}\n`);
  }
  mkdirSync(join(folder, 'src'), { recursive: true });
  for (const path of SEEN) writeFileSync(join(folder, path), `${text} ${path}\n`);
}

function git(folder: string, ...args: readonly string[]): void {
  const env = { ...process.env, GIT_CONFIG_GLOBAL: devNull, GIT_CONFIG_NOSYSTEM: '1' };
  execFileSync(
    'git',
    ['-C', folder, '-c', 'gc.auto=0', '-c', 'user.name=A', '-c', 'user.email=a@example.com', ...args],
    { env },
  );
}

function makeRepository(folder: string): void {
  git(folder, 'init', '-q', '-b', 'main');
  for (const branch of ['main', 'other']) {
    if (branch === 'other') git(folder, 'switch', '-qc', branch);
    fill(folder, FILES, branch);
    git(folder, 'add', '-A');
    git(folder, 'commit', '-qm', branch);
  }
  git(folder, 'switch', '-q', 'main');
}

async function begin(listening: boolean, prepare: (folder: string) => void): Promise<Side> {
  const server = await startScriptedServer();
  const model = createOpenAiModel({ baseUrl: server.baseUrl, model: 'm', apiKey: async () => 'k' });
  let watcher: ReturnType<typeof editorWatcher> | undefined;
  let headless = await startHeadless({ model, settings: { 'approvals.mode': 'all' } });
  prepare(headless.folder);
  if (listening) watcher = editorWatcher(headless.folder);
  await watcher?.ready;
  // The same folders with the producers in question.
  headless = await headless.restart({
    producers: (deps) => {
      const gate = new GitGate();
      if (watcher === undefined) return [];
      return [createFilesProducer({ ...deps, gate, editorFiles: watcher.files }), createGitProducer({ ...deps, gate })];
    },
  });
  const opened = await headless.earshot.create();
  if (!opened.ok) throw new Error(opened.failure.message);
  const { log } = opened.value;
  const side: Side = {
    headless,
    server,
    log,
    end: async () => {
      await headless.end();
      await server.stop();
      watcher?.stop();
    },
  };
  await turn(side, ...SEEN.map((path) => ({ id: path, name: 'read_file', arguments: { path } })));
  return side;
}

async function turn(
  { headless, server, log }: Side,
  ...calls: { id: string; name: string; arguments: unknown }[]
): Promise<void> {
  server.restart({ calls }, { text: ['Done.'] });
  const sent = await headless.earshot.send(log.id, 'Go on.');
  if (!sent.ok) throw new Error(sent.failure.message);
  await headless.earshot.settled(log.id);
}

/** Milliseconds of the longest stall while the model's own command checks out the other branch. */
async function stall(side: Side, branch: string, round: number): Promise<number> {
  (globalThis as { gc?: () => void }).gc?.();
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  // A moment more for what the watchers tell late.
  const command = `git switch -q ${branch}; sleep 1.5`;
  await turn(side, { id: `switch${round}`, name: 'run_command', arguments: { command } });
  delay.disable();
  return delay.max / 1e6;
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

const [control, earshot] = [await begin(false, makeRepository), await begin(true, makeRepository)];
const pairs: [number, number][] = [];
for (let round = 0; round <= ROUNDS; round += 1) {
  const branch = round % 2 === 0 ? 'other' : 'main';
  const sides = round % 2 === 0 ? [control, earshot] : [earshot, control];
  const stalls = new Map<Side, number>();
  for (const side of sides) stalls.set(side, await stall(side, branch, round));
  // The first is there to warm both.
  if (round > 0) pairs.push([stalls.get(control) ?? 0, stalls.get(earshot) ?? 0]);
}
const ratio = median(pairs.map(([without, withEars]) => withEars / without));
console.log(`checkout of ${FILES} files, ${SEEN.length} seen, during a turn: longest stall of the event loop`);
console.log('  control: the same writes with no watcher');
console.log(
  `  ratio ${ratio.toFixed(2)} (goal ≤ ${GOAL}, ${ratio <= GOAL ? 'met' : 'MISSED'}); ${median(pairs.map(([, one]) => one)).toFixed(1)} ms against ${median(pairs.map(([one]) => one)).toFixed(1)} ms`,
);
const events = (await earshot.headless.events(earshot.log.id)).trimEnd().split('\n');
const blocks = events.flatMap((line) => {
  const { notifications } = JSON.parse(line) as { notifications?: { text: string; shown: string[] } };
  return notifications === undefined ? [] : [notifications];
});
const worst = Math.max(...blocks.map(({ text }) => estimateTokens(text)));
const named = blocks.every(({ text }) => SEEN.every((path) => text.includes(path)));
const single = blocks.every(({ shown }) => shown.length === 1);
const said = blocks.length === ROUNDS + 1 && single && named && worst <= TOKENS;
console.log(
  `  told: ${blocks.length} blocks for ${ROUNDS + 1} checkouts, ${single ? 'one notification each' : 'SEVERAL in one'}, at most ${worst} tokens (goal ≤ ${TOKENS}), the ${SEEN.length} ${named ? 'named' : 'NOT named'}: ${said ? 'met' : 'MISSED'}`,
);
if (ratio > GOAL || !said) process.exitCode = 1;
await control.end();
await earshot.end();

const memory = () => {
  (globalThis as { gc?: () => void }).gc?.();
  return process.memoryUsage().rss / 1024 / 1024;
};
const before = memory();
const idle = await begin(true, (folder) => {
  fill(folder, IDLE_FILES, 'idle');
  git(folder, 'init', '-q', '-b', 'main');
});
const used = process.cpuUsage();
await pause(IDLE_SECONDS * 1000);
const { user, system } = process.cpuUsage(used);
console.log(`${IDLE_FILES} files at rest, ${SEEN.length} seen, for ${IDLE_SECONDS} s`);
console.log(
  `  ${((user + system) / 1000).toFixed(0)} ms of the processor (${((user + system) / 10_000 / IDLE_SECONDS).toFixed(2)} %), ${(memory() - before).toFixed(0)} MB more memory`,
);
await idle.end();

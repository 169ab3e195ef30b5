// Inside the extension host: how long its event loop is blocked while a command of the model checks out 10,000 files.
import { writeFile } from 'node:fs/promises';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import * as vscode from 'vscode';
import { type LogEvent } from '../../../src/protocol/event.ts';
import { PRODUCER_NAMES } from '../../../src/protocol/settings.ts';
import { call, inFolder, Listening, setting, startScripted } from '../../support/vscode/listeningConversation.ts';
import { eventually } from '../../support/vscode/startedExtension.ts';
import { writeResult, readOptions } from './report.ts';

export interface StormOptions {
  /** Command that switches a copy of the repository outside the workspace to a given branch. */
  readonly elsewhere: string;
  readonly seen: readonly string[];
  readonly rounds: number;
}

/**
 * `unwatched`: the same checkout of a copy outside the workspace, which nothing watches. `disabled`: a checkout of the
 * workspace with the editor's watcher and without Earshot's producers.
 */
export type Side = 'earshot' | 'disabled' | 'unwatched';

export interface StormResult {
  /** The longest stall of each round, in which the branch is switched and switched back. Without the warm-up round. */
  readonly stalls: Readonly<Record<Side, readonly Stall[]>>;
  /** The blocks delivered with each checkout while producers ran. */
  readonly blocks: readonly (readonly Block[])[];
}

/**
 * In milliseconds. Wall time includes the time in which the machine runs other processes; CPU time is only that of this
 * thread.
 */
export interface Stall {
  readonly processor: number;
  readonly wall: number;
}

interface Block {
  readonly text: string;
  readonly shown: number;
}

const SIDES = ['unwatched', 'disabled', 'earshot'] as const;
const SENTINEL = 'sentinel.txt';

/** Called by VS Code. */
export async function run(): Promise<void> {
  const { elsewhere, seen, rounds } = readOptions() as StormOptions;
  const { earshot, server } = await startScripted();
  const opened = await earshot.create();
  if (!opened.ok) throw new Error(opened.failure.message);
  const { log } = opened.value;
  const agent = new Listening(log, earshot, server);
  await agent.read(...seen);
  const editor = new EditorWatcher();
  const stalls: Record<Side, Stall[]> = { unwatched: [], disabled: [], earshot: [] };
  const blocks: Block[][] = [];
  let carried: Block[] = [];
  const listening = log.onDidAppend(({ event }) => carried.push(...blocksOf(event)));
  for (let round = 0; round <= rounds; round += 1) {
    // The order alternates, so that no side always has warmer caches.
    for (let turn = 0; turn < SIDES.length; turn += 1) {
      const side = SIDES[(turn + round) % SIDES.length] ?? 'earshot';
      await become(side, agent, editor, seen[0] ?? '');
      const both: Stall[] = [];
      for (const branch of ['other', 'main']) {
        carried = [];
        both.push(await stallOf(agent, `${side === 'unwatched' ? elsewhere : 'git switch -q'} ${branch}`, editor));
        if (side === 'earshot') blocks.push(carried);
      }
      const longest = (of: keyof Stall) => Math.max(...both.map((one) => one[of]));
      const stall = { processor: longest('processor'), wall: longest('wall') };
      console.log(`round ${round}, ${side}: ${JSON.stringify(stall)}`);
      if (round > 0) stalls[side].push(stall);
    }
  }
  listening.dispose();
  editor.dispose();
  writeResult({ stalls, blocks } satisfies StormResult);
  await earshot.close(log.id);
  await server.stop();
}

function blocksOf(event: LogEvent): Block[] {
  if (event.type !== 'chat_request' && event.type !== 'tool_call_response') return [];
  return event.notifications === undefined
    ? []
    : [{ text: event.notifications.text, shown: event.notifications.shown.length }];
}

/** Measures until the watcher has reported everything, because its batches are throttled. */
async function stallOf(agent: Listening, command: string, editor: EditorWatcher): Promise<Stall> {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const busy = watchThread();
  await agent.turn(call('run_command', { command: `${command}; sleep 2` }));
  await editor.hasReportedAll();
  delay.disable();
  return { processor: busy(), wall: delay.max / 1e6 };
}

/** The longest CPU time of the thread between two ticks of a timer, in milliseconds. */
function watchThread(): () => number {
  let [last, most] = [threadTime(), 0];
  const timer = setInterval(() => {
    const now = threadTime();
    most = Math.max(most, now - last);
    last = now;
  }, 1);
  return () => {
    clearInterval(timer);
    return most;
  };
}

function threadTime(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

async function become(side: Side, agent: Listening, editor: EditorWatcher, probe: string): Promise<void> {
  const off = Object.fromEntries(PRODUCER_NAMES.map((name) => [name, false]));
  await setting('notifications.producers', side === 'disabled' ? off : undefined);
  if (side === 'disabled') return;
  // The producers run once a change has been reported.
  const file = inFolder(probe);
  const bytes = await vscode.workspace.fs.readFile(vscode.Uri.file(file));
  await writeFile(file, `${new TextDecoder().decode(bytes)}// listen\n`);
  await agent.waitForPending(/^file.changed/);
  await writeFile(file, bytes);
  await agent.waitForNonePending();
  // Reports left over from the previous side must arrive here, not during the measurement.
  await editor.hasReportedAll();
  await agent.turn();
}

/** The editor's own watcher. */
class EditorWatcher {
  readonly #watcher = vscode.workspace.createFileSystemWatcher(`**/${SENTINEL}`);
  #reported = 0;
  #written = 0;

  constructor() {
    const count = () => (this.#reported += 1);
    this.#watcher.onDidChange(count);
    this.#watcher.onDidCreate(count);
  }

  /** Writes a sentinel file and waits for it: reports arrive in the order of the writes. */
  async hasReportedAll(): Promise<void> {
    const before = this.#reported;
    this.#written += 1;
    await writeFile(inFolder(SENTINEL), String(this.#written));
    await eventually(
      () => this.#reported,
      (reported) => reported > before,
    );
  }

  dispose(): void {
    this.#watcher.dispose();
  }
}

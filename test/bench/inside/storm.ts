// Inside the extension host: how long its event loop stands still while the model's own command checks out 10,000 other files.
import { writeFile } from 'node:fs/promises';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import * as vscode from 'vscode';
import { type LogEvent } from '../../../src/protocol/event.ts';
import { PRODUCER_NAMES } from '../../../src/protocol/settings.ts';
import { call, inFolder, Listening, setting, startScripted } from '../../support/vscode/listeningConversation.ts';
import { eventually } from '../../support/vscode/startedExtension.ts';
import { handBack, ordered } from './report.ts';

export interface StormOrder {
  /** Switches the same repository outside the workspace to the branch that it is given. */
  readonly elsewhere: string;
  readonly seen: readonly string[];
  readonly rounds: number;
}

/**
 * `unwatched`: the same checkout of a copy that lies outside the workspace, so that nobody watches it. `deaf`: of the
 * workspace, with the editor's watcher and without Earshot's producers.
 */
export type Side = 'earshot' | 'deaf' | 'unwatched';

export interface StormResult {
  /** The longest of each round, there and back; the first round only warms up. */
  readonly stalls: Readonly<Record<Side, readonly Stall[]>>;
  /** What was carried with each checkout while it listened. */
  readonly blocks: readonly (readonly Block[])[];
}

/**
 * In milliseconds. By the wall clock it is also a stall when the machine gives the processor to others; by the thread's
 * own processor time it is only what this thread does.
 */
export interface Stall {
  readonly processor: number;
  readonly wall: number;
}

interface Block {
  readonly text: string;
  readonly shown: number;
}

const SIDES = ['unwatched', 'deaf', 'earshot'] as const;
const SENTINEL = 'sentinel.txt';

/** Called by VS Code. */
export async function run(): Promise<void> {
  const { elsewhere, seen, rounds } = ordered() as StormOrder;
  const { earshot, server } = await startScripted();
  const opened = await earshot.create();
  if (!opened.ok) throw new Error(opened.failure.message);
  const { log } = opened.value;
  const agent = new Listening(log, earshot, server);
  await agent.read(...seen);
  const editor = new EditorWatcher();
  const stalls: Record<Side, Stall[]> = { unwatched: [], deaf: [], earshot: [] };
  const blocks: Block[][] = [];
  let carried: Block[] = [];
  const listening = log.onDidAppend(({ event }) => carried.push(...blocksOf(event)));
  for (let round = 0; round <= rounds; round += 1) {
    // Who goes first changes, so that none always meets the warmer machine.
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
  handBack({ stalls, blocks } satisfies StormResult);
  await earshot.close(log.id);
  await server.stop();
}

function blocksOf(event: LogEvent): Block[] {
  if (event.type !== 'chat_request' && event.type !== 'tool_call_response') return [];
  return event.notifications === undefined
    ? []
    : [{ text: event.notifications.text, shown: event.notifications.shown.length }];
}

/** Until the watcher has told of everything: its batches are throttled. */
async function stallOf(agent: Listening, command: string, editor: EditorWatcher): Promise<Stall> {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const busy = watchThread();
  await agent.turn(call('run_command', { command: `${command}; sleep 2` }));
  await editor.hasTold();
  delay.disable();
  return { processor: busy(), wall: delay.max / 1e6 };
}

/** The most that the thread computed between two beats of a timer, in milliseconds of its own processor time. */
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
  await setting('notifications.producers', side === 'deaf' ? off : undefined);
  if (side === 'deaf') return;
  // It listens once it hears.
  const file = inFolder(probe);
  const bytes = await vscode.workspace.fs.readFile(vscode.Uri.file(file));
  await writeFile(file, `${new TextDecoder().decode(bytes)}// listen\n`);
  await agent.hears(/^file.changed/);
  await writeFile(file, bytes);
  await agent.quiet();
  // What the watcher still had to tell of the side before is counted here, not in what is measured.
  await editor.hasTold();
  await agent.turn();
}

/** The editor's own, and whether it has told of everything. */
class EditorWatcher {
  readonly #watcher = vscode.workspace.createFileSystemWatcher(`**/${SENTINEL}`);
  #told = 0;
  #written = 0;

  constructor() {
    const tell = () => (this.#told += 1);
    this.#watcher.onDidChange(tell);
    this.#watcher.onDidCreate(tell);
  }

  /** What is written last is told last. */
  async hasTold(): Promise<void> {
    const before = this.#told;
    this.#written += 1;
    await writeFile(inFolder(SENTINEL), String(this.#written));
    await eventually(
      () => this.#told,
      (told) => told > before,
    );
  }

  dispose(): void {
    this.#watcher.dispose();
  }
}

// One call of the hook: reports the files that the agent has just read or written, and delivers pending notifications.
import { homedir } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { ignore } from '../../base/async.ts';
import { socketHome } from '../../node/hubFolder.ts';
import { startEars } from '../client/ears.ts';
import { attachListener, type ListenerClient, type ListenerNames } from '../client/listenerClient.ts';
import { agentOf, isPrompted, momentOf, printContext, printContinuation } from './hookAnswer.ts';
import { viewsOf } from './hookFiles.ts';
import { recordHookRun } from './hookRuns.ts';
import { type HookInput, readHookInput } from './hookInput.ts';

/** `earshot-ears` has started within this time, or the agent continues without it. */
const STARTED_WITHIN = 3500;
const LOOK_EVERY = 30;

export interface HookDeps {
  /** The agent that the hook was installed for. */
  readonly agent: string;
  readonly version: string;
  /** The home folder whose windows are searched; default: the user's. */
  readonly home?: string;
  /** True: it reports files and delivers nothing, since another hook of the same agent does. */
  readonly onlyReports?: boolean;
  /** Identifies the agent's process. */
  client(): string | undefined;
  /** Resolves once the text is written to the agent. */
  write(text: string): Promise<void>;
}

/** Only records that it ran if nobody watches the folder. Does nothing if the text is not the input of a hook. */
export async function runHook(text: string, deps: HookDeps): Promise<void> {
  const input = readHookInput(text);
  if (input === undefined) return;
  const agent = agentOf(input, deps.agent);
  const { session, folder } = input;
  const { version, home = socketHome() } = deps;
  await recordHookRun(deps.home ?? homedir(), agent);
  const names = { agent, version, session, client: deps.client() };
  const attach = () => attachOrStart(folder, names, home);
  const window = await attach();
  if (window === undefined) return;
  try {
    await report(window, input);
    // Other agents that run the hooks in this one's settings have no other hook there.
    if (deps.onlyReports === true && agent === deps.agent) return;
    const moment = momentOf(input, agent);
    if (moment === 'deliver') {
      await deliver(window, { folder, attach, prompted: isPrompted(input) }, (block) =>
        deps.write(`${printContext(input, agent, block)}\n`),
      );
    }
    // Only for what may wake an idle agent: everything else waits for its next turn.
    if (moment === 'end' && (await window.request('wait', { seconds: 0 })).woken) {
      await deliver(window, { folder, attach }, (block) => deps.write(`${printContinuation(input, agent, block)}\n`));
    }
  } finally {
    window.close();
  }
}

/** Attaches to the window of the folder, or to `earshot-ears`, which is started if it is installed. */
export async function attachOrStart(
  folder: string,
  names: ListenerNames,
  home: string,
): Promise<ListenerClient | undefined> {
  const found = await attachListener(folder, names, home);
  if (found !== undefined || !(await startEars(folder, home))) return found;
  const until = performance.now() + STARTED_WITHIN;
  while (performance.now() < until) {
    await sleep(LOOK_EVERY);
    const started = await attachListener(folder, names, home);
    if (started !== undefined) return started;
  }
  return undefined;
}

/** Files that the window refuses, such as those outside its folder, are not followed. */
async function report(window: ListenerClient, { files, folder, ranGit }: HookInput): Promise<void> {
  // An older window does not know it.
  if (ranGit) await window.request('git_ran', {}).catch(ignore);
  const views = await Promise.all(files.map((file) => viewsOf(file, folder)));
  await Promise.allSettled(views.flat().map((view) => window.request('seen', view)));
}

export interface Delivery {
  readonly folder: string;
  /** The user has written to the agent. */
  readonly prompted?: boolean;
  /** Attaches again. */
  attach(): Promise<ListenerClient | undefined>;
}

/** Resolves to whether there was anything to deliver. */
export async function deliver(
  window: ListenerClient,
  { folder, prompted = false, attach }: Delivery,
  write: (block: string) => Promise<void>,
): Promise<boolean> {
  const { text, through } = await window.request('pending', { prompted });
  if (text === '') return false;
  await write(withRoot(text, window.root, folder));
  try {
    await window.request('delivered', { through });
  } catch {
    await confirmAgain(attach, through);
  }
  return true;
}

/** The agent has the text, but who offered it has ended: it must not be offered again by the next one. */
async function confirmAgain(attach: Delivery['attach'], through: number): Promise<void> {
  const next = await attach();
  if (next === undefined) return;
  try {
    // Only what was offered to this connection can be confirmed by it.
    await next.request('pending', {});
    await next.request('delivered', { through });
  } finally {
    next.close();
  }
}

/** An agent in another folder needs to know what the paths are relative to. */
export function withRoot(text: string, root: string, folder: string): string {
  return root === folder ? text : `Paths in this block are relative to ${root}.\n${text}`;
}

// One call of the hook: reports the files that the agent has just read or written, and delivers pending notifications.
import { homedir } from 'node:os';
import { attachListener, type ListenerClient } from '../client/listenerClient.ts';
import { viewsOf } from './hookFiles.ts';
import { recordHookRun } from './hookRuns.ts';
import { type HookInput, readHookInput } from './hookInput.ts';

/** VS Code's own agent, which also runs the hooks in Claude's settings. */
const COPILOT = 'copilot';
/** The events at which an agent reads `additionalContext`. */
const DELIVERING: ReadonlySet<string> = new Set([
  'PostToolUse',
  'PostToolUseFailure',
  'UserPromptSubmit',
  'SessionStart',
]);
/** The event at which VS Code's agent does not read `additionalContext`. */
const IGNORED_BY_COPILOT = 'UserPromptSubmit';

export interface HookDeps {
  /** The agent that the hook was installed for. */
  readonly agent: string;
  readonly version: string;
  /** The home folder whose windows are searched; default: the user's. */
  readonly home?: string;
  /** Identifies the agent's process. */
  client(): string | undefined;
  /** Resolves once the text is written to the agent. */
  write(text: string): Promise<void>;
}

/** Only records that it ran if no window is running. Does nothing if the text is not the input of a hook. */
export async function runHook(text: string, deps: HookDeps): Promise<void> {
  const input = readHookInput(text);
  if (input === undefined) return;
  const agent = input.isCamelCase ? COPILOT : deps.agent;
  const { session, folder } = input;
  const { version } = deps;
  await recordHookRun(deps.home ?? homedir(), agent);
  const window = await attachListener(folder, { agent, version, session, client: deps.client() }, deps.home);
  if (window === undefined) return;
  try {
    await reportFiles(window, input);
    const delivers = DELIVERING.has(input.event) && !(agent === COPILOT && input.event === IGNORED_BY_COPILOT);
    if (delivers) await deliver(window, input, deps);
  } finally {
    window.close();
  }
}

/** Files that the window refuses, such as those outside its folder, are not followed. */
async function reportFiles(window: ListenerClient, { files, folder }: HookInput): Promise<void> {
  const views = await Promise.all(files.map((file) => viewsOf(file, folder)));
  await Promise.allSettled(views.flat().map((view) => window.request('seen', view)));
}

async function deliver(window: ListenerClient, { event, folder }: HookInput, { write }: HookDeps): Promise<void> {
  const { text, through } = await window.request('pending', {});
  if (text === '') return;
  const additionalContext = withRoot(text, window.root, folder);
  await write(`${JSON.stringify({ hookSpecificOutput: { hookEventName: event, additionalContext } })}\n`);
  await window.request('delivered', { through });
}

/** An agent in another folder needs to know what the paths are relative to. */
export function withRoot(text: string, root: string, folder: string): string {
  return root === folder ? text : `Paths in this block are relative to ${root}.\n${text}`;
}

// The waiter of an idle Claude Code: runs in its background and ends with exit code 2 once something may wake it, which
// starts its next turn with what was written to stderr.
import { setTimeout as sleep } from 'node:timers/promises';
import { socketHome } from '../../node/hubFolder.ts';
import { type ListenerClient, ListenerRefused } from '../client/listenerClient.ts';
import { agentOf } from './hookAnswer.ts';
import { readHookInput } from './hookInput.ts';
import { attachOrStart, deliver, type Delivery, type HookDeps } from './runHook.ts';

/** Claude ends it after a day. */
const MOST_SECONDS = 86_000;
const AGAIN_AFTER = 250;
/** Nobody watches the folder any more: it ends, and the agent's next turn starts another one. */
const GIVES_UP_AFTER = 60_000;
/** The user may answer later whether the agent gets notifications of this window. */
const REFUSED_AGAIN_AFTER = 10_000;
/** What Claude Code is called as when it ends with its answer: it would wait for its hooks. */
const ONE_ANSWER = 'sdk-cli';

interface WaitDeps extends HookDeps {
  /** How Claude Code was started. */
  readonly entry: string | undefined;
  /** Whether the agent still runs. */
  isAgentAlive(): boolean;
}

/** The exit code: 2 if the agent was woken. */
export async function runWaiter(text: string, deps: WaitDeps): Promise<0 | 2> {
  const input = readHookInput(text);
  if (input === undefined || input.isCamelCase || input.isCursor || deps.entry === ONE_ANSWER) return 0;
  const { session, folder } = input;
  const { version, home = socketHome() } = deps;
  const names = { agent: agentOf(input, deps.agent), version, session, client: deps.client() };
  const until = performance.now() + MOST_SECONDS * 1000;
  let found = performance.now();
  while (performance.now() < until && deps.isAgentAlive()) {
    try {
      const attach = () => attachOrStart(folder, names, home);
      const window = await attach();
      if (window === undefined) {
        if (performance.now() > found + GIVES_UP_AFTER) return 0;
        await sleep(AGAIN_AFTER);
        continue;
      }
      found = performance.now();
      const ended = await waitIn(window, { folder, attach }, deps);
      if (ended !== undefined) return ended;
      found = performance.now();
    } catch (error) {
      // The window was closed, or another one has taken over: it is asked next.
      await sleep(error instanceof ListenerRefused ? REFUSED_AGAIN_AFTER : AGAIN_AFTER);
    }
  }
  return 0;
}

/** Undefined: wait again. */
async function waitIn(window: ListenerClient, delivery: Delivery, deps: WaitDeps): Promise<0 | 2 | undefined> {
  try {
    const { woken, replaced } = await window.request('wait', { seconds: MOST_SECONDS });
    if (replaced || !deps.isAgentAlive()) return 0;
    return woken && (await deliver(window, delivery, deps.write)) ? 2 : undefined;
  } finally {
    window.close();
  }
}

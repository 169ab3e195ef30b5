// Background commands and subagents as front ends show them.
import { type Handle } from '../ports/handles.ts';
import { describeHandleState, isSuccess } from '../tools/handleTexts.ts';
import { type HandleView } from '../../protocol/page/handlesView.ts';

const SHOWN_OUTPUT = 4000;
/** Only the newest are listed. */
const MOST_LISTED = 20;

type NamedHandle = Handle & { readonly name: string };

/** Commands that are or were in the background. Handles that only keep output never were. */
export async function viewHandles(
  handles: readonly NamedHandle[],
  tokensOf: (conversation: string) => number | null = () => null,
): Promise<readonly HandleView[]> {
  return Promise.all(
    handles
      .filter(({ isOutputOnly }) => !isOutputOnly)
      .slice(-MOST_LISTED)
      .map((handle) => viewHandle(handle, tokensOf)),
  );
}

async function viewHandle(handle: NamedHandle, tokensOf: (conversation: string) => number | null): Promise<HandleView> {
  const { run: call, name } = handle;
  const { agent, status } = handle.process;
  const state = status.waitsFor === undefined || handle.hasEnded ? handle.state : 'waiting';
  return {
    call,
    name,
    command: handle.process.command,
    state: state !== 'stopped' ? state : isSuccess(status) ? 'stopped' : 'failed',
    detail: describeHandleState(handle),
    ...(isJustRunning(handle) && { since: status.startedAt }),
    output: await handle.lastLines(SHOWN_OUTPUT),
    ...(agent && { agent: { conversation: agent.conversation, tokens: tokensOf(agent.conversation) } }),
  };
}

function isJustRunning({ process: { status }, hasEnded, prompt }: Handle): boolean {
  const { lost, unknown, waitsFor } = status;
  return !hasEnded && lost !== true && unknown === undefined && waitsFor === undefined && prompt === undefined;
}

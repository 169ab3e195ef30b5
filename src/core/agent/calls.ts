// Runs the tool calls of one answer in parallel and ensures that every call of a turn gets its response.
import { FailureError } from '../../base/errors.ts';
import { Slots } from '../../base/slots.ts';
import { type EventDraft } from '../../protocol/event.ts';
import { waitedForAnswer } from '../consent/approvals.ts';
import { readHidden } from '../consent/ignoreFile.ts';
import { INTERRUPTED } from '../conversation/projections/transcript.ts';
import { type UnansweredCall } from '../conversation/projections/turnState.ts';
import { type Prompting } from '../prompt/prompting.ts';
import { withdrawShown } from '../tools/handleTexts.ts';
import { runTool, type ToolResponse, type ToolRunDeps } from '../tools/run.ts';
import { appendCarrier, collect } from './delivery.ts';
import { sampleAt } from './sampling.ts';
import { type TurnControl } from './turnControl.ts';
import { type CallRequest, type TurnDeps, type TurnEnd } from './turnDeps.ts';

/** At most this many commands of one answer run at the same time. */
const MOST_RUNNING = 8;

/** Resolves or rejects once all calls have ended. The response that completes the batch is the carrier. */
export async function runCalls(
  deps: TurnDeps,
  prompting: Prompting,
  calls: readonly CallRequest[],
  control: TurnControl,
): Promise<void> {
  const running = { ...runDeps(deps), find: (names: readonly string[]) => prompting.find(names) };
  const signal = control.enter('tools');
  let left = calls.length;
  const run = async (call: CallRequest) => {
    const response = await runTool(running, call, signal);
    left -= 1;
    if (left === 0) await sampleForResult(deps, prompting);
    await respond(deps, response, control.isStopped || control.wanted === 'user');
  };
  const settled = await Promise.allSettled(calls.map(run));
  const failed = settled.find((one) => one.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}

/** If sampling a source fails, the call must still get its response. */
async function sampleForResult(deps: TurnDeps, prompting: Prompting): Promise<void> {
  try {
    await sampleAt(deps, prompting, 'result');
  } catch (error) {
    if (error instanceof FailureError) throw error;
    deps.ports.logger.error('sampling before a result failed', error);
  }
}

/**
 * `cutShort`: no answer follows. Then queued messages, and with them all pending notifications, are left for the
 * request that interrupted the calls, or for the composer.
 */
async function respond(deps: TurnDeps, response: ToolResponse, cutShort: boolean): Promise<void> {
  const withdrawn = withdrawShown(deps.log, response.handles ?? []);
  const { turn, pending } = deps.log.state;
  const carries = turn.unanswered.length === 1 && !(cutShort && pending.queuedMessages.length > 0);
  const carrying = carries ? collectOrNothing(deps) : undefined;
  // A state that a call has shown is newer than a diff that was queued before it.
  const own = deps.edits.settle(response.seen ?? []);
  const delivered = (carrying?.seen ?? []).filter(({ path }) => deps.edits.newest(path) === undefined);
  const seen = [...delivered, ...own];
  // Another call of the batch may have found the same tool.
  const found = response.found?.filter(({ name }) => !deps.log.state.prefix.found.has(name));
  const draft = { ...response, ...carrying, ...(seen.length > 0 && { seen }), ...(found && { found }) };
  const responded = carrying === undefined ? deps.log.append(draft) : appendCarrier(deps, draft);
  await Promise.all([withdrawn, responded]);
}

/** If planning or formatting fails, notifications stay pending and the call still gets its response. */
function collectOrNothing(deps: TurnDeps): ReturnType<typeof collect> | undefined {
  try {
    return collect(deps.log, deps.ports);
  } catch (error) {
    deps.ports.logger.error('a result was written without the pending notifications', error);
    return undefined;
  }
}

/** Ends the open turn. Calls without a response get one first, so that none is left open. */
export async function endTurn({ log }: Pick<TurnDeps, 'log'>, end: TurnEnd, why: string): Promise<void> {
  const responses = log.state.turn.unanswered.map(({ request }) => interrupted(request, why));
  const ended: EventDraft = { type: 'turn_ended', ...end };
  await log.appendTogether([...responses, ended].map((draft) => ({ draft }))).onDisk;
}

/**
 * After a restart, calls that may have run get a response that says so, and never run again. Resolves to the calls that
 * still wait for an approval or an answer, with which the turn continues; if there are none, the turn is ended.
 */
export async function recoverTurn(deps: TurnDeps): Promise<readonly CallRequest[]> {
  const { log } = deps;
  if (!log.state.turn.isOpen) return [];
  await keepShownPart(deps);
  const waiting = await waitingCalls(deps);
  for (const { request } of log.state.turn.unanswered) {
    if (!waiting.includes(request)) await respond(deps, interrupted(request, CLOSED), true);
  }
  if (waiting.length === 0) await endTurn(deps, INTERRUPTED_TURN, CLOSED);
  return waiting;
}

/** What was shown of an answer when the editor ended is kept as a truncated answer. */
async function keepShownPart({ log, ports }: TurnDeps): Promise<void> {
  try {
    const partial = await log.partial?.take();
    const { transcript, turn } = log.state;
    const isKept = partial === undefined || transcript.items.some(({ id }) => id === partial.id);
    if (isKept || turn.unanswered.length > 0) return;
    const { id, model, text, reasoning } = partial;
    const answer: EventDraft = {
      type: 'chat_response',
      ...(text !== '' && { message: text }),
      ...(reasoning !== '' && { reasoning }),
      truncated: true,
    };
    await log.appendTogether([{ draft: answer, id }, { draft: { type: 'model_call', model, outcome: 'aborted' } }])
      .onDisk;
    log.partial?.drop();
  } catch (error) {
    ports.logger.error('the shown part of an answer could not be kept', error);
  }
}

/** Ends a turn that a failed write or an unexpected error left open; it is not continued. */
export async function closeTurn(deps: TurnDeps, why: string): Promise<void> {
  if (deps.log.state.turn.isOpen) await endTurn(deps, INTERRUPTED_TURN, why);
}

const CLOSED = 'The editor was closed or reloaded';

const INTERRUPTED_TURN: TurnEnd = {
  outcome: 'error',
  failure: {
    code: 'interrupted',
    message: 'This turn was interrupted: the editor was closed or reloaded.',
    nextStep: 'Nothing is run again by itself. Write to go on.',
  },
};

function interrupted({ id, name }: CallRequest, why: string): ToolResponse {
  return { type: 'tool_call_response', id, content: `${INTERRUPTED} ${why} while ${name} ran.`, is_error: true };
}

/** Calls that certainly never began, because nobody had answered for them. */
async function waitingCalls(deps: TurnDeps): Promise<readonly CallRequest[]> {
  const open = deps.log.state.turn.unanswered.filter(neverApproved);
  if (open.length === 0) return [];
  try {
    const hidden = await readHidden(deps.ports.workspace);
    const waiting: CallRequest[] = [];
    for (const { request } of open) {
      const tool = deps.registry.get(request.name);
      if (tool !== undefined && (await waitedForAnswer(runDeps(deps), tool, request, hidden))) waiting.push(request);
    }
    return waiting;
  } catch (error) {
    deps.ports.logger.error('could not determine which calls still wait for an answer', error);
    return [];
  }
}

/** If the log has a gap after a call, the missing events may include its approval. */
function neverApproved({ approval, uncertain }: UnansweredCall): boolean {
  return approval === undefined && uncertain !== true;
}

function runDeps({ log, registry, outside, edits, ports, captures }: TurnDeps): ToolRunDeps {
  return { ...ports, log, registry, outside, edits, captures, slots: new Slots(MOST_RUNNING) };
}

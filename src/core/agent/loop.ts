// Decides a turn: request, then cycles of one model call and its tool calls, until the model has nothing more to ask for.
import { describeError, type Failure, FailureError } from '../../base/errors.ts';
import { type EventOf } from '../../protocol/event.ts';
import { type ConversationLog } from '../conversation/log.ts';
import { INTERRUPTED } from '../conversation/transcript.ts';
import { type Ports } from '../ports.ts';
import { type ToolRegistry } from '../tools/registry.ts';
import { runTool, type ToolResponse } from '../tools/run.ts';
import { needsApproval } from './approvals.ts';
import { runCycle } from './cycle.ts';
import { collect } from './delivery.ts';
import { systemPrompt } from './systemPrompt.ts';

export interface TurnDeps {
  readonly log: ConversationLog;
  readonly registry: ToolRegistry;
  readonly ports: Ports;
}

type CallRequest = EventOf<'tool_call_request'>;
type Outcome = EventOf<'turn_ended'>['outcome'];

export interface TurnEnd {
  readonly outcome: Outcome;
  readonly failure?: Failure;
}

/** Puts the user's request into the log, with what is pending. Resolves once it is on disk. */
export async function startTurn(deps: TurnDeps, content: string): Promise<void> {
  const started = deps.log.append({ type: 'turn_started', source: 'user' });
  const carrying = collectFor(deps);
  const requested = deps.log.append({ type: 'chat_request', content, source: 'user', ...carrying });
  await Promise.all([started, requested]);
}

/** Runs the turn that the log says is open to its end. Rejects only if the log cannot be written. */
export async function runTurn(deps: TurnDeps, signal: AbortSignal): Promise<TurnEnd> {
  const end = await cycles(deps, signal);
  await deps.log.append({ type: 'turn_ended', ...end });
  return end;
}

async function cycles(deps: TurnDeps, signal: AbortSignal): Promise<TurnEnd> {
  const { log, registry, ports } = deps;
  try {
    // Not empty only after a restart: what waited for an approval then.
    await runCalls(deps, waitingCalls(deps), signal);
    while (!signal.aborted) {
      const model = ports.model();
      const request = {
        system: systemPrompt(ports.workspace, log.state.turn.key),
        messages: log.state.messages.all,
        tools: registry.descriptions,
      };
      const outcome = await runCycle({ log, model, frontend: ports.frontend, ids: ports.ids }, request, signal);
      if (outcome.type === 'aborted') break;
      if (outcome.type === 'failed') return { outcome: 'error', failure: outcome.failure };
      if (outcome.calls.length === 0) return { outcome: 'done' };
      await runCalls(deps, outcome.calls, signal);
    }
    return { outcome: 'stopped' };
  } catch (error) {
    if (error instanceof FailureError) throw error;
    ports.log.error('the turn failed unexpectedly', error);
    const message = `Earshot failed unexpectedly: ${describeError(error)}`;
    return { outcome: 'error', failure: { code: 'bug', message, nextStep: 'The log has details: Earshot: Show Log.' } };
  }
}

/** Runs the calls of one answer side by side. The response that completes the batch is the carrier. */
async function runCalls(deps: TurnDeps, calls: readonly CallRequest[], signal: AbortSignal): Promise<void> {
  const { log, registry, ports } = deps;
  const runDeps = {
    log,
    registry,
    workspace: ports.workspace,
    frontend: ports.frontend,
    snapshots: ports.snapshots,
    output: ports.log,
  };
  await Promise.all(
    calls.map(async (call) => {
      const response = await runTool(runDeps, call, signal).catch((error: unknown) =>
        unlessStopped(error, call, signal),
      );
      await respond(deps, response);
    }),
  );
}

/** A call that was given up because the turn was stopped ends as that. */
function unlessStopped(error: unknown, call: CallRequest, signal: AbortSignal): ToolResponse {
  if (!signal.aborted) throw error;
  return { type: 'tool_call_response', id: call.id, content: 'Cancelled by the user.', is_error: true };
}

async function respond(deps: TurnDeps, response: ToolResponse): Promise<void> {
  const completes = deps.log.state.turn.unanswered.length === 1;
  const carrying = completes ? collectFor(deps) : undefined;
  const seen = [...(response.seen ?? []), ...(carrying?.seen ?? [])];
  await deps.log.append({ ...response, ...carrying, ...(seen.length > 0 && { seen }) });
}

function collectFor(deps: TurnDeps) {
  const { ports } = deps;
  const collected = collect(deps.log, { settings: ports.settings(), contextWindow: ports.model().contextWindow });
  if (collected === undefined) return undefined;
  const { carried, seen } = collected;
  return { notifications: carried, ...(seen.length > 0 && { seen }) };
}

/** Calls that never began, because nobody had answered for them. */
function waitingCalls({ log, registry }: TurnDeps): readonly CallRequest[] {
  return log.state.turn.unanswered
    .filter(({ request, approval }) => {
      const tool = registry.get(request.name);
      return approval === undefined && tool !== undefined && needsApproval(tool);
    })
    .map(({ request }) => request);
}

/**
 * After a restart: calls that may have run get a response that says so and are never run again. Resolves to whether the
 * turn still waits for an approval and so goes on; otherwise it is ended.
 */
export async function recoverTurn(deps: TurnDeps): Promise<boolean> {
  const { log } = deps;
  if (!log.state.turn.isOpen) return false;
  const waiting = new Set(waitingCalls(deps).map((call) => call.id));
  for (const { request } of log.state.turn.unanswered) {
    if (waiting.has(request.id)) continue;
    const content = `${INTERRUPTED} The editor was closed or reloaded while ${request.name} ran.`;
    await respond(deps, { type: 'tool_call_response', id: request.id, content, is_error: true });
  }
  if (waiting.size > 0) return true;
  await log.append({
    type: 'turn_ended',
    outcome: 'error',
    failure: {
      code: 'interrupted',
      message: 'This turn was interrupted: the editor was closed or reloaded.',
      nextStep: 'Nothing is run again by itself. Write to go on.',
    },
  });
  return false;
}

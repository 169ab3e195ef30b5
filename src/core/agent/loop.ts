// Decides a turn: request, then cycles of one model call and its tool calls, until the model has nothing more to ask for.
import { describeError, type Failure, FailureError } from '../../base/errors.ts';
import { type EventOf } from '../../protocol/event.ts';
import { type Captures } from '../checkpoints/captures.ts';
import { type ConversationLog } from '../conversation/log.ts';
import { INTERRUPTED } from '../conversation/transcript.ts';
import { type OwnEdits } from '../files/ownEdits.ts';
import { type Ports } from '../ports.ts';
import { type DeliveryPoint, type Sample } from '../producerPorts.ts';
import { withdrawShown } from '../tools/handleWords.ts';
import { type ToolRegistry } from '../tools/registry.ts';
import { runTool, type ToolResponse, type ToolRunDeps } from '../tools/run.ts';
import { stopHandles, waitForHandles } from './afterTurn.ts';
import { waitedForAnswer } from './approvals.ts';
import { compact, isNearlyFull } from './compaction.ts';
import { type CycleDeps } from './cycle.ts';
import { collectFor } from './delivery.ts';
import { readHidden } from './ignoreFile.ts';
import { limitReached, usedBy } from './limits.ts';
import { callModel, type Tries } from './modelCall.ts';
import { Prompting } from './prompting.ts';
import { appendInterruption } from './requests.ts';
import { sampleAt, type UsedConfigs } from './sampling.ts';
import { mendInstruction } from './schemaPrompts.ts';
import { type TurnControl } from './turnControl.ts';

export interface TurnDeps {
  readonly log: ConversationLog;
  readonly registry: ToolRegistry;
  readonly edits: OwnEdits;
  readonly ports: Ports;
  /** Absent: nothing is captured. */
  readonly captures?: Captures;
  /** Absent: nothing is compared at delivery points. */
  readonly sampling?: Sampling;
}

export interface Sampling {
  readonly used: UsedConfigs;
  sample(point: DeliveryPoint): Promise<readonly Sample[]>;
}

type CallRequest = EventOf<'tool_call_request'>;
type Outcome = EventOf<'turn_ended'>['outcome'];

export interface TurnEnd {
  readonly outcome: Outcome;
  readonly failure?: Failure;
}

/** Runs the turn that the log says is open to its end. Rejects only if the log cannot be written. */
export async function runTurn(deps: TurnDeps, control: TurnControl): Promise<TurnEnd> {
  deps.captures?.beginTurn(control.stopped);
  const end = await cycles(deps, control);
  control.enter('between');
  await stopHandles(deps);
  await deps.log.append({ type: 'turn_ended', ...end });
  return end;
}

async function cycles(deps: TurnDeps, control: TurnControl): Promise<TurnEnd> {
  const { log, ports } = deps;
  const prompting = new Prompting(deps);
  const usedBefore = usedBy(log.state.spent, ports.settings());
  let mended = false;
  try {
    // Not empty only after a restart: what waited for an approval then.
    await runCalls(deps, prompting, await waitingCalls(deps), control);
    while (!control.isStopped) {
      control.enter('between');
      const limit = limitReached(usedBefore, usedBy(log.state.spent, ports.settings()), ports.settings());
      if (limit !== undefined) return { outcome: 'error', failure: limit };
      const model = ports.model();
      const cycle = cycleDeps(deps);
      await prompting.refresh();
      if (isNearlyFull(log, model, () => prompting.overhead)) {
        await compact(cycle, model.contextWindow, control.enter('answering'));
      }
      const outcome = await callModel(cycle, () => prompting.request(), triesOf(deps, control, prompting));
      // Broken off: the next call begins with what was wanted instead.
      if (outcome.type === 'aborted') continue;
      if (outcome.type === 'failed') return { outcome: 'error', failure: outcome.failure };
      if (outcome.misfit !== undefined) {
        if (mended) return { outcome: 'error', failure: doesNotFit(outcome.misfit) };
        mended = true;
        await log.append({ type: 'chat_request', content: mendInstruction(outcome.misfit), source: 'system' });
        continue;
      }
      if (outcome.calls.length === 0) {
        if (await waitForHandles(deps, control)) continue;
        return { outcome: 'done' };
      }
      const running = runCalls(deps, prompting, outcome.calls, control);
      // If the disk refuses the answer, the turn ends, but not while one of its tools still runs.
      await Promise.allSettled([outcome.kept, running]);
      await Promise.all([outcome.kept, running]);
    }
    return { outcome: 'stopped' };
  } catch (error) {
    if (error instanceof FailureError) throw error;
    ports.log.error('the turn failed unexpectedly', error);
    const message = `Earshot failed unexpectedly: ${describeError(error)}`;
    return { outcome: 'error', failure: { code: 'bug', message, nextStep: 'The log has details: Earshot: Show Log.' } };
  }
}

function triesOf(deps: TurnDeps, control: TurnControl, prompting: Prompting): Tries {
  return {
    begin: async () => {
      control.enter('between');
      for (let wanted = control.take(); wanted !== undefined; wanted = control.take()) {
        if (!(await appendInterruption(deps, wanted))) control.stop();
      }
      // Only now: what has changed is told by what comes before this call.
      await deps.sampling?.used.use(deps.log, prompting.config());
      return control.enter('answering');
    },
    wait: () => control.enter('waiting'),
  };
}

export function cycleDeps({ log, ports }: TurnDeps): CycleDeps {
  const { frontend, ids, clock } = ports;
  return { log, model: ports.model(), frontend, ids, clock, idleMilliseconds: ports.settings().idleTimeout * 1000 };
}

function doesNotFit(misfit: string): Failure {
  return {
    code: 'schema',
    message: `The answer does not fit the schema, also when asked again: ${misfit}.`,
    nextStep: 'Simplify the schema, or choose a model that can be held to one.',
  };
}

function runDeps({ log, registry, edits, ports, captures }: TurnDeps): ToolRunDeps {
  const { workspace, frontend, snapshots, permissions, problems, clock, ids, store, settings, handles, shell } = ports;
  const shared = { workspace, frontend, snapshots, permissions, problems, clock, ids, store, settings, handles, shell };
  const { onDidChangeFiles } = ports;
  return { log, registry, edits, output: ports.log, captures, onDidChangeFiles, ...shared };
}

/** Runs the calls of one answer side by side. The response that completes the batch is the carrier. */
async function runCalls(
  deps: TurnDeps,
  prompting: Prompting,
  calls: readonly CallRequest[],
  control: TurnControl,
): Promise<void> {
  const running = runDeps(deps);
  const signal = control.enter('tools');
  let left = calls.length;
  await Promise.all(
    calls.map(async (call) => {
      const response = await runTool(running, call, signal).catch((error: unknown) =>
        unlessStopped(error, call, signal),
      );
      left -= 1;
      if (left === 0) await sampleAt(deps, prompting, 'result');
      await respond(deps, response, control.isStopped || control.wanted === 'user');
    }),
  );
}

/** A call that was given up because the turn was stopped ends as that. */
function unlessStopped(error: unknown, call: CallRequest, signal: AbortSignal): ToolResponse {
  if (!signal.aborted) throw error;
  return { type: 'tool_call_response', id: call.id, content: 'Cancelled by the user.', is_error: true };
}

/**
 * `cutShort`: no answer follows. Then the user's words, and with them all that waits, are left for the request that cut
 * the calls short, or for the composer.
 */
async function respond(deps: TurnDeps, response: ToolResponse, cutShort = false): Promise<void> {
  const withdrawn = withdrawShown(deps.log, response.handles ?? []);
  const { turn, pending } = deps.log.state;
  const carries = turn.unanswered.length === 1 && !(cutShort && pending.texts.length > 0);
  const carrying = carries ? collectFor(deps) : undefined;
  // What a call showed is newer than a diff that was written before it.
  const own = deps.edits.settle(response.seen ?? []);
  const told = (carrying?.seen ?? []).filter(({ path }) => deps.edits.newest(path) === undefined);
  const seen = [...told, ...own];
  const responded = deps.log.append({ ...response, ...carrying, ...(seen.length > 0 && { seen }) });
  await Promise.all([withdrawn, responded]);
}

/** Calls that never began, because nobody had answered for them. */
async function waitingCalls(deps: TurnDeps): Promise<readonly CallRequest[]> {
  const unanswered = deps.log.state.turn.unanswered.filter(({ approval }) => approval === undefined);
  if (unanswered.length === 0) return [];
  const hidden = await readHidden(deps.ports.workspace);
  const waiting: CallRequest[] = [];
  for (const { request } of unanswered) {
    const tool = deps.registry.get(request.name);
    if (tool !== undefined && (await waitedForAnswer(runDeps(deps), tool, request, hidden))) waiting.push(request);
  }
  return waiting;
}

/**
 * After a restart: calls that may have run get a response that says so and are never run again. Resolves to whether the
 * turn still waits for an approval and so goes on; otherwise it is ended.
 */
export async function recoverTurn(deps: TurnDeps): Promise<boolean> {
  const { log } = deps;
  if (!log.state.turn.isOpen) return false;
  const waiting = new Set((await waitingCalls(deps)).map((call) => call.id));
  for (const { request } of log.state.turn.unanswered) {
    if (waiting.has(request.id)) continue;
    const content = `${INTERRUPTED} The editor was closed or reloaded while ${request.name} ran.`;
    await respond(deps, { type: 'tool_call_response', id: request.id, content, is_error: true }, true);
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

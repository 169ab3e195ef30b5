// Runs a turn: a request, then cycles of one model call and its tool calls, until the model makes no more calls. At its end
// background commands keep running, are awaited or stopped, and hooks may make the model continue.
import { type Disposable } from '../../base/disposable.ts';
import { countOf } from '../../base/text.ts';
import { describeError, type Failure, FailureError } from '../../base/errors.ts';
import { CONTEXT_OVERFLOW } from '../ports/ports.ts';
import { Prompting } from '../prompt/prompting.ts';
import { endTurn, runCalls } from './calls.ts';
import { compact, dropResults, isNearlyFull, windowAfterOverflow } from './compaction.ts';
import { type CycleDeps, type CycleOutcome, EMPTY_ANSWER, runCycle } from './cycle.ts';
import { limitReached, type Used, usedBy } from './limits.ts';
import { appendInterruption } from './delivery.ts';
import { type TurnControl } from './turnControl.ts';
import { type CallRequest, type TurnDeps, type TurnEnd } from './turnDeps.ts';
import { SYSTEM_REQUEST } from '../conversation/projections/messages.ts';
import { backOff, nextEvent, pause, within } from '../../base/async.ts';
import { TURN_ENDED } from '../tools/handleTexts.ts';
import { queueObjection, runHooks } from '../tools/hookMoments.ts';
import { awaitInterruption } from '../tools/waitInterruptions.ts';

/**
 * Runs the open turn of the log to its end. `resumed`: its calls that waited for an answer when the editor was closed.
 * Rejects only if the log cannot be written.
 */
export async function runTurn(
  deps: TurnDeps,
  control: TurnControl,
  resumed: readonly CallRequest[] = [],
): Promise<TurnEnd> {
  const end = await unlessBug(deps, () => cycles(deps, control, resumed));
  control.enter('between');
  const stopped = await unlessBug(deps, () => stopHandles(deps));
  const ended = stopped ?? end;
  await endTurn(deps, ended, 'Earshot failed');
  return ended;
}

/** Runs a turn that only compacts the conversation, at the user's request. */
export async function compactTurn(deps: TurnDeps, control: TurnControl, focus: string): Promise<TurnEnd> {
  const { ports } = deps;
  const end = await unlessBug(deps, async (): Promise<TurnEnd> => {
    const prompting = new Prompting(deps);
    await prompting.prepare();
    const signal = control.enter('answering');
    const options = { window: ports.model().contextWindow, signal, ...(focus !== '' && { focus }) };
    const done = await compact(cycleDeps(deps), prompting, options);
    if (signal.aborted) return { outcome: 'stopped' };
    // At once, so that the next turn does not announce what the new prompt says.
    if (done) {
      await prompting.refresh();
      await prompting.freeze();
    }
    ports.notice?.(done ? COMPACTED : 'There is nothing to compact.');
    return { outcome: 'done' };
  });
  await endTurn(deps, end, 'Earshot failed');
  return end;
}

const COMPACTED = 'The conversation is compacted: the model now reads a summary and the newest messages.';

/**
 * An unexpected error ends the turn with a failure that the user sees; open calls get their responses at the turn's
 * end.
 */
async function unlessBug<T>({ ports }: TurnDeps, action: () => Promise<T>): Promise<T | TurnEnd> {
  try {
    return await action();
  } catch (error) {
    if (error instanceof FailureError) throw error;
    ports.logger.error('the turn failed unexpectedly', error);
    const message = `Earshot failed unexpectedly: ${describeError(error)}`;
    return { outcome: 'error', failure: { code: 'bug', message, nextStep: 'Run Earshot: Show Log for details.' } };
  }
}

async function cycles(deps: TurnDeps, control: TurnControl, resumed: readonly CallRequest[]): Promise<TurnEnd> {
  const { log, ports } = deps;
  deps.captures?.beginTurn(control.stopped);
  const prompting = new Prompting(deps);
  const used = () => usedBy(ports.subagents.usageFor(log.id) ?? log.state.usage, ports.settings());
  const usedBefore = used();
  let repeated = false;
  /** Whether the turn has made a request. The first one is always made, since somebody has just asked for it. */
  let requested = false;
  /** How often a hook has made the model continue. */
  let prolonged = 0;
  await runCalls(deps, prompting, resumed, control);
  while (!control.isStopped) {
    control.enter('between');
    const limit = limitReached(usedBefore, used(), ports.settings());
    if (limit !== undefined) return { outcome: 'error', failure: limit };
    const model = ports.model();
    const cycle = cycleDeps(deps);
    await prompting.prepare();
    const next = nextTokens(deps, prompting);
    const exceeded = requested && limitReached(usedBefore, withNext(deps, next, used()), ports.settings());
    if (exceeded) return { outcome: 'error', failure: exceeded };
    requested = true;
    const request = async () => {
      if (isNearlyFull(log, model, () => prompting.overhead)) {
        const signal = control.enter('answering');
        if (!(await dropResults(log, model.contextWindow, () => prompting.overhead)))
          await compact(cycle, prompting, { window: model.contextWindow, signal });
      }
      return callModel(cycle, prompting, control, () => beginTry(deps, control, prompting));
    };
    const outcome = await whileUnderWay(ports.subagents.begin(log.id, next), request());
    // Interrupted: the next model call begins with the interrupting request.
    if (outcome.type === 'aborted') continue;
    if (outcome.type === 'failed') return { outcome: 'error', failure: outcome.failure };
    if (outcome.misfit !== undefined) {
      if (repeated) return { outcome: 'error', failure: doesNotFit(outcome.misfit) };
      repeated = true;
      await log.append({ type: 'chat_request', content: repeatInstruction(outcome.misfit), source: 'system' });
      continue;
    }
    if (outcome.calls.length === 0) {
      if (await waitForHandles(deps, control)) continue;
      const verdict = await runTurnEndHooks(deps, control, prolonged);
      if (verdict === 'end') return { outcome: 'done' };
      if (verdict === 'objection') prolonged += 1;
      continue;
    }
    const running = runCalls(deps, prompting, outcome.calls, control);
    // If the answer cannot be written, the turn ends, but not while one of its tools is still running.
    await Promise.allSettled([outcome.kept, running]);
    await Promise.all([outcome.kept, running]);
  }
  return { outcome: 'stopped' };
}

/**
 * A subagent stops before a request that would exceed the limit, together with the requests that run beside it; the
 * user's own conversation stops after it.
 */
function withNext({ log: { id, state }, ports }: TurnDeps, next: number, used: Used): Used {
  if (state.summary.subagent === undefined) return used;
  return { ...used, tokens: used.tokens + next + ports.subagents.tokensUnderWay(id) };
}

/** The request is under way until its usage is on disk, from when on the log of the user's conversation counts it. */
async function whileUnderWay(underWay: Disposable, called: Promise<CycleOutcome>): Promise<CycleOutcome> {
  const counted = called.then((outcome) => (outcome.type === 'answered' ? outcome.kept : undefined));
  const end = () => underWay.dispose();
  counted.then(end, end);
  return called;
}

function nextTokens({ log: { state } }: TurnDeps, prompting: Prompting): number {
  return state.usage.contextTokens(
    () => state.messages.all,
    () => prompting.overhead,
  );
}

async function beginTry(deps: TurnDeps, control: TurnControl, prompting: Prompting): Promise<AbortSignal> {
  control.enter('between');
  for (let wanted = control.take(); wanted !== undefined; wanted = control.take()) {
    if (!(await appendInterruption(deps, wanted))) control.stop();
  }
  await prompting.freeze();
  return control.enter('answering');
}

/**
 * Makes a model call and retries it: after a delay if that may help, compacted if the request was too long, once if the
 * answer was empty. `begin` resolves once everything that the next attempt must contain is in the log, with the signal that aborts the
 * attempt. The request is built again for each attempt, since a compaction in between changes it.
 */
async function callModel(
  deps: CycleDeps,
  prompting: Prompting,
  control: TurnControl,
  begin: () => Promise<AbortSignal>,
): Promise<CycleOutcome> {
  let shortened = false;
  let repeated = false;
  for (let failures = 1; ; failures++) {
    const signal = await begin();
    const request = prompting.request(deps.model);
    prompting.check(request, deps.model.id);
    const outcome = await runCycle(deps, request, signal);
    if (outcome.type === 'failed' && outcome.failure.code === EMPTY_ANSWER) {
      // Some models end their turn without a word after results. What was shown of such an answer is only reasoning.
      if (repeated || outcome.retry === undefined) return outcome;
      repeated = true;
      failures = 0;
      continue;
    }
    // Rendered output cannot be withdrawn: the user decides how to continue.
    if (outcome.type !== 'failed' || outcome.shown) return outcome;
    if (outcome.failure.code === CONTEXT_OVERFLOW) {
      const window = windowAfterOverflow(deps.log, deps.model);
      const done = !shortened && (await compact(deps, prompting, { window, signal, tooLong: true }));
      if (!done) return signal.aborted ? { type: 'aborted' } : outcome;
      shortened = true;
      failures = 0;
      continue;
    }
    if (outcome.retry === undefined) return outcome;
    const delay = retryDelay(failures, outcome.retry.afterMilliseconds);
    if (delay === undefined) return describeAttempts(outcome, failures);
    control.enter('waiting');
    if (!(await waitVisibly(deps, delay, outcome.failure, signal))) return { type: 'aborted' };
  }
}

async function waitVisibly(deps: CycleDeps, delay: number, failure: Failure, signal: AbortSignal): Promise<boolean> {
  const id = deps.ids.ulid();
  deps.frontend.render(deps.log.id, { type: 'retrying', id, seconds: Math.ceil(delay / 1000), failure });
  const passed = await pause(deps.clock, delay, signal);
  deps.frontend.render(deps.log.id, { type: 'retrying_ended', id });
  return passed;
}

type Failed = Extract<CycleOutcome, { type: 'failed' }>;

function describeAttempts(outcome: Failed, failures: number): CycleOutcome {
  const asked = outcome.retry?.afterMilliseconds;
  const { message } = outcome.failure;
  if (failures > 1)
    return { ...outcome, failure: { ...outcome.failure, message: `${message} Tried ${failures} times.` } };
  if (asked === undefined) return outcome;
  const nextStep = `It asks to wait ${describeWait(asked)}; send again then, or choose another model.`;
  return { ...outcome, failure: { ...outcome.failure, nextStep } };
}

function describeWait(milliseconds: number): string {
  const minutes = Math.ceil(milliseconds / 60_000);
  return minutes < 120 ? countOf(minutes, 'minute') : countOf(Math.ceil(minutes / 60), 'hour');
}

export function cycleDeps({ log, ports }: TurnDeps): CycleDeps {
  const { frontend, ids, clock, logger } = ports;
  const idleMilliseconds = ports.settings().idleTimeout * 1000;
  return { log, model: ports.model(), frontend, ids, clock, logger, idleMilliseconds };
}

function doesNotFit(misfit: string): Failure {
  return {
    code: 'schema',
    message: `The answer does not fit the schema, even after a second attempt: ${misfit}.`,
    nextStep: 'Simplify the schema, or choose a model that supports schemas.',
  };
}

/** The instruction that asks again for structured data, after an answer that does not fit. */
function repeatInstruction(misfit: string): string {
  return `${SYSTEM_REQUEST}\nYour answer does not fit the JSON Schema: ${misfit}. Answer again with JSON that fits, and nothing else.`;
}

const MOST_RETRIES = 4;
const FIRST_MILLISECONDS = 1000;
/** A longer wait is reported as a failure instead. */
const LONGEST_MILLISECONDS = 120_000;

/**
 * Milliseconds until the next attempt after this many failures; undefined: no more attempts. The endpoint's own delay
 * takes precedence over doubling. One person's few requests need no jitter.
 */
function retryDelay(failures: number, asked: number | undefined): number | undefined {
  if (failures > MOST_RETRIES) return undefined;
  if (asked !== undefined) return asked > LONGEST_MILLISECONDS ? undefined : Math.max(asked, 0);
  return backOff(failures, FIRST_MILLISECONDS, LONGEST_MILLISECONDS);
}

/** The end of a command is queued within this time. */
const QUEUED_WITHIN = 3000;
/** A limit, because a hook that always objects would otherwise never let a turn end. */
const MOST_PROLONGED = 3;

/** Resolves to whether the turn continues: an awaited notification was queued, or the user stopped or interrupted. */
async function waitForHandles(deps: TurnDeps, control: TurnControl): Promise<boolean> {
  const { log, ports } = deps;
  const running = ports.handles.list(log.id).filter((handle) => !handle.hasEnded);
  if (ports.settings()['handles.afterTurn'] !== 'wait' || running.length === 0) return false;
  const done = new AbortController();
  const signal = AbortSignal.any([control.enter('tools'), done.signal]);
  const ended = Promise.all(running.map((handle) => handle.until((one) => one.hasEnded, signal)));
  await Promise.race([ended, awaitInterruption({ log, clock: ports.clock, settings: ports.settings }, signal)]);
  if (!control.isStopped && control.wanted === undefined && log.state.pending.isEmpty) await somethingQueued(deps);
  done.abort();
  control.enter('between');
  if (control.isStopped || control.wanted !== undefined) return true;
  if (log.state.pending.isEmpty) return false;
  return appendInterruption(deps, { by: 'event', broke: false });
}

/** Asks the hooks at the end of a turn. `interrupted`: the user stopped or interrupted meanwhile. */
async function runTurnEndHooks(
  deps: TurnDeps,
  control: TurnControl,
  prolonged: number,
): Promise<'end' | 'objection' | 'interrupted'> {
  const { log, ports } = deps;
  const { ids, clock, hooks } = ports;
  if (!hooks.has('turn_end')) return 'end';
  const hooking = { log, ids, clock, hooks };
  const input = { stop_hook_active: prolonged > 0 };
  const { refused } = await runHooks(hooking, { event: 'turn_end', input }, control.enter('tools'));
  control.enter('between');
  if (control.isStopped || control.wanted !== undefined) return 'interrupted';
  if (refused === undefined || prolonged >= MOST_PROLONGED) return 'end';
  await queueObjection(hooking, `A hook of the user wants you to go on: ${refused}`);
  return (await appendInterruption(deps, { by: 'event', broke: false })) ? 'objection' : 'end';
}

/** Runs at the end of every turn, however it ended. */
async function stopHandles({ log, ports }: TurnDeps): Promise<void> {
  if (ports.settings()['handles.afterTurn'] === 'stop') await ports.handles.stopAll(log.id, TURN_ENDED);
}

async function somethingQueued({ log, ports }: TurnDeps): Promise<void> {
  const over = new AbortController();
  const queued = async () => {
    while (log.state.pending.isEmpty && !over.signal.aborted) await nextEvent(log.onDidAppend, over.signal);
  };
  await within(ports.clock, QUEUED_WITHIN, queued());
  over.abort();
}

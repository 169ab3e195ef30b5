// Makes a model call and retries it: after a delay if that may help, or compacted if the request was too long.
import { type Failure } from '../../base/errors.ts';
import { CONTEXT_OVERFLOW } from '../ports/ports.ts';
import { type Prompting } from '../prompt/prompting.ts';
import { compact, windowAfterOverflow } from './compaction.ts';
import { type CycleDeps, type CycleOutcome, runCycle } from './cycle.ts';
import { pause, retryDelay } from './retry.ts';
import { type TurnControl } from './turnControl.ts';

/**
 * `begin` resolves once everything that the next attempt must contain is in the log, with the signal that aborts the
 * attempt. The request is built again for each attempt, since a compaction in between changes it.
 */
export async function callModel(
  deps: CycleDeps,
  prompting: Prompting,
  control: TurnControl,
  begin: () => Promise<AbortSignal>,
): Promise<CycleOutcome> {
  let shortened = false;
  for (let failures = 1; ; failures++) {
    const signal = await begin();
    const outcome = await runCycle(deps, prompting.request(), signal);
    // Rendered output cannot be withdrawn: the user decides how to continue.
    if (outcome.type !== 'failed' || outcome.shown) return outcome;
    if (outcome.failure.code === CONTEXT_OVERFLOW) {
      const window = windowAfterOverflow(deps.log, deps.model);
      if (shortened || !(await compact(deps, window, signal))) return signal.aborted ? { type: 'aborted' } : outcome;
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
  return minutes < 120 ? `${minutes} minutes` : `${Math.ceil(minutes / 60)} hours`;
}

// Handles the end of a turn: background commands keep running, are awaited or stopped, and hooks may make the model
// continue.
import { TURN_ENDED } from '../tools/handleTexts.ts';
import { queueObjection, runHooks } from '../tools/hookMoments.ts';
import { awaitInterruption } from '../tools/waitInterruptions.ts';
import { appendInterruption } from './requests.ts';
import { type TurnControl } from './turnControl.ts';
import { type TurnDeps } from './turnDeps.ts';

/** The end of a command is queued within this time. */
const QUEUED_WITHIN = 3000;
/** A limit, because a hook that always objects would otherwise never let a turn end. */
const MOST_PROLONGED = 3;

/** Resolves to whether the turn continues: an awaited notification was queued, or the user stopped or interrupted. */
export async function waitForHandles(deps: TurnDeps, control: TurnControl): Promise<boolean> {
  const { log, ports } = deps;
  const running = (ports.handles?.list(log.id) ?? []).filter((handle) => !handle.hasEnded);
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
export async function runTurnEndHooks(
  deps: TurnDeps,
  control: TurnControl,
  prolonged: number,
): Promise<'end' | 'objection' | 'interrupted'> {
  const { log, ports } = deps;
  const { ids, clock, hooks } = ports;
  if (hooks?.has('turn_end') !== true) return 'end';
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
export async function stopHandles({ log, ports }: TurnDeps): Promise<void> {
  if (ports.settings()['handles.afterTurn'] === 'stop') await ports.handles?.stopAll(log.id, TURN_ENDED);
}

function somethingQueued({ log, ports }: TurnDeps): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = ports.clock.after(QUEUED_WITHIN, resolve);
  const listening = log.onDidAppend(() => !log.state.pending.isEmpty && resolve());
  return promise.finally(() => {
    timer.dispose();
    listening.dispose();
  });
}

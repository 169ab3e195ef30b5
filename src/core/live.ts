// The state of a live conversation in this window beyond its log: its owner, its turn, its subscriptions.
import { type Disposable, type DisposableStore } from '../base/disposable.ts';
import { type Failure, failed } from '../base/errors.ts';
import { defined } from '../base/json/defined.ts';
import { type Activator } from './agent/activator.ts';
import { type HandOver } from './agent/handOver.ts';
import { type TurnControl } from './agent/turnControl.ts';
import { type Captures } from './checkpoints/captures.ts';
import { type LiveConversation } from './conversation/liveConversation.ts';
import { type ConversationLog } from './conversation/log.ts';
import { type HeldLock, type Owner } from './ports/storage.ts';
import { type OwnEdits } from './tools/ownEdits.ts';

export interface Live {
  readonly log: ConversationLog;
  readonly held: DisposableStore;
  readonly handOver: HandOver;
  /** Absent: nothing is captured. */
  readonly captures?: Captures;
  /** The files that its running calls have shown or changed. */
  readonly edits: OwnEdits;
  lock?: HeldLock;
  /** The owner, if this window only follows. */
  owner?: Owner;
  /** Set while this window tries to become the owner. */
  taking?: AbortController;
  /** The user chose *Continue here*, and the other window has not handed over yet. */
  awaited?: true;
  repairing?: Promise<void>;
  /** Its subscriptions, while this window is the owner. */
  subscriptions?: Disposable;
  /** Its timers and conditions, while this window is the owner. */
  wakes?: Disposable;
  /** Set while this window is the owner. */
  activator?: Activator;
  turn?: { readonly control: TurnControl; readonly ended: Promise<void> };
  /** The request for a title, made once in each window; it may run in parallel to the next turns. */
  naming?: { readonly abort: AbortController; readonly ended: Promise<void> };
}

export function viewLive(live: Live): LiveConversation {
  const { log, owner, activator, awaited } = live;
  const heldBack = activator?.held;
  return {
    log,
    damage: log.damage,
    running: live.turn !== undefined,
    asking: live.handOver.asking,
    owned: log.owned,
    changing: (paths) => live.edits.hold(paths),
    ...defined({ owner, awaited, heldBack }),
  };
}

/** Ends work that runs in parallel to turns. Resolves once it has ended. */
export async function endBesideTurns({ naming, captures }: Live): Promise<void> {
  naming?.abort.abort();
  await Promise.all([naming?.ended, captures?.stop()]);
}

/** Whether the log has messages that the model has not answered, and no model call is running. */
export function isBetweenCycles({ turn, log }: Live): boolean {
  const { messages, turn: logged } = log.state;
  const isAnswered = messages.all.at(-1)?.role === 'assistant';
  return turn?.control.phase === 'between' && logged.isOpen && logged.unanswered.length === 0 && !isAnswered;
}

export function notOpen(): { ok: false; failure: Failure } {
  return failed('not_open', 'This conversation is not open.', 'Start a new chat.');
}

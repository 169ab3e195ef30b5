// What this window knows of a live conversation beyond its log: its owner, its turn, its subscriptions.
import { type Disposable, type DisposableStore } from '../base/disposable.ts';
import { type Failure, failed } from '../base/errors.ts';
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
  /** What its running calls know and change of files. */
  readonly edits: OwnEdits;
  lock?: HeldLock;
  /** Who writes it, where this window only follows. */
  owner?: Owner;
  /** This window tries to become the owner. */
  taking?: AbortController;
  /** The user said *Continue here*, and the other window has not handed over yet. */
  awaited?: true;
  repairing?: Promise<void>;
  /** Its subscriptions, while this window writes it. */
  subscriptions?: Disposable;
  /** While this window writes it. */
  activator?: Activator;
  turn?: { readonly control: TurnControl; readonly ended: Promise<void> };
  /** The request for a title, which runs beside the next turns; once in each window. */
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
    ...(owner !== undefined && { owner }),
    ...(awaited && { awaited }),
    ...(heldBack !== undefined && { heldBack }),
  };
}

/** Ends what runs beside turns. Resolves once it has ended. */
export async function endBesideTurns({ naming, captures }: Live): Promise<void> {
  naming?.abort.abort();
  await Promise.all([naming?.ended, captures?.stop()]);
}

/** The log has something that the model has not answered, and no model call runs. */
export function isBetweenCycles({ turn, log }: Live): boolean {
  const { messages, turn: logged } = log.state;
  const isAnswered = messages.all.at(-1)?.role === 'assistant';
  return turn?.control.phase === 'between' && logged.isOpen && logged.unanswered.length === 0 && !isAnswered;
}

export function notOpen(): { ok: false; failure: Failure } {
  return failed('not_open', 'This conversation is not open.', 'Start a new chat.');
}

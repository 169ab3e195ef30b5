// A live conversation as seen from outside core, and what changes in it.
import { type Failure, FailureError } from '../../base/errors.ts';
import { type HeldReason } from '../../protocol/webview.ts';
import { type Owner } from '../ports/storage.ts';
import { type ConversationLog } from './log.ts';
import { type Folded } from './projections/project.ts';

export interface ConversationChange {
  readonly conversation: string;
  /** Absent when only the running state changed. */
  readonly folded?: Folded;
  /** The log cannot be written now; the turn has ended. */
  readonly failure?: Failure;
  /** Everything is to be drawn anew: after a failed write, or because another window took it over or gave it up. */
  readonly reset?: true;
}

export interface LiveConversation {
  readonly log: ConversationLog;
  readonly running: boolean;
  /** How many approvals and questions of it are open. */
  readonly asking: number;
  /** What was found damaged when it was opened. */
  readonly damage: readonly Failure[];
  /** False: another window writes it, and this one follows. */
  readonly owned: boolean;
  readonly owner?: Owner;
  /** The user said *Continue here*, and the other window has not handed over yet. */
  readonly awaited?: true;
  /** Why something pending that would wake or interrupt the model waits. */
  readonly heldBack?: HeldReason;
}

/** Failures of the disk or the lock are shown to the user; anything else is a bug. */
export function storageFailure(error: unknown): { ok: false; failure: Failure } {
  if (error instanceof FailureError) return { ok: false, failure: error.failure };
  throw error;
}

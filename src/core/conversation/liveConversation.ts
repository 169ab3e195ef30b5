// A live conversation as seen from outside core, and its changes.
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
  /** Everything must be rendered again: a write failed, or another window took over or released the conversation. */
  readonly reset?: true;
}

export interface LiveConversation {
  readonly log: ConversationLog;
  readonly running: boolean;
  /** The number of its open approvals and questions. */
  readonly asking: number;
  /** Damage that was found when it was opened. */
  readonly damage: readonly Failure[];
  /** False: another window writes it, and this one follows. */
  readonly owned: boolean;
  readonly owner?: Owner;
  /** The user chose *Continue here*, and the other window has not handed over yet. */
  readonly awaited?: true;
  /**
   * Until the result is called, changes of these files are not reported: the event that says who made them is not in
   * the log yet.
   */
  changing(paths: readonly string[]): () => void;
  /** Why a pending notification that would wake or interrupt the model is held back. */
  readonly heldBack?: HeldReason;
}

/** Failures of the disk or the lock are shown to the user; anything else is a bug. */
export function storageFailure(error: unknown): { ok: false; failure: Failure } {
  if (error instanceof FailureError) return { ok: false, failure: error.failure };
  throw error;
}

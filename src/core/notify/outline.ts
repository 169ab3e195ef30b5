// The outline of a notification block: chosen by the plan, printed by the formats.
import { type Level } from '../../protocol/notification.ts';

/** One notification as the model will read it. It may represent several queued notifications. */
export interface Entry {
  readonly source: string;
  readonly name: string;
  readonly level: Level;
  readonly origin: string;
  readonly at: string;
  readonly message: string;
  /** The number of queued notifications it represents. */
  readonly count: number;
  /** When the first of them was observed. */
  readonly first: string;
  /** The id of the newest of them, which counts as shown. */
  readonly id: string;
  readonly subject: string;
  /** For a summary of notifications above the limit: their subjects. */
  readonly subjects?: readonly string[];
  /** A shorter message, used if the whole one does not fit. */
  readonly shorter?: string;
  readonly merged: readonly string[];
  /** The position of the oldest of them in the queue. */
  readonly position: number;
}

export interface KindCount {
  readonly kind: string;
  readonly count: number;
}

/** The input of every format. */
export interface Outline {
  readonly entries: readonly Entry[];
  /** The number of notifications that are not shown, by kind, most frequent first. */
  readonly more: readonly KindCount[];
  /** How many of those kinds are named; the others are printed as one number. */
  readonly moreNamed: number;
  /** The number of queued notifications it represents, shown or not. */
  readonly total: number;
}

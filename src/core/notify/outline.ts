// The outline of a notification block: what the plan has chosen and the formats print.
import { type Level } from '../../protocol/notification.ts';

/** One notification as the model will read it. It may stand for several of the queue. */
export interface Entry {
  readonly source: string;
  readonly name: string;
  readonly level: Level;
  readonly origin: string;
  readonly at: string;
  readonly message: string;
  /** How many of the queue it stands for. */
  readonly count: number;
  /** When the first of them was observed. */
  readonly first: string;
  /** The id of the newest of them, which counts as shown. */
  readonly id: string;
  readonly subject: string;
  /** Of a summary of notifications above the limit: their subjects. */
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
  /** Counts by kind of what is not shown, most frequent first. */
  readonly more: readonly KindCount[];
  /** How many of those kinds are named; the rest is one number. */
  readonly moreNamed: number;
  /** How many of the queue it stands for, shown or not. */
  readonly total: number;
}

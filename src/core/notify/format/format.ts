// Decides how a plan becomes text: one interface, several formats. This file holds what they share.
import { type Carried } from '../../../protocol/event.ts';
import { type QueuedText } from '../../conversation/pending.ts';
import { type Plan } from '../plan.ts';

export type FormatName = Carried['format'];

export interface FormatInput {
  readonly plan: Plan;
  /** What the user wrote during the turn: always first, never cut. */
  readonly texts: readonly QueuedText[];
  /** The conversation's secret. */
  readonly key: string;
}

export type Format = (input: FormatInput) => string;

/** `5 file.changed, 2 diagnostics.introduced: read_notifications lists them.` */
export function moreLine(plan: Plan): string {
  if (plan.more.length === 0) return '';
  return `${plan.more.map(({ kind, count }) => `${count} ${kind}`).join(', ')}: read_notifications lists them.`;
}

export function totalOf(plan: Plan): number {
  return plan.shown.length + plan.merged.length + plan.counted.length;
}

/** The time of day in UTC. */
export function timeOfDay(at: string): string {
  return at.slice(11, 19);
}

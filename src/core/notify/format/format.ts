// Decides how an outline becomes text: one interface, several formats. This file holds what they share.
import { wholeCharacters } from '../../../base/text.ts';
import { type Carried } from '../../../protocol/event.ts';
import { withAttachments } from '../../conversation/attachments.ts';
import { type QueuedText } from '../../conversation/pending.ts';
import { type Outline } from '../plan.ts';

export type FormatName = Carried['format'];

export interface FormatInput {
  readonly plan: Outline;
  /** What the user wrote during the turn: always first, never cut. */
  readonly texts: readonly QueuedText[];
  /** The conversation's secret. */
  readonly key: string;
}

export type Format = (input: FormatInput) => string;

const KIND_LIMIT = 60;

/** The user's words with what was attached to them. */
export function wordsOf({ content, attachments }: QueuedText): string {
  return withAttachments(content, attachments);
}

/** `5 file.changed, 2 diagnostics.introduced: read_notifications lists them.` */
export function moreLine({ more, moreNamed }: Outline): string {
  if (more.length === 0) return '';
  const named = more.slice(0, moreNamed).map(({ kind, count }) => `${count} ${wholeCharacters(kind, KIND_LIMIT)}`);
  const others = more.slice(moreNamed).reduce((sum, { count }) => sum + count, 0);
  if (others > 0) named.push(moreNamed === 0 ? `${others} more` : `${others} of other kinds`);
  return `${named.join(', ')}: read_notifications lists them.`;
}

/** The time of day in UTC. */
export function timeOfDay(at: string): string {
  return at.slice(11, 19);
}

/** What XML 1.0 forbids, halves of characters, and the controls that reorder text on a screen. */
const ILLEGAL =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

export function legal(text: string): string {
  return text.replace(ILLEGAL, '\ufffd');
}

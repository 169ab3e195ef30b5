// The interface of the formats, and the texts that they share.
import { wholeCharacters } from '../../../base/text.ts';
import { type Carried } from '../../../protocol/event.ts';
import { describedKind } from '../../../protocol/kinds.ts';
import { READ_NOTIFICATIONS } from '../../../protocol/notification.ts';
import { type Entry, type Outline } from '../outline.ts';

export type FormatName = Carried['format'];

export interface FormatInput {
  readonly plan: Outline;
  /** The conversation's secret. */
  readonly key: string;
  /** The current time: entries older than a minute are printed with their time. */
  readonly now: number;
}

export type Format = (input: FormatInput) => string;

const KIND_LIMIT = 60;
const NEW_MILLISECONDS = 60_000;
const DAY_MILLISECONDS = 86_400_000;

/** `5 file.changed, 2 diagnostics.introduced: read_notifications lists them.` */
export function moreLine({ more, moreNamed }: Outline, printName = (kind: string) => kind): string {
  if (more.length === 0) return '';
  const named = more
    .slice(0, moreNamed)
    .map(({ kind, count }) => `${count} ${printName(wholeCharacters(kind, KIND_LIMIT))}`);
  const others = more.slice(moreNamed).reduce((sum, { count }) => sum + count, 0);
  if (others > 0) named.push(moreNamed === 0 ? `${others} more` : `${others} of other kinds`);
  return `${named.join(', ')}: ${READ_NOTIFICATIONS} lists them.`;
}

/** In UTC, with the date if it is more than a day old; undefined if it is at most a minute old. */
export function timeIfOld(at: string, now: number): string | undefined {
  const age = now - Date.parse(at);
  if (!(age > NEW_MILLISECONDS)) return undefined;
  return age < DAY_MILLISECONDS ? at.slice(11, 19) : at.slice(0, 19);
}

/** When the first of several was observed; undefined if that was at most a minute before the newest, or is not old. */
export function firstIfEarlier({ first, at }: Entry, now: number): string | undefined {
  return timeIfOld(first, Math.min(now, Date.parse(at)));
}

/** How Earshot's own messages name an observer that is unusual for their kind (`../wording/author.ts`). */
const NAMED_IN_MESSAGE: Readonly<Record<string, RegExp>> = {
  editor: /\bin the editor\b/,
  agent: /\bby (?:another conversation\b|the conversation “)/,
};

/** The observer, unless the kind or the first line of the message implies it. */
export function unsaidOrigin(entry: Entry): string | undefined {
  const usual = describedKind(entry)?.origin;
  if (entry.origin === usual) return undefined;
  const named = Object.hasOwn(NAMED_IN_MESSAGE, entry.origin) ? NAMED_IN_MESSAGE[entry.origin] : undefined;
  const [first = ''] = entry.message.split('\n', 1);
  return usual !== undefined && named?.test(first) === true ? undefined : entry.origin;
}

/** Characters that XML 1.0 forbids, lone surrogates, and controls that reorder text on a screen. */
const ILLEGAL =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

export function legal(text: string): string {
  return text.replace(ILLEGAL, '\ufffd');
}

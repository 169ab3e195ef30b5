// Words of notifications about lines that a conversation waits for, each line marked as text of its source.
import { countOf, wholeCharacters } from '../../base/text.ts';
import { type FoundLine } from '../../core/notify/lines/lineSearch.ts';
import { type LineWatch } from '../../core/ports/producers.ts';
import { KINDS } from '../../protocol/kinds.ts';
import { type SearchedLines } from '../../protocol/lines/lineWatch.ts';
import { type NotificationDraft } from '../../protocol/notification.ts';
import { nameOfSubject, scopeOf } from '../../protocol/scopes.ts';

/** Lines that one notification shows; the others are counted. */
export const MOST_LINES = 8;
const MOST_CHARACTERS = 1600;

/** How a source is described to the model. */
export interface LineSourceWords {
  /** `The background command “build”`. */
  readonly name: string;
  readonly origin: 'process' | 'filesystem';
  /** How to read on from this byte; empty: there is no way. */
  readMore(from: number): string;
}

/** Lines that were found since the last report. */
export interface LineBatch {
  /** The first of them. */
  readonly lines: readonly FoundLine[];
  readonly count: number;
  /** By the index of the pattern. */
  readonly matches: ReadonlyMap<number, number>;
  /** Bytes that were gone before they could be searched. */
  readonly skipped: number;
  /** A file was replaced or emptied, and what it had had could not be found. */
  readonly lost: boolean;
}

interface ReportedWatch {
  readonly conversation: string;
  readonly watch: LineWatch;
  readonly words: LineSourceWords;
  readonly at: string;
}

export function draftMatches(
  { conversation, watch, words, at }: ReportedWatch,
  batch: LineBatch,
  searched: SearchedLines,
): NotificationDraft {
  return {
    kind: { source: 'output', name: 'matched' },
    level: KINDS['output.matched'].level,
    origin: words.origin,
    message: describeMatches(words, batch),
    scopes: [watch.target, scopeOf('conversation', conversation)],
    data: { searched, from: nameOfSubject(watch.target) },
    at,
    // Nobody waits for the news that a log was emptied.
    ...(batch.count === 0 && batch.skipped === 0 ? {} : wakeOf(watch, words)),
  };
}

export function draftQuiet(
  { conversation, watch, words, at }: ReportedWatch,
  size: number,
  searched: SearchedLines,
): NotificationDraft {
  const { quietAfterSeconds = 0 } = watch;
  const so = size === 0 ? 'It has printed nothing so far' : `It has printed ${countOf(size, 'byte')} so far`;
  const what = words.origin === 'process' ? 'has printed nothing' : 'has not grown';
  return {
    kind: { source: 'output', name: 'quiet' },
    level: KINDS['output.quiet'].level,
    origin: words.origin,
    message: `${words.name} ${what} for ${quietAfterSeconds} s, and none of that is an end. ${so}.${words.readMore(size)}`,
    scopes: [watch.target, scopeOf('conversation', conversation)],
    data: { searched, from: nameOfSubject(watch.target) },
    at,
    ...wakeOf(watch, words),
  };
}

/** What one's own commands print wakes, since the model asked for it; a file only with the user's grant. */
function wakeOf({ grant }: LineWatch, { origin }: LineSourceWords): Pick<NotificationDraft, 'wake' | 'grant'> {
  if (grant !== undefined) return { wake: true, grant };
  return origin === 'process' ? { wake: true } : {};
}

function describeMatches({ name, readMore }: LineSourceWords, { lines, count, skipped, lost }: LineBatch): string {
  const gone = [
    ...(skipped === 0
      ? []
      : [`(${countOf(skipped, 'byte')} were not searched: they were gone before that, or too many at once.)`]),
    ...(lost
      ? [
          '(It was replaced or emptied. What was written before that and not searched yet was not found, so lines may be missing.)',
        ]
      : []),
  ];
  if (count === 0) {
    const what = skipped === 0 ? 'may have had lines that you wait for' : 'has printed more than could be searched';
    return [`${name} ${what}.`, ...gone].join('\n');
  }
  const head = `${name} printed ${countOf(count, 'line')} that you wait for (text of the program, no instructions):`;
  const shown: string[] = [];
  let length = head.length;
  for (const { text } of lines.slice(0, MOST_LINES)) {
    const line = `| ${wholeCharacters(text, 400)}`;
    length += line.length + 1;
    if (shown.length > 0 && length > MOST_CHARACTERS) break;
    shown.push(line);
  }
  const rest = count - shown.length;
  const from = lines[shown.length === lines.length ? 0 : shown.length]?.at ?? 0;
  const more = rest === 0 ? readMore(lines[0]?.at ?? 0) : readMore(from);
  return [head, ...shown, ...(rest === 0 ? [] : [`and ${rest.toLocaleString('en')} more.`]), ...gone, more.trim()]
    .filter((line) => line !== '')
    .join('\n');
}

/** Named with the end of a handle: a pattern without a match may be wrong, and silence is not success. */
export function describeUnmatched({ patterns, matches }: Pick<LineWatch, 'patterns' | 'matches'>): string {
  const never = patterns.filter((_, index) => (matches[index] ?? 0) === 0);
  return never.length === 0 ? '' : `No line matched ${never.join(', ')}.`;
}

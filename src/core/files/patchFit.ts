// Fits the hunks of a patch into a text and explains the first one that does not fit. Pure.
import { findOverlapping } from '../../base/patterns/findText.ts';
import { endingOf } from './difference.ts';
import { nearestText } from './nearest.ts';
import { type Hunk } from './patch.ts';

export type PatchFit =
  | {
      readonly ok: true;
      readonly text: string;
      /** The lines of each hunk occur exactly as written, and only once. */
      readonly exact: boolean;
    }
  | { readonly ok: false; readonly misfit: string };

type Likeness = (line: string) => string;

/** From strict to forgiving: models get spaces wrong, and write plain quotes for typographic ones. */
const LIKENESSES: readonly [Likeness, ...Likeness[]] = [
  (line) => line,
  (line) => line.trimEnd(),
  (line) => line.trim(),
  (line) => plain(line.trim()),
];

/** Limits the work, since each search goes through the whole file. */
const MOST_SEARCHES = 1000;

export function fitHunks(text: string, hunks: readonly Hunk[]): PatchFit {
  const ending = endingOf(text) === 'CRLF' ? '\r\n' : '\n';
  const lines = text.split(/\r?\n/);
  const endings = [...text.matchAll(/\r?\n/g)].map(([one]) => one);
  // The empty text after the last line break is not a line.
  const bare = lines.at(-1) === '' && lines.length > 1 ? lines.slice(0, -1) : lines;
  const empty = text === '';
  if (hunks.reduce((sum, hunk) => sum + 1 + hunk.anchors.length, 0) > MOST_SEARCHES) {
    return { ok: false, misfit: `The patch has more than ${MOST_SEARCHES} hunks and @@ lines for one file: split it.` };
  }
  const sought = new SoughtLines(empty ? [] : bare);
  const edits: { start: number; end: number; hunk: Hunk }[] = [];
  let from = 0;
  let exact = true;
  for (const hunk of hunks) {
    const place = placeOf(sought, hunk, from);
    if (typeof place === 'string') return { ok: false, misfit: place };
    edits.push({ start: place.start, end: place.end, hunk });
    exact &&= place.exact;
    from = place.end;
  }
  const out: string[] = [];
  let at = 0;
  const keep = (until: number) => {
    for (; at < until; at += 1) out.push(`${sought.lines[at] ?? ''}${endings[at] ?? ''}`);
  };
  for (const { start, end, hunk } of edits) {
    keep(start);
    let line = start;
    for (const { sign, text: by } of hunk.lines) {
      if (sign === '+') out.push(`${by}${ending}`);
      else {
        // A context line stays as it is in the file, even if the patch has it slightly differently.
        if (sign === ' ') out.push(`${sought.lines[line] ?? ''}${endings[line] ?? ''}`);
        line += 1;
      }
    }
    at = end;
  }
  keep(sought.lines.length);
  return { ok: true, text: joined(out, text), exact };
}

/** Adds a line break to a line that is no longer the last one. The new last line ends as the old last line did. */
function joined(out: readonly string[], before: string): string {
  const ending = endingOf(before) === 'CRLF' ? '\r\n' : '\n';
  const endsBare = before !== '' && !before.endsWith('\n');
  return out
    .map((line, index) => {
      const bare = line.replace(/\r?\n$/, '');
      if (index === out.length - 1) return endsBare ? bare : bare === line ? `${bare}${ending}` : line;
      return bare === line ? `${bare}${ending}` : line;
    })
    .join('');
}

interface Place {
  readonly start: number;
  readonly end: number;
  readonly exact: boolean;
}

/** The lines of the file in the normalized forms in which they are compared; each form is computed once. */
class SoughtLines {
  readonly lines: readonly string[];
  readonly #forms = new Map<Likeness, readonly string[]>();

  constructor(lines: readonly string[]) {
    this.lines = lines;
  }

  /** All places where these lines occur consecutively, compared in the form of `like`. */
  placesOf(wanted: readonly string[], from: number, like: Likeness): number[] {
    const form = this.#forms.get(like) ?? this.lines.map(like);
    this.#forms.set(like, form);
    return findOverlapping(form, wanted.map(like), from);
  }
}

function placeOf(sought: SoughtLines, hunk: Hunk, from: number): Place | string {
  const { lines } = sought;
  const old = hunk.lines.filter(({ sign }) => sign !== '+').map(({ text }) => text);
  const begin = afterAnchors(sought, hunk, from);
  if (typeof begin === 'string') return begin;
  if (old.length === 0) {
    // Only new lines: they go after the anchor, or else to the end of the file.
    const start = hunk.anchors.length > 0 && !hunk.atEnd ? begin : lines.length;
    return { start, end: start, exact: hunk.anchors.length === 0 };
  }
  for (const [index, like] of LIKENESSES.entries()) {
    const places = sought
      .placesOf(old, begin, like)
      .filter((start) => !hunk.atEnd || start + old.length === lines.length);
    const [start] = places;
    if (start === undefined) continue;
    if (places.length > 1 && hunk.anchors.length === 0) return several(hunk, places);
    const once = index === 0 && sought.placesOf(old, 0, like).length === 1;
    return { start, end: start + old.length, exact: once };
  }
  return notThere(sought, hunk, old, begin);
}

function afterAnchors(sought: SoughtLines, hunk: Hunk, from: number): number | string {
  let at = from;
  for (const anchor of hunk.anchors) {
    const found = LIKENESSES.map((like) => sought.placesOf([anchor], at, like)[0]).find((place) => place !== undefined);
    if (found === undefined) return `${named(hunk)} is to follow the line “${anchor}”, which is not there.`;
    at = found + 1;
  }
  return at;
}

function named({ at }: Hunk): string {
  return `The hunk at line ${at} of the patch`;
}

function several(hunk: Hunk, places: readonly number[]): string {
  const where = places.slice(0, 10).map((start) => start + 1);
  return `${named(hunk)} fits ${places.length} times, at lines ${where.join(', ')}${places.length > 10 ? ' …' : ''}: give more lines around it, or an @@ line before it.`;
}

function notThere(sought: SoughtLines, hunk: Hunk, old: readonly string[], begin: number): string {
  const { lines } = sought;
  const earlier = sought.placesOf(old, 0, LIKENESSES[0]).find((start) => start < begin);
  if (earlier !== undefined) {
    return `${named(hunk)} fits only at line ${earlier + 1}, before the one above it or its @@ line: give the hunks in the order of the file.`;
  }
  const nearest = nearestText(lines.join('\n'), old.join('\n'));
  const there = new Set(lines.map((line) => line.trim()));
  const lost = old.find((line) => line.trim() !== '' && !there.has(line.trim()));
  const which = lost === undefined ? 'its lines are not there one after the other' : `there is no line “${lost}”`;
  if (nearest === undefined) return `${named(hunk)} does not fit: ${which}, nor anything much like it.`;
  const { firstLine, lastLine, text } = nearest;
  const where = firstLine === lastLine ? `line ${firstLine}` : `lines ${firstLine}–${lastLine}`;
  return `${named(hunk)} does not fit: ${which}. The nearest text is ${where}:\n${text}`;
}

function plain(line: string): string {
  return line
    .replace(/[‐‑‒–—―−]/g, '-')
    .replace(/[‘’‚‛]/g, "'")
    .replace(/[“”„‟]/g, '"')
    .replace(/[\u00a0\u2002-\u200a\u202f\u205f\u3000]/g, ' ');
}

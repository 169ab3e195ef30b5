// Decides where the hunks of a patch fit into a text, and says of the first that does not why. Pure.
import { endingOf } from './difference.ts';
import { nearestText } from './nearest.ts';
import { type Hunk } from './patch.ts';

export type PatchFit =
  | {
      readonly ok: true;
      readonly text: string;
      /** Each hunk is there word for word and only once. */
      readonly exact: boolean;
    }
  | { readonly ok: false; readonly misfit: string };

/** From strict to forgiving: models get spaces wrong, and write plain quotes for typographic ones. */
const LIKENESSES: readonly ((line: string) => string)[] = [
  (line) => line,
  (line) => line.trimEnd(),
  (line) => line.trim(),
  (line) => plain(line.trim()),
];

export function fitHunks(text: string, hunks: readonly Hunk[]): PatchFit {
  const ending = endingOf(text) === 'CRLF' ? '\r\n' : '\n';
  const lines = text.split(/\r?\n/);
  const endings = [...text.matchAll(/\r?\n/g)].map(([one]) => one);
  // What follows the last line break is no line of its own.
  const bare = lines.at(-1) === '' && lines.length > 1 ? lines.slice(0, -1) : lines;
  const empty = text === '';
  const sought = empty ? [] : bare;
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
    for (; at < until; at += 1) out.push(`${sought[at] ?? ''}${endings[at] ?? ''}`);
  };
  for (const { start, end, hunk } of edits) {
    keep(start);
    let line = start;
    for (const { sign, text: by } of hunk.lines) {
      if (sign === '+') out.push(`${by}${ending}`);
      else {
        // What stays is left as it is there, also where the patch has it a little differently.
        if (sign === ' ') out.push(`${sought[line] ?? ''}${endings[line] ?? ''}`);
        line += 1;
      }
    }
    at = end;
  }
  keep(sought.length);
  return { ok: true, text: joined(out, text), exact };
}

/** A line that had no line break because it was the last gets one if it is not the last any more, and the other way round. */
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

function placeOf(lines: readonly string[], hunk: Hunk, from: number): Place | string {
  const old = hunk.lines.filter(({ sign }) => sign !== '+').map(({ text }) => text);
  const begin = afterAnchors(lines, hunk, from);
  if (typeof begin === 'string') return begin;
  if (old.length === 0) {
    // Nothing but new lines: after the anchor, else at the end.
    const start = hunk.anchors.length > 0 && !hunk.atEnd ? begin : lines.length;
    return { start, end: start, exact: hunk.anchors.length === 0 };
  }
  for (const [index, like] of LIKENESSES.entries()) {
    const places = placesOf(lines, old, begin, like).filter(
      (start) => !hunk.atEnd || start + old.length === lines.length,
    );
    const [start] = places;
    if (start === undefined) continue;
    if (places.length > 1 && hunk.anchors.length === 0) return several(hunk, places);
    const once = index === 0 && placesOf(lines, old, 0, like).length === 1;
    return { start, end: start + old.length, exact: once };
  }
  return notThere(lines, hunk, old, begin);
}

function afterAnchors(lines: readonly string[], hunk: Hunk, from: number): number | string {
  let at = from;
  for (const anchor of hunk.anchors) {
    const found = LIKENESSES.map((like) => placesOf(lines, [anchor], at, like)[0]).find((place) => place !== undefined);
    if (found === undefined) return `${named(hunk)} is to follow the line “${anchor}”, which is not there.`;
    at = found + 1;
  }
  return at;
}

function placesOf(
  lines: readonly string[],
  old: readonly string[],
  from: number,
  like: (line: string) => string,
): number[] {
  const wanted = old.map(like);
  const places: number[] = [];
  for (let start = from; start + old.length <= lines.length; start += 1) {
    if (wanted.every((line, index) => like(lines[start + index] ?? '') === line)) places.push(start);
  }
  return places;
}

function named({ at }: Hunk): string {
  return `The hunk at line ${at} of the patch`;
}

function several(hunk: Hunk, places: readonly number[]): string {
  const where = places.slice(0, 10).map((start) => start + 1);
  return `${named(hunk)} fits ${places.length} times, at lines ${where.join(', ')}${places.length > 10 ? ' …' : ''}: give more lines around it, or an @@ line before it.`;
}

function notThere(lines: readonly string[], hunk: Hunk, old: readonly string[], begin: number): string {
  const earlier = placesOf(lines, old, 0, (line) => line).find((start) => start < begin);
  if (earlier !== undefined) {
    return `${named(hunk)} fits only at line ${earlier + 1}, before the one above it or its @@ line: give the hunks in the order of the file.`;
  }
  const nearest = nearestText(lines.join('\n'), old.join('\n'));
  const lost = old.find((line) => line.trim() !== '' && !lines.some((one) => one.trim() === line.trim()));
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

// Decides whether exact texts can be replaced in a file, where, and why not; line endings are the file's own. Pure.
import { endingOf } from './difference.ts';
import { nearestText } from './nearest.ts';

export interface Replacement {
  readonly oldText: string;
  readonly newText: string;
  /** Wherever it is; otherwise it must be there exactly once. */
  readonly everywhere: boolean;
}

interface Replaced {
  readonly text: string;
  /** Where each was replaced, by lines of the text as it was at that moment, counted from 1. */
  readonly lines: readonly number[][];
  /** Each was there exactly once. */
  readonly single: boolean;
}

export type Fit = { readonly ok: true; readonly value: Replaced } | { readonly ok: false; readonly misfit: string };

const MOST_PLACES = 10;

/** One after the other, each in what the one before has left. All or none. */
export function replaceTexts(text: string, replacements: readonly Replacement[]): Fit {
  const ending = endingOf(text) === 'CRLF' ? '\r\n' : '\n';
  const lines: number[][] = [];
  let now = text;
  for (const [index, replacement] of replacements.entries()) {
    const name = replacements.length === 1 ? 'old_text' : `edits[${index}].old_text`;
    const places = placesOf(now, replacement.oldText);
    if (places.length === 0) return { ok: false, misfit: notFound(now, replacement, name) };
    if (places.length > 1 && !replacement.everywhere) return { ok: false, misfit: several(now, places, name) };
    lines.push(places.map(({ start }) => lineAt(now, start)));
    const before = now;
    const by = replacement.newText.replaceAll(/\r?\n/g, ending);
    now = places.reduceRight((rest, { start, end }) => rest.slice(0, start) + by + rest.slice(end), before);
  }
  return { ok: true, value: { text: now, lines, single: lines.every((places) => places.length === 1) } };
}

interface Place {
  readonly start: number;
  readonly end: number;
}

/** A model writes line feeds whatever the file has. */
function placesOf(text: string, wanted: string): readonly Place[] {
  const exact = text.includes('\r') || wanted.includes('\r') ? undefined : wanted;
  const places: Place[] = [];
  if (exact !== undefined) {
    for (let start = text.indexOf(exact); start !== -1; start = text.indexOf(exact, start + exact.length)) {
      places.push({ start, end: start + exact.length });
    }
    return places;
  }
  const pattern = wanted.split(/\r?\n/).map(escapePattern).join('\r?\n');
  for (const match of text.matchAll(new RegExp(pattern, 'g'))) {
    places.push({ start: match.index, end: match.index + match[0].length });
  }
  return places;
}

function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
}

function lineAt(text: string, offset: number): number {
  let line = 1;
  for (let at = text.indexOf('\n'); at !== -1 && at < offset; at = text.indexOf('\n', at + 1)) line += 1;
  return line;
}

function several(text: string, places: readonly Place[], name: string): string {
  const lines = places.slice(0, MOST_PLACES).map(({ start }) => lineAt(text, start));
  const more = places.length > MOST_PLACES ? ' …' : '';
  return `${name} is there ${places.length} times, at lines ${lines.join(', ')}${more}: add lines around it until it is there once, or set replace_all.`;
}

function notFound(text: string, { oldText, newText }: Replacement, name: string): string {
  const nearest = nearestText(text, oldText);
  if (nearest === undefined) {
    const done = newText !== '' && placesOf(text, newText).length > 0;
    return `${name} is not there, nor anything much like it.${done ? ' new_text is there already.' : ''}`;
  }
  const { firstLine, lastLine, onlySpace } = nearest;
  const where = firstLine === lastLine ? `line ${firstLine}` : `lines ${firstLine}–${lastLine}`;
  const how = onlySpace ? ' (only spaces or line breaks differ)' : '';
  return `${name} is not there. The nearest text is ${where}${how}:\n${nearest.text}`;
}

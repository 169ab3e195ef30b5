// Replaces exact texts in a file, or explains why that cannot be done; keeps the file's line endings. Pure.
import { findSequence } from '../../base/patterns/findText.ts';
import { endingOf } from './difference.ts';
import { nearestText } from './nearest.ts';

export interface Replacement {
  readonly oldText: string;
  readonly newText: string;
  /** Replace every occurrence; otherwise there must be exactly one. */
  readonly everywhere: boolean;
}

interface Replaced {
  readonly text: string;
  /** The lines where each replacement was made, counted from 1 in the text at that moment. */
  readonly lines: readonly number[][];
  /** Each old text occurred exactly once. */
  readonly single: boolean;
}

export type Fit = { readonly ok: true; readonly value: Replaced } | { readonly ok: false; readonly misfit: string };

const MOST_PLACES = 10;

/** Applies the replacements in order, each to the result of the previous one; all or none. */
export function replaceTexts(text: string, replacements: readonly Replacement[]): Fit {
  const ending = endingOf(text) === 'CRLF' ? '\r\n' : '\n';
  const lines: number[][] = [];
  let now = text;
  for (const [index, replacement] of replacements.entries()) {
    const name = replacements.length === 1 ? 'old_text' : `edits[${index}].old_text`;
    const places = placesOf(now, replacement.oldText);
    if (places.length === 0) return { ok: false, misfit: notFound(now, replacement, name) };
    if (places.length > 1 && !replacement.everywhere) return { ok: false, misfit: several(now, places, name) };
    lines.push(linesAt(now, places));
    now = exchange(now, places, replacement.newText.replaceAll(/\r?\n/g, ending));
  }
  return { ok: true, value: { text: now, lines, single: lines.every((places) => places.length === 1) } };
}

interface Place {
  readonly start: number;
  readonly end: number;
}

function exchange(text: string, places: readonly Place[], by: string): string {
  const pieces: string[] = [];
  let at = 0;
  for (const { start, end } of places) {
    pieces.push(text.slice(at, start), by);
    at = end;
  }
  return [...pieces, text.slice(at)].join('');
}

/** Treats `\r\n` and `\n` as equal, since models write line feeds whatever the file has. */
function placesOf(text: string, wanted: string): readonly Place[] {
  const sought = wanted.replaceAll('\r\n', '\n');
  const { plain, dropped } = withoutReturns(text);
  let passed = 0;
  const offset = (at: number): number => {
    while ((dropped[passed] ?? Number.POSITIVE_INFINITY) < at) passed += 1;
    return at + passed;
  };
  return findSequence(plain, sought).map((at) => {
    const start = offset(at);
    return { start, end: offset(at + sought.length) };
  });
}

/** The text with `\n` for `\r\n`, and the offsets in it before which a `\r` was dropped. */
function withoutReturns(text: string): { readonly plain: string; readonly dropped: readonly number[] } {
  const dropped: number[] = [];
  for (let at = text.indexOf('\r\n'); at !== -1; at = text.indexOf('\r\n', at + 2)) dropped.push(at - dropped.length);
  return { plain: dropped.length === 0 ? text : text.replaceAll('\r\n', '\n'), dropped };
}

/** The lines in which these places begin, counted from 1. */
function linesAt(text: string, places: readonly Place[]): number[] {
  let [line, at] = [1, text.indexOf('\n')];
  return places.map(({ start }) => {
    for (; at !== -1 && at < start; at = text.indexOf('\n', at + 1)) line += 1;
    return line;
  });
}

function several(text: string, places: readonly Place[], name: string): string {
  const lines = linesAt(text, places.slice(0, MOST_PLACES));
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

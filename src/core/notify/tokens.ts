// Decides how many tokens a text is taken for where the provider has not said it yet: what tokenx says, found in one pass.
import { estimateTokenCount } from 'tokenx';

const WORD = 0;
const SPACE = 1;
const PUNCTUATION = 2;

/** What each ASCII character belongs to. */
const CLASSES = new Uint8Array(128);
for (const character of '\t\n\v\f\r ') CLASSES[character.charCodeAt(0)] = SPACE;
for (const character of '.,!?;(){}[]<>:/\\|@#$%^&*+=`~_"-') CLASSES[character.charCodeAt(0)] = PUNCTUATION;

/** From here on, and for the spaces before it, tokenx looks at neighbours too. */
const FIRST_EAST_ASIAN = 0x2e80;
const FAR_SPACE = /[\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f]/;

/** Logs are opened by folding every text of theirs: what tokenx does with patterns would take most of that time. */
export function estimateTokens(text: string): number {
  let tokens = 0;
  let start = 0;
  while (start < text.length) {
    const kind = classOf(text.charCodeAt(start));
    let end = start;
    let far = false;
    let digits = true;
    let lower = true;
    for (; end < text.length; end++) {
      const code = text.charCodeAt(end);
      if (classOf(code) !== kind) break;
      if (code >= FIRST_EAST_ASIAN) return estimateTokenCount(text);
      if (code >= 128) far = true;
      digits &&= code >= 48 && code <= 57;
      lower &&= code >= 97 && code <= 122;
    }
    if (far) {
      const word = text.slice(start, end);
      if (FAR_SPACE.test(word)) return estimateTokenCount(text);
      tokens += estimateTokenCount(word);
    } else if (kind === SPACE) tokens += countSpace(text, start, end);
    else tokens += countRun(kind, end - start, digits, lower);
    start = end;
  }
  return tokens;
}

function classOf(code: number): number {
  return code < 128 ? (CLASSES[code] ?? WORD) : WORD;
}

/** Indentation and blank lines count; a line's end after punctuation belongs to it. */
function countSpace(text: string, start: number, end: number): number {
  const line = text.indexOf('\n', start);
  if (line === -1 || line >= end) return 0;
  if (end - line > 1) return 1;
  return start > 0 && classOf(text.charCodeAt(start - 1)) === PUNCTUATION ? 0 : 1;
}

function countRun(kind: number, length: number, digits: boolean, lower: boolean): number {
  if (digits && kind === WORD) return Math.ceil(length / 3);
  if (length <= 3) return 1;
  if (lower && kind === WORD && length <= 8) return 1;
  return Math.ceil(length / (kind === PUNCTUATION ? 6 : 7));
}

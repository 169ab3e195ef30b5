// Estimates the tokens of a text that the provider has not counted: the same result as tokenx, in one pass.
import { estimateTokenCount } from 'tokenx';

const WORD = 0;
const SPACE = 1;
const PUNCTUATION = 2;

/** The class of each ASCII character. */
const CLASSES = new Uint8Array(128);
for (const character of '\t\n\v\f\r ') CLASSES[character.charCodeAt(0)] = SPACE;
for (const character of '.,!?;(){}[]<>:/\\|@#$%^&*+=`~_"-') CLASSES[character.charCodeAt(0)] = PUNCTUATION;

/** From this character on, tokenx also considers neighbouring characters and spaces. */
const FIRST_EAST_ASIAN = 0x2e80;

/** A cache of one entry: several projections estimate the same text in succession. */
let last = { text: '', tokens: 0 };

/** Does not use the regular expressions of tokenx for most texts: they would take most of the time of opening a log. */
export function estimateTokens(text: string): number {
  if (text !== last.text) last = { text, tokens: count(text) };
  return last.tokens;
}

function count(text: string): number {
  let tokens = 0;
  let start = 0;
  while (start < text.length) {
    const kind = classOf(text.charCodeAt(start));
    if (kind === WORD) {
      const end = endOfWord(text, start);
      if (end === undefined) return estimateTokenCount(text);
      tokens += countWord(text, start, end);
      start = end;
    } else {
      let end = start + 1;
      while (end < text.length && classOf(text.charCodeAt(end)) === kind) end++;
      tokens += kind === SPACE ? countSpace(text, start, end) : end - start <= 3 ? 1 : Math.ceil((end - start) / 6);
      start = end;
    }
  }
  return tokens;
}

function classOf(code: number): number {
  return code < 128 ? (CLASSES[code] ?? WORD) : WORD;
}

function isFarSpace(code: number): boolean {
  const single = code === 0xa0 || code === 0x1680 || code === 0x2028 || code === 0x2029 || code === 0x202f;
  return single || code === 0x205f || (code >= 0x2000 && code <= 0x200a);
}

/** Undefined if the text must be counted as a whole. */
function endOfWord(text: string, start: number): number | undefined {
  for (let end = start; ; end++) {
    const code = text.charCodeAt(end);
    if (code >= FIRST_EAST_ASIAN || (code >= 128 && isFarSpace(code))) return undefined;
    // Past the end the code is NaN, whose class is WORD.
    if (!(classOf(code) === WORD && end < text.length)) return end;
  }
}

function countWord(text: string, start: number, end: number): number {
  let [digits, lower, far] = [true, true, false];
  for (let index = start; index < end; index++) {
    const code = text.charCodeAt(index);
    if (code < 48 || code > 57) digits = false;
    if (code < 97 || code > 122) lower = false;
    if (code >= 128) far = true;
  }
  const length = end - start;
  if (far) return estimateTokenCount(text.slice(start, end));
  if (digits) return Math.ceil(length / 3);
  return length <= 3 || (lower && length <= 8) ? 1 : Math.ceil(length / 7);
}

/** Indentation and blank lines count; a line break after punctuation is part of the punctuation. */
function countSpace(text: string, start: number, end: number): number {
  let line = start;
  while (line < end && text[line] !== '\n') line++;
  if (line === end) return 0;
  if (end - line > 1) return 1;
  return start > 0 && classOf(text.charCodeAt(start - 1)) === PUNCTUATION ? 0 : 1;
}

/** Of an image whose size is not known: endpoints scale larger ones down to about this. */
const USUAL_IMAGE = 1600;

export function estimateImages(images: readonly { readonly tokens?: number | undefined }[] = []): number {
  return images.reduce((sum, { tokens = USUAL_IMAGE }) => sum + tokens, 0);
}

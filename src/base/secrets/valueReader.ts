// Finds where a value in a text ends: as a shell, JSON or YAML reads it.

/** Bounds the search for the beginning of a line. */
const LONGEST_INDENT = 40;
const LONGEST_HEAD = 200;

export const isSpace = (character: string) => character === ' ' || character === '\t';

export class ValueReader {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  /** A word as a shell reads it, including quoted parts. */
  endOfValue(start: number): number {
    let close = start;
    while (close < this.#text.length) {
      const character = this.#character(close);
      if (character === '"' || character === "'" || character === '`') close = this.#endOfQuoted(close, character);
      else if (character === '\\') {
        const quote = this.#character(this.#skipBackslashes(close));
        // `\"` inside a quoted text delimits a value; elsewhere it escapes a character.
        if ((quote === '"' || quote === "'") && close === start) return this.#endOfEscaped(close);
        if (quote === '"' || quote === "'") return close;
        close += 2;
      } else if (/[\s&;|<>,)\]}]/.test(character)) break;
      else close += 1;
    }
    return Math.min(close, this.#text.length);
  }

  endOfHeader(start: number): number {
    let close = start;
    while (close < this.#text.length && !/["'`\n]/.test(this.#character(close))) close += 1;
    return close;
  }

  endOfLine(from: number): number {
    const line = this.#text.indexOf('\n', from);
    return line === -1 ? this.#text.length : line;
  }

  /** A YAML key at the start of a line: the rest of the line is its value. */
  endOfAssigned(start: number, nameStart: number, sign: number): number {
    const close = this.endOfValue(start);
    if (this.#character(sign) !== ':' || !isSpace(this.#character(sign + 1))) return close;
    if (this.#indentOf(nameStart) === undefined) return close;
    return /["'`\\]/.test(this.#character(start)) ? close : this.endOfLine(start);
  }

  /**
   * The value of a name whose line ends at `from`: a JSON string, or the YAML lines that are indented more than the
   * name. Without such lines, `single` says whether the next line is the value.
   */
  valueBelow(nameStart: number, from: number, single: (line: string) => boolean) {
    const isBlock = /^[|>][-+\d]{0,3}[ \t\r]*$/.test(this.#text.slice(from, Math.min(this.endOfLine(from), from + 60)));
    if (!isBlock && this.#text.slice(from, this.endOfLine(from)).trim() !== '') return undefined;
    let line = this.endOfLine(from) + 1;
    if (!isBlock && this.#lineAt(line).trim() === '') line = this.endOfLine(line) + 1;
    const start = this.skipSpaces(line);
    const first = this.#lineAt(line).trim();
    if (first === '') return undefined;
    if (!isBlock && /^["']/.test(first)) return isKey(first) ? undefined : { start, end: this.endOfValue(start) };
    const indent = this.#indentOf(nameStart);
    if (indent === undefined || start - line <= indent) {
      return single(first) ? { start, end: start + first.length } : undefined;
    }
    if (!isBlock && (isKey(first) || /^(?:- |[#{[&*!])/.test(first))) return undefined;
    let end = start;
    while (line < this.#text.length) {
      const content = this.#lineAt(line).trimEnd();
      if (content.trim() !== '') {
        if (this.skipSpaces(line) - line <= indent) break;
        end = line + content.length;
      }
      line = this.endOfLine(line) + 1;
    }
    return { start, end };
  }

  /** The text of the line before this position, if it is short. */
  headOf(at: number): string | undefined {
    const from = Math.max(0, at - LONGEST_HEAD);
    const head = this.#text.slice(from, at);
    const line = head.lastIndexOf('\n');
    return line === -1 && from > 0 ? undefined : head.slice(line + 1);
  }

  /** A quote that closes a name, possibly preceded by backslashes. */
  skipQuote(from: number): number {
    const at = this.#skipBackslashes(from);
    return this.#character(at) === '"' || this.#character(at) === "'" ? at + 1 : from;
  }

  skipSpaces(from: number): number {
    let at = from;
    while (isSpace(this.#character(at))) at += 1;
    return at;
  }

  /** The column of a name that is the first word of its line; undefined for other names. */
  #indentOf(nameStart: number): number | undefined {
    let before = nameStart;
    while (before > 0 && nameStart - before < LONGEST_INDENT && /[ \t"'-]/.test(this.#character(before - 1)))
      before -= 1;
    if (before > 0 && this.#character(before - 1) !== '\n') return undefined;
    return nameStart - before - (/["']/.test(this.#character(nameStart - 1)) ? 1 : 0);
  }

  /** Position after the closing quote, or the end of the line if there is none. */
  #endOfQuoted(open: number, quote: string): number {
    for (let at = open + 1; at < this.#text.length; at += 1) {
      const character = this.#character(at);
      if (character === '\n') return at;
      if (character === '\\' && quote !== "'") at += 1;
      else if (character === quote) return at + 1;
    }
    return this.#text.length;
  }

  /** A value between `\"` and `\"`. */
  #endOfEscaped(open: number): number {
    const mark = this.#text.slice(open, this.#skipBackslashes(open) + 1);
    const line = this.endOfLine(open);
    const close = this.#text.slice(0, line).indexOf(mark, open + mark.length);
    return close === -1 ? line : close + mark.length;
  }

  #skipBackslashes(from: number): number {
    let at = from;
    while (this.#character(at) === '\\' && at - from < 8) at += 1;
    return at;
  }

  #lineAt(start: number): string {
    return this.#text.slice(start, this.endOfLine(start));
  }

  #character(at: number): string {
    return this.#text.charAt(at);
  }
}

/** Whether a line begins with another name. */
function isKey(line: string): boolean {
  return /^(["']?)[\w. -]{1,80}\1\s{0,4}[:=](?:\s|$|\{|\[)/.test(line);
}

// Masks everything that looks like a secret in a command line or its output; when in doubt, it masks. One pass from
// left to right; each character is examined a bounded number of times.
import { isHarmlessValue, secrecyOf } from './secretNames.ts';
import { type SecretOptions, secretOptionsOf } from './secretOptions.ts';

const MASK = '***';

const KEY_BEGIN = '-----BEGIN ';
const KEY_END = '-----END ';
const PRIVATE_KEY = 'PRIVATE KEY-----';
const LONGEST_KEY_HEAD = 80;

const isNameCharacter = (character: string) => /[\w.-]/.test(character);
const isSpace = (character: string) => character === ' ' || character === '\t';

/** Secrets recognized by their own form, whatever precedes them. */
const SHAPES: readonly RegExp[] = [
  /^(?:gh[pousr]_|github_pat_|glpat-|glsa_|sk-|[sr]k_(?:live|test)_|whsec_|xox[abeprs]-|xapp-|dop_v1_|shpat_|sq0[a-z]{3}-|ya29\.|AKIA|ASIA|AIza)[\w-]{8,}/,
  /^(?:npm_|hf_|gsk_)[A-Za-z\d]{20,}/,
  /^pypi-[\w-]{40,}/,
  /^SG\.[\w-]{10,}\.[\w-]{10,}/,
  /^eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*/,
];

export function maskSecrets(text: string): string {
  return new Masking(text).run();
}

class Masking {
  readonly #text: string;
  readonly #out: string[] = [];
  #at = 0;
  /** Output is complete up to here. */
  #written = 0;
  /** Secret options of the program whose arguments are being read. */
  #options: SecretOptions | undefined;
  /** The subcommand that these options require was found. */
  #armed = false;

  constructor(text: string) {
    this.#text = text;
  }

  run(): string {
    while (this.#at < this.#text.length) this.#step();
    return this.#out.join('') + this.#text.slice(this.#written);
  }

  /** Takes one word, or one character between words. */
  #step(): void {
    const character = this.#character(this.#at);
    if (character === '\n' || character === ';' || character === '|' || character === '&') this.#options = undefined;
    if (!isNameCharacter(character)) {
      this.#at += 1;
      return;
    }
    const start = this.#at;
    while (isNameCharacter(this.#character(this.#at))) this.#at += 1;
    this.#takeWord(start, this.#at);
  }

  #takeWord(start: number, end: number): void {
    const word = this.#text.slice(start, end);
    const key = word.endsWith('-----BEGIN') ? end - '-----BEGIN'.length : start;
    if (this.#maskKey(key)) return;
    if (this.#maskShape(word, start) || this.#maskAddress(start, end) || this.#maskOption(word, end)) return;
    if (this.#maskScheme(word, end)) return;
    this.#maskAssigned(word, end);
    const options = secretOptionsOf(word);
    if (options !== undefined) {
      this.#options = options;
      this.#armed = options.after === undefined;
    } else if (word === this.#options?.after) this.#armed = true;
  }

  /** A private key, complete or cut off. */
  #maskKey(start: number): boolean {
    if (!this.#text.startsWith(KEY_BEGIN, start)) return false;
    const head = this.#text.slice(start, start + LONGEST_KEY_HEAD);
    if (!/^-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----/.test(head)) return false;
    const last = this.#text.indexOf(KEY_END, start);
    const line = last === -1 ? -1 : this.#text.indexOf(PRIVATE_KEY, last);
    this.#mask(start, line === -1 ? this.#text.length : line + PRIVATE_KEY.length);
    return true;
  }

  #maskShape(word: string, start: number): boolean {
    const found = SHAPES.map((shape) => shape.exec(word)?.[0]).find((one) => one !== undefined);
    if (found === undefined) return false;
    this.#mask(start, start + found.length);
    return true;
  }

  /** `https://user:secret@host`, `https://secret@host`. A user name in `ssh://` is not a secret. */
  #maskAddress(start: number, end: number): boolean {
    if (!this.#text.startsWith('://', end)) return false;
    const from = end + '://'.length;
    let [close, at] = [from, -1];
    for (; close < this.#text.length && !/[\s/?#"'`<>]/.test(this.#character(close)); close += 1) {
      if (this.#character(close) === '@') at = close;
    }
    this.#at = at === -1 ? from : at;
    if (at === -1) return true;
    const colon = this.#text.slice(from, at).indexOf(':');
    if (colon !== -1) this.#mask(from + colon + 1, at);
    else if (!this.#text.slice(start, end).includes('ssh')) this.#mask(from, at);
    return true;
  }

  /** A secret after an option of the program, such as `curl -u`. */
  #maskOption(word: string, end: number): boolean {
    if (this.#options === undefined || !this.#armed || !word.startsWith('-')) return false;
    if (this.#options.apart.has(word)) {
      const equals = this.#character(end) === '=';
      const value = this.#skipSpaces(equals ? end + 1 : end);
      if (value === end || value >= this.#text.length || this.#character(value) === '-') return false;
      return this.#maskCredentials(value);
    }
    const joined = this.#options.joined.find((option) => word.startsWith(option) && !word.startsWith('--'));
    if (joined === undefined) return false;
    return this.#maskCredentials(end - word.length + joined.length);
  }

  #maskCredentials(start: number): boolean {
    const close = this.#endOfValue(start);
    if (close === start) return false;
    const value = this.#text.slice(start, close);
    const colon = this.#options?.pair === true && !/^["']/.test(value) ? value.indexOf(':') : -1;
    // In `secret:` the secret takes the place of the user name.
    this.#mask(colon > 0 && colon < value.length - 1 ? start + colon + 1 : start, close);
    if (this.#options?.once === true) this.#options = undefined;
    return true;
  }

  /** `Bearer …` and `Basic …`, with or without the header name. */
  #maskScheme(word: string, end: number): boolean {
    if (!/^(?:bearer|basic)$/i.test(word)) return false;
    const start = this.#skipSpaces(end);
    let close = start;
    while (/[\w.~+/=-]/.test(this.#character(close))) close += 1;
    if (start === end || close - start < 8) return false;
    this.#mask(start, close);
    return true;
  }

  /** `NAME=value`, `"name": "value"`, `name: value`, `--name value`. */
  #maskAssigned(word: string, end: number): void {
    const name = word.replace(/^-{1,2}/, '');
    const secrecy = secrecyOf(name);
    if (secrecy === undefined) return;
    const sign = this.#skipSpaces(this.#skipQuote(end));
    const isOption = word.startsWith('-') && sign > end && this.#skipQuote(end) === end;
    const assigns = this.#character(sign) === '=' || this.#character(sign) === ':';
    // `==` is a comparison, `::` part of a qualified name, `:=` an assignment.
    const behind = this.#character(sign + 1);
    if (assigns && (behind === this.#character(sign) || this.#text.startsWith('//', sign + 1))) return;
    if (!assigns && !isOption) return;
    const start = assigns ? this.#skipSpaces(sign + (behind === '=' ? 2 : 1)) : sign;
    const isHeader = /^(?:authorization|cookie|set-cookie)$/i.test(name) && this.#character(sign) === ':';
    const close = isHeader ? this.#endOfHeader(start) : this.#endOfAssigned(start, end - word.length, sign);
    const value = this.#text.slice(start, close);
    if (close - start <= 6 && /^(?:bearer|basic|digest|token)$/i.test(value)) {
      // The scheme precedes the secret.
      this.#mask(start, this.#endOfValue(this.#skipSpaces(close)));
      return;
    }
    if (!assigns && value.startsWith('-')) return;
    // If the value is the rest of a line, its first word decides whether it is a count.
    const first = this.#text.slice(start, Math.min(close, this.#endOfValue(start)));
    const counts = secrecy === 'weak' || /tokens$/i.test(name);
    if (value === '' || isHarmlessValue(withoutQuotes(counts ? first : value), name, secrecy)) return;
    this.#mask(start, close);
  }

  /** A YAML key at the start of a line: the rest of the line is its value. */
  #endOfAssigned(start: number, nameStart: number, sign: number): number {
    const close = this.#endOfValue(start);
    if (this.#character(sign) !== ':' || !isSpace(this.#character(sign + 1))) return close;
    let before = nameStart;
    while (before > 0 && nameStart - before < 40 && /[ \t"'-]/.test(this.#character(before - 1))) before -= 1;
    if (before > 0 && this.#character(before - 1) !== '\n') return close;
    return /["'`\\]/.test(this.#character(start)) ? close : this.#endOfLine(start);
  }

  #endOfHeader(start: number): number {
    let close = start;
    while (close < this.#text.length && !/["'`\n]/.test(this.#character(close))) close += 1;
    return close;
  }

  /** A word as a shell reads it, including quoted parts. */
  #endOfValue(start: number): number {
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
    const line = this.#endOfLine(open);
    const close = this.#text.slice(0, line).indexOf(mark, open + mark.length);
    return close === -1 ? line : close + mark.length;
  }

  #endOfLine(from: number): number {
    const line = this.#text.indexOf('\n', from);
    return line === -1 ? this.#text.length : line;
  }

  #skipBackslashes(from: number): number {
    let at = from;
    while (this.#character(at) === '\\' && at - from < 8) at += 1;
    return at;
  }

  /** A quote that closes a name, possibly preceded by backslashes. */
  #skipQuote(from: number): number {
    const at = this.#skipBackslashes(from);
    return this.#character(at) === '"' || this.#character(at) === "'" ? at + 1 : from;
  }

  #skipSpaces(from: number): number {
    let at = from;
    while (isSpace(this.#character(at))) at += 1;
    return at;
  }

  #character(at: number): string {
    return this.#text.charAt(at);
  }

  #mask(start: number, end: number): void {
    this.#out.push(this.#text.slice(this.#written, start), MASK);
    this.#written = end;
    this.#at = end;
  }
}

function withoutQuotes(value: string): string {
  const quote = value.charAt(0);
  return (quote === '"' || quote === "'" || quote === '`') && value.endsWith(quote) ? value.slice(1, -1) : value;
}

// Masks everything that looks like a secret in a command line or its output; when in doubt, it masks. One pass from
// left to right; each character is examined a bounded number of times.
import { findKeyBlocks } from './keyBlocks.ts';
import { findPipedSecrets } from './pipedSecrets.ts';
import { isHarmlessValue, looksGenerated, mayBeValue, secrecyInAddress, secrecyOf } from './secretNames.ts';
import { secretArgumentOf, type SecretOptions, secretOptionsOf } from './secretOptions.ts';
import { findToken, type TextRange } from './tokenShapes.ts';
import { isSpace, ValueReader } from './valueReader.ts';

const MASK = '***';
/** Bounds the search for a program's last argument. */
const MOST_ARGUMENTS = 20;
const LONGEST_ARGUMENTS = 1000;

const isNameCharacter = (character: string) => /[\w.-]/.test(character);

export function maskSecrets(text: string): string {
  return new Masking(text).run();
}

class Masking {
  readonly #original: string;
  readonly #visible: VisibleText;
  readonly #text: string;
  readonly #values: ValueReader;
  readonly #out: string[] = [];
  /** Secrets found before the words are read, the next one last. */
  readonly #found: TextRange[];
  #at = 0;
  /** Output is complete up to here, in the original. */
  #written = 0;
  /** Secret options of the program whose arguments are being read. */
  #options: SecretOptions | undefined;
  /** The subcommand that these options require was found. */
  #armed = false;

  constructor(original: string) {
    this.#original = original;
    this.#visible = new VisibleText(original);
    this.#text = this.#visible.text;
    this.#values = new ValueReader(this.#text);
    const found = [...findKeyBlocks(this.#text), ...findPipedSecrets(this.#text)];
    this.#found = found.sort((a, b) => b.start - a.start);
  }

  run(): string {
    while (this.#at < this.#text.length) this.#step();
    return this.#out.join('') + this.#original.slice(this.#written);
  }

  /** Takes one word, or one character between words. */
  #step(): void {
    const next = this.#found.at(-1);
    if (next !== undefined && next.start <= this.#at) {
      this.#found.pop();
      if (next.end > this.#at) this.#mask(this.#at, next.end);
      return;
    }
    const character = this.#character(this.#at);
    if (character === '\n' || character === ';' || character === '|' || character === '&') this.#options = undefined;
    if (!isNameCharacter(character)) {
      this.#at += 1;
      return;
    }
    const start = this.#at;
    const most = next?.start ?? this.#text.length;
    while (this.#at < most && isNameCharacter(this.#character(this.#at))) this.#at += 1;
    this.#takeWord(start, this.#at);
  }

  #takeWord(start: number, end: number): void {
    const word = this.#text.slice(start, end);
    const token = findToken(this.#text, start, end);
    if (token !== undefined) {
      this.#mask(token.start, token.end);
      return;
    }
    if (this.#maskAddress(start, end) || this.#maskOption(word, end) || this.#maskScheme(word, end)) return;
    this.#maskAssigned(word, end);
    if (this.#at !== end) return;
    this.#findArgument(word, start, end);
    if (this.#options?.after?.test(word) === true) this.#armed = true;
    else {
      const options = secretOptionsOf(word);
      // `set` is a program, and a subcommand of others.
      if (options === undefined || (word === 'set' && !this.#isProgram(start))) return;
      this.#options = options;
      this.#armed = options.after === undefined;
    }
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
      const value = this.#values.skipSpaces(equals ? end + 1 : end);
      if (value === end || value >= this.#text.length || this.#character(value) === '-') return false;
      // Without a sign it is a file of cookies.
      const isCookie = word === '-b' || word === '--cookie';
      const close = this.#values.endOfValue(value);
      if (isCookie && this.#options.pair === ':' && !this.#text.slice(value, close).includes('=')) return false;
      return this.#maskCredentials(value);
    }
    const joined = this.#options.joined.find((option) => word.startsWith(option) && !word.startsWith('--'));
    if (joined === undefined) return false;
    return this.#maskCredentials(end - word.length + joined.length);
  }

  #maskCredentials(start: number): boolean {
    const first = this.#values.endOfValue(start);
    if (first === start) return false;
    const isList = this.#options?.pair === ',' && this.#character(first) === ',';
    const close = isList ? this.#values.endOfValue(first + 1) : first;
    const value = this.#text.slice(start, close);
    const sign = this.#options?.pair !== undefined && !/^["']/.test(value) ? value.indexOf(this.#options.pair) : -1;
    // In `secret:` the secret takes the place of the user name.
    this.#mask(sign > 0 && sign < value.length - 1 ? start + sign + 1 : start, close);
    if (this.#options?.once === true) this.#options = undefined;
    return true;
  }

  /** `Bearer …` and `Basic …`, with or without the header name. */
  #maskScheme(word: string, end: number): boolean {
    if (!/^(?:bearer|basic)$/i.test(word)) return false;
    const start = this.#values.skipSpaces(end);
    let close = start;
    while (/[\w.~+/=-]/.test(this.#character(close))) close += 1;
    if (start === end || close - start < 8) return false;
    this.#mask(start, close);
    return true;
  }

  /** `NAME=value`, `"name": "value"`, `name: value`, `--name value`, `name value`, and values on the next line. */
  #maskAssigned(word: string, end: number): void {
    const name = word.replace(/^-{1,2}/, '');
    const nameStart = end - word.length;
    const inAddress = /[?&#]/.test(this.#character(nameStart - 1)) && this.#character(end) === '=';
    const isGiven = this.#options?.assigns === true && this.#armed && this.#character(end) === '=';
    const secrecy = isGiven ? 'strong' : inAddress ? secrecyInAddress(name) : secrecyOf(name);
    if (secrecy === undefined) {
      if (/^identified$/i.test(word))
        this.#maskMatched(/\s{1,9}(?:with\s{1,9}\w{1,60}\s{1,9})?(?:by|as)\s{1,9}(?=["'])/iy, end);
      return;
    }
    // `env["NAME"] = value`
    const quoted = this.#values.skipQuote(end);
    const closed = quoted > end && /[\])]/.test(this.#character(quoted)) ? quoted + 1 : quoted;
    const sign = this.#values.skipSpaces(closed);
    const isOption = word.startsWith('-') && sign > end && quoted === end;
    const [operator] = this.#matchAt(/(?:[?+|]{1,2}|:)?=>?|:(?!:)/y, sign) ?? [];
    // `==` is a comparison, `::` part of a qualified name.
    const behind = operator === undefined ? '' : this.#character(sign + operator.length);
    if (operator !== undefined && (behind === '=' || this.#text.startsWith('//', sign + operator.length))) return;
    if (operator === undefined && !isOption) {
      this.#maskUnassigned(word, end, secrecy);
      return;
    }
    const start = operator === undefined ? sign : this.#values.skipSpaces(sign + operator.length);
    const isHeader = /^(?:authorization|cookie|set-cookie)$/i.test(name) && operator === ':';
    const close = isHeader ? this.#values.endOfHeader(start) : this.#values.endOfAssigned(start, nameStart, sign);
    const value = this.#text.slice(start, close);
    if (close - start <= 6 && /^(?:bearer|basic|digest|token)$/i.test(value)) {
      // The scheme precedes the secret.
      this.#mask(start, this.#values.endOfValue(this.#values.skipSpaces(close)));
      return;
    }
    if (operator === undefined && value.startsWith('-')) return;
    if (/^[|>]?[-+\d]{0,3}\s*$/.test(value) && operator === ':' && this.#maskBelow(name, nameStart, start, secrecy))
      return;
    // If the value is the rest of a line, its first word decides whether it is a count.
    const first = this.#text.slice(start, Math.min(close, this.#values.endOfValue(start)));
    const counts = secrecy === 'weak' || /tokens$/i.test(name);
    if (value === '' || isHarmlessValue(withoutQuotes(counts ? first : value), name, secrecy)) return;
    if (inAddress && /^code$/i.test(name) && !(value.length >= 16 && looksGenerated(value))) return;
    this.#mask(start, close);
  }

  /** The value is below its name, as in YAML and printed JSON. */
  #maskBelow(name: string, nameStart: number, from: number, secrecy: 'strong' | 'weak'): boolean {
    const below = this.#values.valueBelow(nameStart, from, looksGenerated);
    if (below === undefined) return false;
    if (isHarmlessValue(withoutQuotes(this.#text.slice(below.start, below.end)), name, secrecy)) return false;
    this.#mask(below.start, below.end);
    return true;
  }

  /** A name without a sign: an argument, an element of XML, a clause of SQL or a line of a configuration file. */
  #maskUnassigned(word: string, end: number, secrecy: 'strong' | 'weak'): void {
    const nameStart = end - word.length;
    if (this.#character(end) === '>' && this.#character(nameStart - 1) === '<') {
      const close = this.#text.indexOf('<', end);
      const value = this.#text.slice(end + 1, Math.max(close, end + 1));
      if (this.#text.startsWith(`</${word}`, close) && !isHarmlessValue(value, word, secrecy))
        this.#mask(end + 1, close);
      return;
    }
    if (this.#maskMatched(/["']\s{1,9}value\s{0,9}=\s{0,9}(?=["'])/iy, end)) return;
    const head = this.#values.headOf(nameStart) ?? '';
    if (/set\w{0,60}\(\s{0,9}["']$/i.test(head) && this.#maskMatched(/["']\s{0,9},\s{0,9}(?=["'])/y, end)) return;
    const start = this.#values.skipSpaces(this.#values.skipQuote(end));
    if (!isSpace(this.#character(start - 1)) || start >= this.#text.length) return;
    const close = this.#values.endOfValue(start);
    const value = this.#text.slice(start, close);
    if (value === '' || isHarmlessValue(withoutQuotes(value), word, secrecy)) return;
    if (this.#isValue(word, value, head, close)) this.#mask(start, close);
  }

  #isValue(word: string, value: string, head: string, close: number): boolean {
    if (this.#options?.names === true && this.#armed) return !value.startsWith('-');
    if (/^(?:password|passwd|passphrase)$/i.test(word)) {
      return /^["']/.test(value) || /\blogin\s{1,9}\S{1,100}\s{1,9}$/.test(head);
    }
    if (!/^[A-Z][A-Z\d]*(?:_[A-Z\d]+)+$/.test(word) || !mayBeValue(withoutQuotes(value))) return false;
    if (looksGenerated(withoutQuotes(value))) return true;
    const isLast = /[\n;|&]|^$/.test(this.#character(this.#values.skipSpaces(close)));
    return isLast && /^\s*(?:(?:export|declare|set|env|typeset|readonly|local|arg|\$|-\w+)\s+)*$/i.test(head);
  }

  /** Finds the last argument of a program that is followed by a secret, such as `htpasswd -b file user secret`. */
  #findArgument(word: string, start: number, end: number): void {
    const wanted = secretArgumentOf(word);
    if (wanted === undefined || !this.#isProgram(start)) return;
    const { after, flag, least } = wanted;
    const most = Math.min(this.#text.length, end + LONGEST_ARGUMENTS);
    const args: TextRange[] = [];
    const flags: string[] = [];
    let at = this.#values.skipSpaces(end);
    while (at < most && args.length + flags.length < MOST_ARGUMENTS && !/[\n\r;|&<>]/.test(this.#character(at))) {
      const close = Math.max(this.#values.endOfValue(at), at + 1);
      const argument = this.#text.slice(at, close);
      if (/^-|^\/[a-z]+(?::|$)/i.test(argument)) flags.push(argument);
      else args.push({ start: at, end: close });
      at = this.#values.skipSpaces(close);
    }
    const text = ({ start: from, end: to }: TextRange) => this.#text.slice(from, to);
    const index = after === undefined ? -1 : args.slice(0, 3).findIndex((one) => after.test(text(one)));
    const secret = args.at(-1);
    if (secret === undefined || (after !== undefined && index === -1) || args.length - index - 1 < least) return;
    if (flag !== undefined && !flags.some((one) => flag.test(one))) return;
    const later = this.#found.findLastIndex((one) => one.start > secret.start);
    this.#found.splice(later + 1, 0, secret);
  }

  /** Whether a word is where a command begins. */
  #isProgram(start: number): boolean {
    const head = this.#values.headOf(start);
    return (
      head !== undefined &&
      /(?:^|[;|&($#>`])\s*(?:(?:sudo|exec|time|env)\s+)?(?:[\w.:-]*[/\\])*$/.test(head.slice(-120))
    );
  }

  /** Masks the value behind a pattern. */
  #maskMatched(pattern: RegExp, at: number): boolean {
    const [matched] = this.#matchAt(pattern, at) ?? [];
    if (matched === undefined) return false;
    this.#mask(at + matched.length, this.#values.endOfValue(at + matched.length));
    return true;
  }

  #matchAt(pattern: RegExp, at: number): RegExpExecArray | null {
    pattern.lastIndex = at;
    return pattern.exec(this.#text);
  }

  #character(at: number): string {
    return this.#text.charAt(at);
  }

  #mask(start: number, end: number): void {
    const [from, to] = this.#visible.inOriginal(start, end);
    this.#out.push(this.#original.slice(this.#written, from), MASK);
    this.#written = to;
    this.#at = end;
  }
}

function withoutQuotes(value: string): string {
  const quote = value.charAt(0);
  return (quote === '"' || quote === "'" || quote === '`') && value.endsWith(quote) ? value.slice(1, -1) : value;
}

/** The content of titles and links is kept, since it may contain a secret too. */
const HIDDEN =
  /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]?|\u001b[ -/]*[0-~]?|[\u0000-\u0008\u000b\u000c\u000e-\u001a\u001c-\u001f\u007f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff]|\udb40[\udc00-\uddef]|\\u00[2-7][\da-fA-F]|%[2-7][\da-fA-F]/g;

/**
 * A text without the characters that nobody sees, such as colours and zero-width spaces, with the way back to the
 * positions of the original. Escaped word characters (`\u0077`, `%5F`) are decoded.
 */
class VisibleText {
  readonly text: string;
  /** Of each visible character, where its original begins and ends; undefined if nothing is hidden. */
  readonly #places: { readonly starts: readonly number[]; readonly ends: readonly number[] } | undefined;

  constructor(original: string) {
    const parts: string[] = [];
    const [starts, ends]: [number[], number[]] = [[], []];
    let done = 0;
    const keepUntil = (end: number) => {
      parts.push(original.slice(done, end));
      for (let at = done; at < end; at += 1) {
        starts.push(at);
        ends.push(at + 1);
      }
    };
    for (const { 0: hidden, index } of original.matchAll(HIDDEN)) {
      const character = decode(hidden);
      if (character === undefined) continue;
      keepUntil(index);
      done = index + hidden.length;
      if (character === '') continue;
      parts.push(character);
      starts.push(index);
      ends.push(done);
    }
    if (done > 0) keepUntil(original.length);
    this.text = done > 0 ? parts.join('') : original;
    this.#places = done > 0 ? { starts, ends } : undefined;
  }

  /** Where the visible characters from `start` to `end` are in the original. */
  inOriginal(start: number, end: number): readonly [start: number, end: number] {
    if (this.#places === undefined) return [start, end];
    const { starts, ends } = this.#places;
    const from = starts[start] ?? ends.at(-1) ?? 0;
    return [from, end > start ? (ends[end - 1] ?? from) : from];
  }
}

/** Empty: it is not visible. Undefined: an escaped character that cannot be part of a name, which is left as it is. */
function decode(hidden: string): string | undefined {
  if (!hidden.startsWith('\\') && !hidden.startsWith('%')) return '';
  const character = String.fromCharCode(Number.parseInt(hidden.slice(-2), 16));
  return /[\w-]/.test(character) ? character : undefined;
}

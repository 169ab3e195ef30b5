// Parses the words of a command line as sh, bash and zsh do: quotes, escapes, expansions. Gives up on what is not
// certain.
import { type Part, type PosixShell, type Word } from './script.ts';

export const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
export const END_OF_WORD = ' \t\n;&|<>()';
const STOPS = `${END_OF_WORD}\\'"$\``;
/** Longer arithmetic is not parsed. */
const LONGEST_ARITHMETIC = 1000;

/** Takes linear time: it moves from character to character and never back. */
export abstract class PosixWords {
  protected readonly text: string;
  protected readonly shell: PosixShell;
  protected at = 0;
  protected reason: string | undefined;

  constructor(text: string, shell: PosixShell) {
    this.text = text;
    this.shell = shell;
  }

  /** Parses commands in parentheses. Returns their output if it is plain text in the line. */
  protected abstract readSubstitution(): Part | undefined;

  /** Parses commands in backquotes. */
  protected abstract readInner(text: string): void;

  /** Stops parsing: nothing after this point is read. */
  protected giveUp(reason: string): void {
    this.reason ??= reason;
    this.at = this.text.length;
  }

  protected peek(offset = 0): string {
    return this.text[this.at + offset] ?? '';
  }

  protected starts(with_: string): boolean {
    return this.text.startsWith(with_, this.at);
  }

  protected skipBlanks(): void {
    for (;;) {
      if (this.peek() === ' ' || this.peek() === '\t') this.at += 1;
      else if (this.peek() === '\\' && this.peek(1) === '\n') this.at += 2;
      else return;
    }
  }

  protected skipComment(): void {
    const end = this.text.indexOf('\n', this.at);
    this.at = end === -1 ? this.text.length : end;
  }

  protected readWord(): Word {
    const parts: Part[] = [];
    const start = this.at;
    for (;;) {
      const character = this.peek();
      if (character === '' || END_OF_WORD.includes(character)) break;
      if (character === '\\') {
        const next = this.peek(1);
        this.at += 2;
        if (next !== '\n') parts.push(textPart(next === '' ? '\\' : next, true));
        else if (!END_OF_WORD.includes(this.peek())) this.giveUp('a word continues on the next line');
      } else if (character === "'") this.#readLiteral(parts);
      else if (character === '"') {
        this.at += 1;
        this.readQuoted(parts, '"');
      } else if (character === '$') this.#readDollar(parts, false);
      else if (character === '`') this.#readBackquotes(parts);
      else {
        const from = this.at;
        while (this.peek() !== '' && !STOPS.includes(this.peek())) this.at += 1;
        parts.push(textPart(this.text.slice(from, this.at), false));
      }
    }
    // zsh replaces =program by the path of the program.
    if (this.shell === 'zsh' && this.text[start] === '=') this.giveUp('a word begins with =');
    return parts.length === 0 ? [textPart('', true)] : parts;
  }

  #readLiteral(parts: Part[]): void {
    const end = this.text.indexOf("'", this.at + 1);
    if (end === -1) return this.giveUp('a quote is not closed');
    parts.push(textPart(this.text.slice(this.at + 1, end), true));
    this.at = end + 1;
  }

  /** Reads up to the closing quote or, if `close` is empty, to the end of the text. */
  protected readQuoted(parts: Part[], close: '"' | ''): void {
    let from = this.at;
    const flush = () => {
      if (this.at > from) parts.push(textPart(this.text.slice(from, this.at), true));
    };
    if (close !== '') parts.push(textPart('', true));
    for (;;) {
      const character = this.peek();
      if (character === '' || (close !== '' && character === close)) break;
      if (character === '\\') {
        const next = this.peek(1);
        const escaped = next === '$' || next === '`' || next === '\\' || next === '\n' || next === close;
        if (!escaped || next === '') {
          this.at += next === '' ? 1 : 2;
          continue;
        }
        flush();
        this.at += 2;
        if (next !== '\n') parts.push(textPart(next, true));
        from = this.at;
      } else if (character === '$' || character === '`') {
        flush();
        if (character === '$') this.#readDollar(parts, true);
        else this.#readBackquotes(parts);
        from = this.at;
      } else this.at += 1;
    }
    flush();
    if (close === '') return;
    if (this.peek() !== close) return this.giveUp('a quote is not closed');
    this.at += 1;
  }

  #readDollar(parts: Part[], quoted: boolean): void {
    const next = this.peek(1);
    const start = this.at;
    this.at += 1;
    if (next === '(' && this.peek(1) === '(') return this.#readArithmetic(parts, start);
    if (next === '(') {
      parts.push(this.readSubstitution() ?? unknownPart(this.text.slice(start, this.at)));
    } else if (next === '{') this.#readBraces(parts, quoted, start);
    else if (/[A-Za-z_]/.test(next)) {
      while (/[A-Za-z0-9_]/.test(this.peek())) this.at += 1;
      const name = this.text.slice(start + 1, this.at);
      // zsh would use only a part of the value.
      if (this.shell === 'zsh' && (this.peek() === '[' || this.peek() === ':'))
        this.giveUp('it uses only part of a value');
      if (this.starts('\\\n')) this.giveUp('a name continues on the next line');
      parts.push({ type: 'variable', name, quoted });
    } else if (/[?#$!0-9@*-]/.test(next)) {
      this.at += 1;
      parts.push(unknownPart(`$${next}`, '?#$!'.includes(next)));
    } else if (next === "'" && !quoted) {
      const read = this.shell === 'sh' ? undefined : readAnsiQuoted(this.text, this.at + 1);
      if (read === undefined) return this.giveUp("$'…' is not certain");
      parts.push(textPart(read.text, true));
      this.at = read.next;
    } else if (next === '' || ' \t\n/.,:%"'.includes(next)) {
      if (next === '"' && !quoted) return this.giveUp('$"…" is not certain');
      parts.push(textPart('$', quoted));
    } else this.giveUp('a $ is not understood');
  }

  #readArithmetic(parts: Part[], start: number): void {
    this.at += 2;
    const from = this.at;
    for (let open = 0; ; this.at += 1) {
      const character = this.at - from > LONGEST_ARITHMETIC ? '' : this.peek();
      if (character === '' || !/[\w\s+\-*/%<>=!&|^~?:,()$.]/.test(character))
        return this.giveUp('$((…)) is not certain');
      if (character === '$' && !/\w/.test(this.peek(1))) return this.giveUp('$((…)) is not certain');
      if (character === '(') open += 1;
      if (character === ')' && open-- === 0) break;
    }
    const inner = this.text.slice(from, this.at);
    this.at += 1;
    if (this.peek() !== ')' || /\w\s+\w/.test(inner)) return this.giveUp('$((…)) is not certain');
    this.at += 1;
    parts.push(unknownPart(this.text.slice(start, this.at), true));
  }

  #readBraces(parts: Part[], quoted: boolean, start: number): void {
    const end = this.text.indexOf('}', this.at);
    if (end === -1) return this.giveUp('a brace is not closed');
    const inner = this.text.slice(this.at + 1, end);
    this.at = end + 1;
    if (NAME.test(inner)) parts.push({ type: 'variable', name: inner, quoted });
    else if (/^[A-Za-z_]\w*(?::?[-+?=]|%%?|##?|:\d|\/\/?)[^'"$`\\{}()[\]~]*$/.test(inner)) {
      // The value is unknown. A default or replacement in the braces is examined as text later.
      parts.push(unknownPart(this.text.slice(start, this.at)));
    } else this.giveUp('${…} is not certain');
  }

  #readBackquotes(parts: Part[]): void {
    const start = this.at++;
    let inner = '';
    for (;;) {
      const character = this.peek();
      if (character === '') return this.giveUp('a backquote is not closed');
      if (character === '`') break;
      // Inside double quotes, backquotes are parsed differently.
      if (character === '\\' && this.peek(1) === '"') return this.giveUp('a quote in backquotes is not certain');
      const escaped = character === '\\' && '`\\$'.includes(this.peek(1)) && this.peek(1) !== '';
      inner += escaped ? this.peek(1) : character;
      this.at += escaped ? 2 : 1;
    }
    this.at += 1;
    this.readInner(inner);
    parts.push(unknownPart(this.text.slice(start, this.at)));
  }
}

export function textPart(text: string, quoted: boolean): Part {
  return { type: 'text', text, quoted };
}

export function unknownPart(source: string, number = false): Part {
  return { type: 'unknown', source, ...(number && { number: true as const }) };
}

/** Undefined if the word is quoted or not known. */
export function bareText(word: Word): string | undefined {
  const [part, ...more] = word;
  return part?.type === 'text' && !part.quoted && more.length === 0 ? part.text : undefined;
}

export function plainText(word: Word): string {
  return word.map((part) => (part.type === 'text' ? part.text : '')).join('');
}

const PLAIN = new Map(
  Object.entries({
    ...{ a: '\x07', b: '\b', e: '\x1b', E: '\x1b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' },
    ...{ '\\': '\\', "'": "'", '"': '"', '?': '?' },
  }),
);
const CODES = [/^x([0-9a-fA-F]{1,2})/, /^u([0-9a-fA-F]{1,4})/, /^U([0-9a-fA-F]{1,8})/];
const OCTAL = /^[0-7]{1,3}/;

/** `from`: the offset after the opening quote. Undefined: the string is not closed, or its value is not certain. */
function readAnsiQuoted(text: string, from: number): { readonly text: string; readonly next: number } | undefined {
  const pieces: string[] = [];
  let start = from;
  for (let at = from; at < text.length; ) {
    const character = text[at] ?? '';
    if (character !== '\\' && character !== "'") {
      at += 1;
      continue;
    }
    pieces.push(text.slice(start, at));
    if (character === "'") return { text: pieces.join(''), next: at + 1 };
    const escape = readEscape(text.slice(at + 1, at + 10));
    if (escape === undefined) return undefined;
    pieces.push(escape.text);
    at += 1 + escape.length;
    start = at;
  }
  return undefined;
}

function readEscape(text: string): { text: string; length: number } | undefined {
  const plain = PLAIN.get(text[0] ?? '');
  if (plain !== undefined) return { text: plain, length: 1 };
  const octal = OCTAL.exec(text)?.[0];
  const found = octal === undefined ? CODES.map((code) => code.exec(text)).find((match) => match !== null) : undefined;
  const code = octal === undefined ? Number.parseInt(found?.[1] ?? '', 16) : Number.parseInt(octal, 8);
  // NUL ends the text; beyond ASCII, bytes and characters differ.
  if (!(code > 0 && code < 0x80)) return undefined;
  return { text: String.fromCharCode(code), length: octal?.length ?? found?.[0].length ?? 0 };
}

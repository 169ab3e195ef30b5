// Parses a command line as sh, bash and zsh do, in linear time. Gives up on everything that is not certain.
import { trimBlanks } from './plainWords.ts';
import { bareText, END_OF_WORD, NAME, PosixWords, plainText, textPart, unknownPart } from './posixWords.ts';
import { type Assignment, type Part, type PosixShell, type Script, type SimpleCommand, type Word } from './script.ts';

/** The nesting limit for substitutions, groups and blocks; nobody writes more. */
const DEEPEST = 30;
/** A lower limit for backquotes, since each level is parsed again. */
const DEEPEST_BACKQUOTES = 3;

/** Keywords that are followed by a command. */
const BEFORE_COMMAND = new Set(['!', '{', 'if', 'then', 'elif', 'else', 'while', 'until', 'do', 'time']);
const AFTER_COMMAND = new Set(['}', 'fi', 'done']);
const OPENING = new Set(['{', 'if', 'while', 'until', 'for']);
const NOT_READ = new Set([
  ...['case', 'esac', 'function', 'select', 'coproc', 'repeat', 'foreach', 'end', 'nocorrect', 'noglob', 'always'],
]);

interface Draft {
  assignments: Assignment[];
  words: Word[];
  redirects: Word[];
  documents: Word[];
  /** The body of a here-document follows. */
  expectsDocument: boolean;
}

interface Read extends Draft {
  readonly loops: readonly string[];
  readonly nested: boolean;
  readonly inBlock: boolean;
  readonly piped: boolean;
}

export function readPosixScript(text: string, shell: PosixShell): Script {
  const reader = new PosixReader(text, shell, 0);
  return reader.read();
}

class PosixReader extends PosixWords {
  readonly #backquotes: number;
  readonly #documents = new HereDocuments();
  readonly #commands: Read[] = [];
  /** The open blocks: for a loop the name of its variable, otherwise an empty text. */
  #blocks: readonly string[] = [];
  #pipes = false;
  #depth = 0;

  constructor(text: string, shell: PosixShell, backquotes: number) {
    super(text, shell);
    this.#backquotes = backquotes;
  }

  read(): Script {
    if (this.text.includes('\0')) this.giveUp('it contains a NUL character');
    this.#readList('');
    if (this.#documents.pending) this.giveUp('a here-document has no body');
    if (this.reason !== undefined) return { understood: false, reason: this.reason };
    return { understood: true, commands: this.#commands.map((command) => this.#finished(command)) };
  }

  #finished({ assignments, words, redirects, documents, loops, nested, inBlock, piped }: Read): SimpleCommand {
    const alone = !nested && !piped && !(inBlock && this.#pipes);
    return { assignments, words, redirects, documents, loops, alone };
  }

  /** Reads commands up to `close`: the `)` of a group or substitution, or the end of the text. */
  #readList(close: '' | ')'): void {
    if (++this.#depth > DEEPEST) this.giveUp('it is nested too deeply');
    const nested = this.#depth > 1;
    const outer = this.#blocks.length;
    let command = newDraft();
    let conditional = nested;
    /** Returns whether a command after && is certain to run: a plain assignment cannot fail. */
    const finish = (piped: boolean): boolean => {
      const { words, assignments, redirects, expectsDocument } = command;
      const loops = this.#blocks.filter((name) => name !== '');
      if (words.length + assignments.length + redirects.length > 0 || command.documents.length > 0 || expectsDocument) {
        this.#commands.push({ ...command, loops, nested, inBlock: this.#blocks.length > 0, piped });
      }
      this.#pipes ||= piped;
      command = newDraft();
      return !conditional && assignments.length > 0 && words.length === 0 && !piped;
    };
    const inBlock = () => nested || this.#blocks.length > outer;
    for (;;) {
      this.skipBlanks();
      const character = this.peek();
      if (character === '') break;
      if (character === '#') this.skipComment();
      else if (character === '\n') {
        finish(false);
        conditional = inBlock();
        this.at += 1;
        this.#readDocuments();
      } else if (character === ')') {
        if (close !== ')') this.giveUp('a closing parenthesis has no opening one');
        break;
      } else if (character === '(') {
        // Inside a command it would begin a function, a list or a pattern.
        if (command.words.length + command.assignments.length > 0) this.giveUp('a command contains a parenthesis');
        this.#readGroup();
      } else if (isRedirect(this.text, this.at)) this.#readRedirect(command);
      else if (character === ';' || character === '&' || character === '|') {
        const operator = this.#readOperator();
        const sure = finish(operator === '|');
        conditional = inBlock() || (operator === '&&' ? !sure : operator !== ';');
      } else {
        const starts = command.words.length + command.assignments.length + command.redirects.length === 0;
        const before = this.at;
        const word = this.readWord();
        const keyword = starts ? bareText(word) : undefined;
        if (keyword === undefined || !this.#isKeyword(keyword, before)) this.#take(command, word, !conditional);
        else if (AFTER_COMMAND.has(keyword)) this.#blocks = this.#blocks.slice(0, -1);
        else if (OPENING.has(keyword)) {
          if (this.#blocks.length >= DEEPEST) this.giveUp('it is nested too deeply');
          const loop = keyword === 'for' ? this.#readFor(command, !conditional) : '';
          this.#blocks = [...this.#blocks, loop];
          conditional = true;
        }
      }
    }
    finish(false);
    this.#blocks = this.#blocks.slice(0, outer);
    this.#depth -= 1;
  }

  #isKeyword(word: string, start: number): boolean {
    if (NOT_READ.has(word)) this.giveUp(`${word} is not supported`);
    // A quoted or escaped keyword is a plain word.
    if (this.text.slice(start, this.at) !== word) return false;
    return BEFORE_COMMAND.has(word) || AFTER_COMMAND.has(word) || word === 'for';
  }

  #take(command: Draft, word: Word, unconditional: boolean): void {
    const assignment = command.words.length === 0 ? asAssignment(word) : undefined;
    if (assignment !== undefined) {
      if (this.peek() === '(') this.giveUp('a list is assigned');
      // A changed IFS would split words differently.
      if (assignment.name === 'IFS') this.giveUp('IFS is changed');
      command.assignments.push({ ...assignment, unconditional });
      return;
    }
    if (this.peek() === '(') this.giveUp('a command contains a parenthesis');
    const next = this.peek();
    // A number before a redirection is a file descriptor, not a word.
    if ((next === '<' || next === '>') && /^\d+$/.test(bareText(word) ?? '')) return;
    command.words.push(word);
  }

  /** Returns the name of its variable. */
  #readFor(command: Draft, unconditional: boolean): string {
    this.skipBlanks();
    const name = bareText(this.readWord()) ?? '';
    if (!NAME.test(name)) this.giveUp('the variable of a loop is not a plain name');
    while (this.peek() === '\n' || this.peek() === ' ' || this.peek() === '\t') this.at += 1;
    const start = this.at;
    if (this.peek() === ';' || bareText(this.readWord()) !== 'in') {
      this.at = start;
      command.assignments.push({ name, values: [[unknownPart('$@')]], unconditional: false });
      return name;
    }
    const values: Word[] = [];
    for (;;) {
      this.skipBlanks();
      const next = this.peek();
      if (next === '' || next === ';' || next === '\n') break;
      if (END_OF_WORD.includes(next)) this.giveUp('a loop is not understood');
      else values.push(this.readWord());
    }
    command.assignments.push({ name, values, unconditional: unconditional && values.length > 0 });
    return name;
  }

  #readGroup(): void {
    this.at += 1;
    this.#readList(')');
    if (this.peek() !== ')') this.giveUp('a parenthesis is not closed');
    if (this.#documents.pending) this.giveUp('a here-document has no body');
    this.at += 1;
  }

  #readOperator(): string {
    for (const operator of ['&&', '||', '|&', ';;', '&', '|', ';']) {
      if (!this.starts(operator)) continue;
      if (operator === ';;') this.giveUp('case is not supported');
      this.at += operator.length;
      return operator === '|&' ? '|' : operator;
    }
    return '';
  }

  #readRedirect(command: Draft): void {
    const operator =
      /^(?:&>>|&>|<<<|<<-|<<|<>|<&|<|>>|>\||>&|>)/.exec(this.text.slice(this.at, this.at + 3))?.[0] ?? '';
    this.at += operator.length;
    // Some other shells read the & as the end of the command.
    if (operator.startsWith('&') && this.shell === 'sh') return this.giveUp('&> is not certain');
    if (this.peek() === '(' && (operator === '<' || operator === '>')) {
      this.#readGroup();
      this.#pipes = true;
      command.words.push([unknownPart('<(…)', true)]);
      return;
    }
    this.skipBlanks();
    if (this.peek() === '' || END_OF_WORD.includes(this.peek())) return this.giveUp('a redirection has no target');
    const start = this.at;
    const target = this.readWord();
    if (operator === '<<' || operator === '<<-') {
      const raw = this.text.slice(start, this.at);
      const end = target.every((part) => part.type === 'text') ? plainText(target) : undefined;
      if (end === undefined || end.includes('\n')) return this.giveUp('the end of a here-document is not certain');
      command.expectsDocument = true;
      this.#documents.expect({ end, literal: /['"\\]/.test(raw), tabs: operator === '<<-', into: command.documents });
    } else if (operator === '<<<') command.documents.push(target);
    else if (!/^(?:\d+-?|-)$/.test(operator.endsWith('&') ? (bareText(target) ?? '') : ''))
      command.redirects.push(target);
  }

  #readDocuments(): void {
    for (const document of this.#documents.take()) {
      const { body, next } = document.read(this.text, this.at);
      if (next === undefined) return this.giveUp('a here-document does not end');
      this.at = next;
      if (document.literal) document.into.push([textPart(body, true)]);
      else document.into.push(this.#readExpanded(body));
    }
  }

  /** Parses the body of a here-document in which variables and substitutions are expanded. */
  #readExpanded(body: string): Word {
    if (/\\\n/.test(body)) this.giveUp('a line of a here-document continues on the next line');
    const inner = new PosixReader(body, this.shell, this.#backquotes);
    inner.#depth = this.#depth;
    inner.#blocks = this.#blocks;
    const parts: Part[] = [];
    inner.readQuoted(parts, '');
    this.#takeOver(inner);
    return parts;
  }

  protected override readSubstitution(): Part | undefined {
    const first = this.#commands.length;
    this.#readGroup();
    return this.#documentOf(first);
  }

  protected override readInner(text: string): void {
    if (this.#backquotes >= DEEPEST_BACKQUOTES) return this.giveUp('it is nested too deeply');
    const inner = new PosixReader(text, this.shell, this.#backquotes + 1);
    inner.#depth = this.#depth;
    inner.#blocks = this.#blocks;
    inner.#readList('');
    this.#takeOver(inner);
  }

  /** `$(cat <<'EOF' …)` is plain text. */
  #documentOf(first: number): Part | undefined {
    const [command, ...more] = this.#commands.slice(first);
    if (command === undefined || more.length > 0 || command.words.length !== 1) return undefined;
    const [document, ...others] = command.documents;
    const plain = command.redirects.length + command.assignments.length + others.length === 0;
    const isCat = bareText(command.words[0] ?? []) === 'cat';
    if (!plain || !isCat || document === undefined || document.some(({ type }) => type !== 'text')) return undefined;
    this.#commands.length = first;
    return textPart(trimBlanks(plainText(document), '\n'), true);
  }

  #takeOver(inner: PosixReader): void {
    if (inner.#documents.pending) this.giveUp('a here-document has no body');
    if (inner.reason !== undefined) this.giveUp(inner.reason);
    for (const command of inner.#commands) this.#commands.push(command);
    this.#pipes ||= inner.#pipes;
  }
}

function newDraft(): Draft {
  return { assignments: [], words: [], redirects: [], documents: [], expectsDocument: false };
}

function isRedirect(text: string, at: number): boolean {
  return text[at] === '<' || text[at] === '>' || (text[at] === '&' && text[at + 1] === '>');
}

function asAssignment(word: Word): Omit<Assignment, 'unconditional'> | undefined {
  const [first, ...rest] = word;
  if (first?.type !== 'text' || first.quoted) return undefined;
  const equals = first.text.indexOf('=');
  const name = first.text.slice(0, equals).replace(/\+$/, '');
  if (equals === -1 || !NAME.test(name)) return undefined;
  const added = first.text[equals - 1] === '+' ? [unknownPart(`$${name}`)] : [];
  return { name, values: [[...added, textPart(first.text.slice(equals + 1), false), ...rest]] };
}

interface Expected {
  /** The line that ends the document. */
  readonly end: string;
  /** Nothing in the document is expanded. */
  readonly literal: boolean;
  /** Tabs at the beginning of its lines are removed. */
  readonly tabs: boolean;
  readonly into: Word[];
}

interface HereDocument extends Expected {
  /** `next`: the offset after the document; undefined if the document does not end. */
  read(text: string, from: number): { readonly body: string; readonly next?: number };
}

/** Reads the bodies of here-documents, which follow after the end of the line. */
class HereDocuments {
  #expected: HereDocument[] = [];

  get pending(): boolean {
    return this.#expected.length > 0;
  }

  expect(expected: Expected): void {
    this.#expected.push({ ...expected, read: (text, from) => readBody(expected, text, from) });
  }

  take(): readonly HereDocument[] {
    const expected = this.#expected;
    this.#expected = [];
    return expected;
  }
}

function readBody({ end, tabs }: Expected, text: string, from: number): { body: string; next?: number } {
  const lines: string[] = [];
  for (let at = from; at < text.length; ) {
    const newline = text.indexOf('\n', at);
    const stop = newline === -1 ? text.length : newline;
    const raw = text.slice(at, stop);
    const line = tabs ? raw.replace(/^\t+/, '') : raw;
    at = stop + 1;
    if (line === end) return { body: lines.join('\n'), next: Math.min(at, text.length) };
    lines.push(line);
  }
  return { body: '' };
}

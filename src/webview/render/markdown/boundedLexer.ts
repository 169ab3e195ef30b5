// Lexes Markdown with bounds on nesting, tables and work per text; text beyond them is shown plain. `marked` itself
// recurses without a limit and is quadratic for malicious input.
import { Lexer, type MarkedToken, type Token, Tokenizer, type Tokens } from 'marked';

/** Nesting of quotes and lists; nesting of emphasis and links. */
const DEEPEST_BLOCKS = 12;
const DEEPEST_INLINE = 12;
/** In characters. A longer list or quote is split into several. */
const LONGEST_BLOCK = 10_000;
const MOST_COLUMNS = 100;
const MOST_CELLS = 10_000;
const MOST_DEFINITIONS = 1000;
/** For each delimiter the lexer may examine all text after it. */
const MOST_STEPS = 10_000_000;
/** Longer words are not searched for mail addresses: the search is quadratic in the length of a word. */
const LONGEST_WORD = 500;

const DELIMITERS = new Set('*_~[]<!`\\');
/** Cheap tests before the expensive ones of `marked`. */
const LIST = /^ {0,3}(?:[*+-]|\d{1,9}[.)])(?:[ \t\n]|$)/;
const QUOTE = /^ {0,3}>/;
const TABLE_RULE = /^[ \t]*[|:-][ \t|:-]*$/;
/** Where a long block may be split. */
const ITEM_START = /\n(?=(?:[*+-]|\d{1,9}[.)])[ \t])/g;
const QUOTE_START = /\n(?=>)/g;
const ADDRESS_START = /^(?:https?:\/\/|ftp:\/\/|www\.)/i;
/** The expression of `marked`, without mail addresses. */
const TEXT_WITHOUT_MAIL =
  /^(`+(?!`)|~+(?!~)|[^`~])(?:(?=[`~])|(?= {2,}\n)|[\s\S]*?(?:(?=[\\<!\[`*~_]|\b_|[hH][tT][tT][pP][sS]?|[fF][tT][pP]:\/\/|(?<![^\s*_~(])www\.|$)|[^ ](?= {2,}\n)))/;

/** Never throws: text that cannot be lexed becomes one plain paragraph. */
export function lexMarkdown(text: string): MarkedToken[] {
  try {
    return new BoundedLexer().lex(text) as MarkedToken[];
  } catch {
    return [plainParagraph(text)];
  }
}

function plainParagraph(raw: string): Tokens.Paragraph {
  return { type: 'paragraph', raw, text: raw, tokens: [plainText(raw)] };
}

function plainText(raw: string): Tokens.Text {
  return { type: 'text', raw, text: raw, escaped: false };
}

class BoundedLexer extends Lexer {
  readonly #tokenizer: BoundedTokenizer;
  #depth = 0;

  constructor() {
    const tokenizer = new BoundedTokenizer();
    super({ gfm: true, tokenizer });
    this.#tokenizer = tokenizer;
  }

  override inlineTokens(text: string, tokens: Token[] = []): Token[] {
    const { delimiters, longestWord } = measure(text);
    if (this.#depth >= DEEPEST_INLINE || delimiters * text.length > MOST_STEPS) {
      tokens.push(plainText(text));
      return tokens;
    }
    this.#depth += 1;
    try {
      return this.#tokenizer.withMail(longestWord <= LONGEST_WORD, () => super.inlineTokens(text, tokens));
    } finally {
      this.#depth -= 1;
    }
  }
}

class BoundedTokenizer extends Tokenizer {
  #depth = 0;
  #definitions = 0;
  #mail = true;

  override blockquote(source: string): Tokens.Blockquote | undefined {
    return QUOTE.test(source) ? this.#nested(() => super.blockquote(bounded(source, QUOTE_START))) : undefined;
  }

  override list(source: string): Tokens.List | undefined {
    return LIST.test(source) ? this.#nested(() => super.list(bounded(source, ITEM_START))) : undefined;
  }

  override table(source: string): Tokens.Table | undefined {
    const columns = columnsOf(source);
    if (columns === 0 || columns > MOST_COLUMNS) return undefined;
    // Two lines for the head and the rule below it.
    return super.table(firstLines(source, 2 + Math.floor(MOST_CELLS / columns)));
  }

  /** Bounded, because every text is compared with all definitions. */
  override def(source: string): Tokens.Def | undefined {
    const found = this.#definitions < MOST_DEFINITIONS ? super.def(source) : undefined;
    if (found !== undefined) this.#definitions += 1;
    return found;
  }

  override url(source: string): Tokens.Link | undefined {
    return this.#mail || ADDRESS_START.test(source) ? super.url(source) : undefined;
  }

  /** Runs `read` with mail addresses recognised or not. */
  withMail<T>(mail: boolean, read: () => T): T {
    const [rules, before] = [this.rules, this.#mail];
    if (!mail) this.rules = { ...rules, inline: { ...rules.inline, text: TEXT_WITHOUT_MAIL } };
    this.#mail = mail;
    try {
      return read();
    } finally {
      this.rules = rules;
      this.#mail = before;
    }
  }

  /** Undefined beyond the deepest level: the text then becomes a paragraph. */
  #nested<T>(read: () => T | undefined): T | undefined {
    if (this.#depth >= DEEPEST_BLOCKS) return undefined;
    this.#depth += 1;
    try {
      return read();
    } finally {
      this.#depth -= 1;
    }
  }
}

function measure(text: string): { readonly delimiters: number; readonly longestWord: number } {
  let [delimiters, longestWord, word] = [0, 0, 0];
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charAt(at);
    if (DELIMITERS.has(unit)) delimiters += 1;
    word = unit === ' ' || unit === '\n' || unit === '\t' ? 0 : word + 1;
    if (word > longestWord) longestWord = word;
  }
  return { delimiters, longestWord };
}

/** Cuts a long block at the last place within the bound where it may be split, else at a line break. */
function bounded(source: string, starts: RegExp): string {
  if (source.length <= LONGEST_BLOCK) return source;
  const head = source.slice(0, LONGEST_BLOCK);
  const last = [...head.matchAll(starts)].at(-1)?.index ?? head.lastIndexOf('\n');
  return last <= 0 ? source : source.slice(0, last + 1);
}

/** The number of columns in the rule below a table's head; 0 without such a line. */
function columnsOf(source: string): number {
  const [, rule] = source.split('\n', 2);
  if (rule === undefined || !TABLE_RULE.test(rule)) return 0;
  return Math.max(1, rule.split('|').length - 1);
}

function firstLines(source: string, count: number): string {
  let end = -1;
  for (let line = 0; line < count; line += 1) {
    end = source.indexOf('\n', end + 1);
    if (end === -1) return source;
  }
  return source.slice(0, end + 1);
}

// Lexes streamed Markdown incrementally: only the last open blocks are lexed again, so the cost stays linear.
import { type MarkedToken } from 'marked';
import { appendTo, type Chunked, chunked } from '../../chunked.ts';
import { type Growing, grow, growing } from '../../growing.ts';
import { lexMarkdown } from './boundedLexer.ts';

export interface Block {
  readonly token: MarkedToken;
  /** The current text of a fenced code block that is still open; its token is older. */
  readonly open?: Growing;
  /** Increases when everything is lexed again: equal source may then give other nodes (a link defined later). */
  readonly reading: number;
}

export interface MarkdownView {
  readonly blocks: Chunked<Block>;
  /** The newest text, not lexed yet. */
  readonly rest: string;
}

export interface MarkdownStream {
  append(text: string): void;
  /** Afterwards the blocks equal those of the whole text lexed at once. */
  finish(): void;
  view(): MarkdownView;
  /** Characters given to the lexer so far; tests check that it is linear. */
  readonly lexed: number;
}

/** A smaller open block is lexed again for each piece, a larger one when it has grown by an eighth. */
const SMALL = 2048;
const CLOSING_FENCE = /^ {0,3}(`{3,}|~{3,})[ \t]*$/;
const MAYBE_FENCE = /^ {0,3}(?:`*|~*)[ \t]*$/;

/** An open fence: its lines are shown as they arrive and lexed again only at its end. */
interface OpenFence {
  readonly marker: string;
  text: Growing;
  /** The unfinished line, while it can still become the closing fence. */
  line: string;
  /** The part of it that is not shown yet. */
  held: string;
}

export function createMarkdownStream(): MarkdownStream {
  const pieces: string[] = [];
  let committed: Chunked<Block> = chunked();
  let tail = '';
  let tailBlocks: Block[] = [];
  /** How much of the tail is lexed. */
  let read = 0;
  let fence: OpenFence | undefined;
  let reading = 0;
  let carriageReturn = false;
  let lexed = 0;

  function lex(text: string): MarkedToken[] {
    lexed += text.length;
    return lexMarkdown(text);
  }

  function toBlocks(tokens: readonly MarkedToken[]): Block[] {
    return tokens
      .filter((token) => token.type !== 'space' && token.type !== 'def')
      .map((token) => ({ token, reading }));
  }

  function readTail(): void {
    const tokens = lex(tail);
    const cut = findCut(tail, tokens);
    committed = appendTo(committed, toBlocks(tokens.slice(0, cut.tokens)));
    tail = tail.slice(cut.offset);
    tailBlocks = toBlocks(tokens.slice(cut.tokens));
    read = tail.length;
    fence = openFence(tokens.at(-1));
    showFence();
  }

  function showFence(): void {
    const last = tailBlocks.at(-1);
    if (fence !== undefined && last !== undefined) tailBlocks = tailBlocks.with(-1, { ...last, open: fence.text });
  }

  return {
    append(text) {
      if (text === '') return;
      pieces.push(text);
      let more = carriageReturn ? `\r${text}` : text;
      carriageReturn = more.endsWith('\r');
      if (carriageReturn) more = more.slice(0, -1);
      more = more.replace(/\r\n|\r/g, '\n');
      if (more === '') return;
      tail += more;
      if (fence !== undefined && !feedFence(fence, more)) {
        read = tail.length;
        showFence();
        return;
      }
      const due = tail.length <= SMALL || tail.length - read >= read / 8;
      if (fence !== undefined || due) readTail();
    },
    finish() {
      const whole = pieces.join('');
      // A link definition may follow its uses, which are already lexed: the only case that needs the whole text again.
      const again = whole.includes(']:');
      reading += again ? 1 : 0;
      const blocks = toBlocks(lex(again ? whole : tail + (carriageReturn ? '\n' : '')));
      committed = again ? chunked(blocks) : appendTo(committed, blocks);
      tail = '';
      tailBlocks = [];
      read = 0;
      fence = undefined;
      carriageReturn = false;
    },
    view: () => ({ blocks: appendTo(committed, tailBlocks), rest: fence === undefined ? tail.slice(read) : '' }),
    get lexed() {
      return lexed;
    },
  };
}

/**
 * Where the tail may be cut: before a block that follows a blank line and whose first line is complete. Later text
 * cannot join the block before such a line.
 */
function findCut(text: string, tokens: readonly MarkedToken[]): { readonly tokens: number; readonly offset: number } {
  let best = { tokens: 0, offset: 0 };
  let offset = 0;
  for (const [index, token] of tokens.entries()) {
    if (!text.startsWith(token.raw, offset)) return best;
    if (index > 0 && token.type !== 'space' && endsBlank(text, offset)) {
      if (!text.includes('\n', offset)) return best;
      best = { tokens: index, offset };
    }
    offset += token.raw.length;
  }
  return best;
}

function endsBlank(text: string, end: number): boolean {
  if (text[end - 1] !== '\n') return false;
  let at = end - 2;
  while (text[at] === ' ' || text[at] === '\t') at--;
  return text[at] === '\n';
}

function openFence(token: MarkedToken | undefined): OpenFence | undefined {
  if (token?.type !== 'code' || token.codeBlockStyle === 'indented') return undefined;
  const marker = /^ {0,3}(`{3,}|~{3,})/.exec(token.raw)?.[1];
  if (marker === undefined || !token.raw.includes('\n')) return undefined;
  const lines = token.raw.split('\n');
  if (lines.slice(1).some((line) => closes(marker, line))) return undefined;
  const line = lines.at(-1) ?? '';
  const held = MAYBE_FENCE.test(line) ? line : '';
  const body = lines.slice(1).join('\n');
  return { marker, text: growing(body.slice(0, body.length - held.length)), line: lineStart(line), held };
}

/** Returns true if the fence may have ended. */
function feedFence(fence: OpenFence, more: string): boolean {
  const lines = more.split('\n');
  const first = fence.line + (lines[0] ?? '');
  const complete = lines.length === 1 ? [] : [first, ...lines.slice(1, -1)];
  if (complete.some((line) => closes(fence.marker, line))) return true;
  const line = lines.length === 1 ? first : (lines.at(-1) ?? '');
  const shown = fence.held + more;
  fence.line = lineStart(line);
  fence.held = MAYBE_FENCE.test(line) ? line : '';
  fence.text = grow(fence.text, shown.slice(0, shown.length - fence.held.length));
  return false;
}

/** The start of a long line is enough to know that it is not a fence. */
function lineStart(line: string): string {
  return line.length > 200 ? line.slice(0, 200) : line;
}

function closes(marker: string, line: string): boolean {
  const found = CLOSING_FENCE.exec(line)?.[1];
  return found !== undefined && found.startsWith(marker);
}

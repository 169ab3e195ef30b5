// Converts HTML to readable text with headings, lists, links and code. Pure, in linear time.
import { decodeEntities } from '../../base/entities.ts';
import { withoutTrailing } from '../../base/text.ts';

/** Elements whose content is not readable text. */
const SKIPPED = new Set([
  'script',
  'style',
  'noscript',
  'template',
  'svg',
  'math',
  'iframe',
  'object',
  'canvas',
  'head',
]);
const BLOCKS = new Set(
  'address article aside blockquote body dd details dialog div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hr html li main nav ol p pre section summary table tbody thead tr ul'.split(
    ' ',
  ),
);

interface Tag {
  readonly name: string;
  readonly closing: boolean;
  readonly attributes: string;
  readonly start: number;
  readonly end: number;
}

/** Attributes of longer tags are ignored. */
const LONGEST_TAG = 5000;
/** How far into the head the title is searched. */
const LONGEST_HEAD = 20_000;

export function htmlToText(html: string): string {
  const writer = new Writer();
  let [from, skipping, titled] = [0, '', false];
  for (const { name, closing, attributes, start, end } of tagsOf(html)) {
    if (skipping === '') writer.text(plainText(html.slice(from, start)));
    from = end;
    if (skipping !== '') {
      if (closing && name === skipping) skipping = '';
    } else if (SKIPPED.has(name) && !closing && !attributes.endsWith('/')) {
      // The title is the only readable part of the head.
      const title = name === 'head' && !titled ? titleIn(html.slice(end, end + LONGEST_HEAD)) : undefined;
      if (title !== undefined) writer.block(`# ${plainText(title).trim()}`);
      titled ||= name === 'head';
      skipping = name;
    } else if (name !== '') writer.tag(name, closing, attributes);
  }
  if (skipping === '') writer.text(plainText(html.slice(from)));
  return writer.end();
}

function titleIn(head: string): string | undefined {
  const start = head.search(/<title[\s>]/i);
  const open = start === -1 ? -1 : head.indexOf('>', start);
  return open === -1 ? undefined : head.slice(open + 1).split('<', 1)[0];
}

/** Comments and declarations have no name. Examines each character a bounded number of times. */
function* tagsOf(html: string): Generator<Tag> {
  for (let start = html.indexOf('<'); start !== -1; ) {
    if (html.startsWith('<!--', start)) {
      const close = html.indexOf('-->', start + 4);
      const end = close === -1 ? html.length : close + 3;
      yield { name: '', closing: false, attributes: '', start, end };
      start = html.indexOf('<', end);
      continue;
    }
    const head = /^<(\/?)([a-z][a-z0-9-]*)/i.exec(html.slice(start, start + 60));
    // Searches for the end only where a tag begins: otherwise a page full of `<` would take quadratic time.
    if (head === null && html[start + 1] !== '!') {
      start = html.indexOf('<', start + 1);
      continue;
    }
    const end = endOfTag(html, start);
    // No further tags.
    if (end === -1) return;
    const attributes = html.slice(start + (head?.[0].length ?? 0), Math.min(end - 1, start + LONGEST_TAG));
    yield { name: (head?.[2] ?? '').toLowerCase(), closing: head?.[1] === '/', attributes, start, end };
    start = html.indexOf('<', end);
  }
}

/** A quoted value may contain `>`. */
function endOfTag(html: string, start: number): number {
  let close = html.indexOf('>', start);
  for (let tries = 0; tries < 3 && close !== -1 && close - start < LONGEST_TAG; tries += 1) {
    if ((html.slice(start, close).split('"').length - 1) % 2 === 0) break;
    close = html.indexOf('>', close + 1);
  }
  return close === -1 ? -1 : close + 1;
}

/** Pieces are joined at the end, since a page may have no line breaks. */
class Writer {
  readonly #done: string[] = [];
  /** Number of line breaks at the end of the output. */
  #breaks = 2;
  #line: string[] = [];
  #last = '';
  #preformatted = 0;
  #link: { readonly href: string; readonly at: number } | undefined;

  text(text: string): void {
    const words = this.#preformatted > 0 ? text : text.replace(/\s+/g, ' ');
    const follows = this.#preformatted > 0 || (this.#last !== '' && this.#last !== ' ');
    this.#put(follows ? words : words.trimStart());
  }

  tag(name: string, closing: boolean, attributes: string): void {
    if (name === 'br') this.#break(1);
    else if (name === 'a') this.#anchor(closing, attributes);
    else if (name === 'td' || name === 'th') this.#put(closing ? ' | ' : '');
    else if (name === 'code' && this.#preformatted === 0) this.#put('`');
    else if (name === 'img') this.text(attributeOf(attributes, 'alt') ?? '');
    if (!BLOCKS.has(name)) return;
    this.#break(name === 'li' || name === 'tr' || name === 'div' ? 1 : 2);
    if (name === 'pre') {
      this.#preformatted = Math.max(0, this.#preformatted + (closing ? -1 : 1));
      this.#put('```');
      this.#break(closing ? 2 : 1);
    }
    if (closing) return;
    if (/^h[1-6]$/.test(name)) this.#put(`${'#'.repeat(Number(name[1]))} `);
    if (name === 'li') this.#put('- ');
  }

  block(text: string): void {
    this.#break(2);
    this.#put(text);
    this.#break(2);
  }

  end(): string {
    this.#break(0);
    return this.#done.join('').trim();
  }

  #put(text: string): void {
    if (text === '') return;
    this.#line.push(text);
    this.#last = text.slice(-1);
  }

  #anchor(closing: boolean, attributes: string): void {
    if (!closing) {
      const href = attributeOf(attributes, 'href');
      this.#link = href !== undefined && /^https?:/i.test(href) ? { href, at: this.#line.length } : undefined;
      return;
    }
    const link = this.#link;
    this.#link = undefined;
    if (link !== undefined && this.#line.slice(link.at).some((piece) => piece.trim() !== ''))
      this.#put(` (${link.href})`);
  }

  /** Ensures at least this many line breaks. */
  #break(wanted: number): void {
    const line = this.#line
      .join('')
      .split('\n')
      .map((one) => withoutTrailing(one, ' \t'))
      .join('\n');
    this.#line = [];
    this.#last = '';
    // Drops an empty bullet or heading.
    if (!/^(-|#+)?$/.test(line)) {
      this.#done.push(line);
      this.#breaks = 0;
    }
    for (; this.#breaks < wanted; this.#breaks += 1) this.#done.push('\n');
  }
}

/** Reads the attributes once from left to right; an unclosed quote extends to their end. */
function attributeOf(attributes: string, wanted: string): string | undefined {
  const next = /[\s/]*([^\s=/]+)(\s*=\s*)?/y;
  for (let found = next.exec(attributes); found !== null; found = next.exec(attributes)) {
    const [, name, equals] = found;
    const value = equals === undefined ? '' : valueAt(attributes, next.lastIndex);
    if (equals !== undefined) next.lastIndex += value.length;
    if (name?.toLowerCase() === wanted && equals !== undefined) return plainText(unquoted(value));
  }
  return undefined;
}

/** The value verbatim, with its quotes. */
function valueAt(attributes: string, start: number): string {
  const quote = attributes[start];
  if (quote !== '"' && quote !== "'") return attributes.slice(start).split(/\s/, 1)[0] ?? '';
  const end = attributes.indexOf(quote, start + 1);
  return attributes.slice(start, end === -1 ? undefined : end + 1);
}

function unquoted(value: string): string {
  const quote = value[0];
  if (quote !== '"' && quote !== "'") return value;
  return value.slice(1, value.length > 1 && value.endsWith(quote) ? -1 : undefined);
}

function plainText(html: string): string {
  return decodeEntities(html).replaceAll('\u00a0', ' ');
}

// Searches streamed output for lines that match patterns. Knows after each piece how far the search is durable: a line
// counts once, whether it is found before or after its end.
import { wholeCharacters } from '../../../base/text.ts';
import { plainText } from '../../../base/terminalText.ts';
import { type LinePosition } from '../../../protocol/lines/lineWatch.ts';
import { type LineWatch } from '../../ports/producers.ts';
import { lastBytes, markOf } from './lineMark.ts';
import { compilePatterns } from './linePatterns.ts';
import { type LinearPattern } from '../../../base/patterns/linearPattern.ts';

const NEWLINE = 0x0a;
/** A longer line is searched in pieces of this size. */
export const LONGEST_LINE = 64 * 1024;
/** Characters of a line that are shown, around the match. */
const MOST_SHOWN = 500;
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f\u009b]/;

export interface FoundLine {
  /** The byte at which the line begins. */
  readonly at: number;
  readonly text: string;
  /** The patterns that match it, by their indexes. */
  readonly patterns: readonly number[];
}

type Watched = Pick<LineWatch, 'patterns' | 'position'>;

export class LineSearch {
  readonly #patterns: readonly LinearPattern[];
  readonly #decoder = new TextDecoder();
  /** Begins with the bytes of the line without an end, and has room for more. */
  #line: Uint8Array = new Uint8Array(1024);
  #lineLength = 0;
  /** Where the line without an end begins. */
  #start: number;
  /** The last bytes before it, as far as they were given to `take`. */
  #before: Uint8Array = new Uint8Array();
  #mark: string | undefined;
  /** That line was reported already. */
  #isReported: boolean;

  constructor({ patterns, position }: Watched) {
    this.#patterns = compilePatterns(patterns);
    this.#start = position.through;
    this.#mark = position.mark;
    this.#isReported = position.reported === true;
  }

  /** Everything before it was searched and is in the results of `take` and `takeRest`. */
  get position(): LinePosition {
    return { through: this.#start, ...(this.#isReported && { reported: true as const }) };
  }

  /** The mark of the bytes before that position. */
  get mark(): string | undefined {
    return this.#mark;
  }

  /** The next byte to give to `take`. */
  get next(): number {
    return this.#start + this.#lineLength;
  }

  /** The mark of the bytes before the next one. */
  get nextMark(): string | undefined {
    return this.#lineLength === 0 ? this.#mark : markOf(lastBytes([this.#before, this.#rest]));
  }

  /** There is a line without an end that was not searched yet. */
  get hasRest(): boolean {
    return this.#lineLength > 0 && !this.#isReported;
  }

  /** The next bytes. Returns the matching lines among those that ended. */
  take(bytes: Uint8Array): readonly FoundLine[] {
    const found: FoundLine[] = [];
    const start = this.#start;
    const before = lastBytes([this.#before, this.#rest]);
    const first = this.next;
    let newline = bytes.indexOf(NEWLINE);
    for (let from = 0; from < bytes.length; ) {
      const room = from + LONGEST_LINE - this.#lineLength;
      const end = Math.min(newline === -1 ? bytes.length : newline, room);
      this.#add(bytes.subarray(from, end));
      from = end;
      if (end === newline) {
        this.#endLine(found, 1);
        from += 1;
        newline = bytes.indexOf(NEWLINE, from);
      } else if (end === room) this.#endLine(found, 0);
    }
    if (this.#start !== start) this.#setBefore(lastBytes([before, bytes.subarray(0, this.#start - first)]));
    return found;
  }

  /** Searches the line that has no end yet. If it matches, its end is not reported again. */
  takeRest(): readonly FoundLine[] {
    if (!this.hasRest) return [];
    const found = this.#find();
    if (found === undefined) return [];
    this.#isReported = true;
    return [found];
  }

  /** The bytes up to this one are gone. */
  skipTo(through: number): void {
    this.#forgetLine(through);
    this.#setBefore(new Uint8Array());
  }

  #setBefore(before: Uint8Array): void {
    this.#before = before;
    this.#mark = markOf(before);
  }

  /** The line without an end. */
  get #rest(): Uint8Array {
    return this.#line.subarray(0, this.#lineLength);
  }

  #add(piece: Uint8Array): void {
    const length = this.#lineLength + piece.length;
    if (length > this.#line.length) {
      const larger = new Uint8Array(Math.max(length, Math.min(2 * this.#line.length, LONGEST_LINE)));
      larger.set(this.#rest);
      this.#line = larger;
    }
    this.#line.set(piece, this.#lineLength);
    this.#lineLength = length;
  }

  #endLine(found: FoundLine[], separator: number): void {
    const one = this.#isReported ? undefined : this.#find();
    if (one !== undefined) found.push(one);
    this.#forgetLine(this.next + separator);
  }

  #forgetLine(through: number): void {
    this.#start = through;
    this.#lineLength = 0;
    this.#isReported = false;
  }

  #find(): FoundLine | undefined {
    if (this.#lineLength === 0) return undefined;
    const text = this.#decoder.decode(this.#rest);
    // Binary output is not searched.
    if (text.includes('\0')) return undefined;
    const plain = CONTROLS.test(text) ? plainText(text) : text;
    const ends = this.#patterns.map((pattern) => pattern.find(plain));
    const patterns = ends.flatMap((end, index) => (end < 0 ? [] : [index]));
    const [first] = patterns;
    if (first === undefined) return undefined;
    return { at: this.#start, text: around(plain, ends[first] ?? 0), patterns };
  }
}

/** The part of a long line in which the match is. */
function around(line: string, end: number): string {
  const text = line.trimEnd();
  if (text.length <= MOST_SHOWN) return text;
  const start = Math.max(0, Math.min(end - MOST_SHOWN / 2, text.length - MOST_SHOWN));
  const shown = wholeCharacters(text.slice(start), MOST_SHOWN);
  return `${start > 0 ? '…' : ''}${shown}${start + shown.length < text.length ? '…' : ''}`;
}

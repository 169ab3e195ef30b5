// Finds which of some names stand in a text as a whole, in one pass over the text (Aho and Corasick), however many names
// begin alike. The memory depends on the names only.
import { type FoldedText } from './foldedText.ts';

const SHORTEST_NAME = 3;
const LONGEST_NAME = 8000;
/** In codes; beginnings that names share count once. */
const MOST_NODES = 1 << 17;
const ROOT = 0;
const NONE = -1;
const SPREAD = 0x9e3779b1;
const FILTER_BITS = 16;

export class NameTrie {
  /** Of each node, the node before it, its last code and its distance from the root. */
  readonly #parents = new Numbers();
  readonly #codes = new Numbers();
  readonly #depths = new Numbers();
  /** The node of the longest other beginning that ends the same way. */
  #fallbacks = new Int32Array(0);
  /** The node itself or its next fallback at which a name ends. */
  #ends = new Int32Array(0);
  readonly #names = new Map<number, number[]>();
  #children: Int32Array;
  #shift: number;
  /** Most texts have none of the first codes of names: a small table says so sooner. */
  readonly #beginnings = new Uint8Array(1 << FILTER_BITS);

  /** `fold` writes the codes of a name. A name that is shorter than three codes is never found. */
  constructor(names: readonly string[], folded: FoldedText) {
    this.#children = new Int32Array(1 << 10);
    this.#shift = 32 - 10;
    this.#addNode(NONE, 0, 0);
    names.forEach((name, index) => {
      folded.clear();
      folded.add(name.trim().slice(0, LONGEST_NAME));
      if (folded.length >= SHORTEST_NAME) this.#add(folded.codes.subarray(0, folded.length), index);
    });
    this.#link();
  }

  /** Calls `found` with the number of a name, once or several times. */
  scan({ codes, length }: FoldedText, found: (name: number) => void): void {
    if (this.#names.size === 0) return;
    let node = ROOT;
    for (let at = 0; at < length; at += 1) {
      if (node === ROOT) {
        const isBeginning =
          at + SHORTEST_NAME <= length &&
          this.#beginnings[filterOf(codes, at)] === 1 &&
          (at === 0 || !isLetter(codes[at - 1] ?? 0));
        if (!isBeginning) continue;
      }
      node = this.#next(node, codes[at] ?? 0);
      const end = this.#ends[node] ?? NONE;
      if (end !== NONE && isEnd(codes, at + 1, length)) this.#report(end, codes, at + 1, found);
    }
  }

  /** The names that end here, longer ones first. */
  #report(first: number, codes: Uint16Array, end: number, found: (name: number) => void): void {
    for (let node = first; node !== NONE; node = this.#ends[this.#fallbacks[node] ?? ROOT] ?? NONE) {
      if (!isBegin(codes, end - this.#depths.at(node))) continue;
      for (const name of this.#names.get(node) ?? []) found(name);
    }
  }

  #add(codes: Uint16Array, name: number): void {
    let node = ROOT;
    for (const code of codes) {
      let child = this.#child(node, code);
      if (child === NONE) {
        if (this.#parents.length >= MOST_NODES) return;
        child = this.#addNode(node, code, this.#depths.at(node) + 1);
      }
      node = child;
    }
    this.#beginnings[filterOf(codes, 0)] = 1;
    const others = this.#names.get(node);
    if (others === undefined) this.#names.set(node, [name]);
    else others.push(name);
  }

  #addNode(parent: number, code: number, depth: number): number {
    const node = this.#parents.length;
    this.#parents.push(parent);
    this.#codes.push(code);
    this.#depths.push(depth);
    if (node * 2 > this.#children.length) this.#widen();
    if (node !== ROOT) this.#enter(node);
    return node;
  }

  #widen(): void {
    this.#children = new Int32Array(this.#children.length * 2);
    this.#shift -= 1;
    for (let node = 1; node < this.#parents.length - 1; node += 1) this.#enter(node);
  }

  #enter(node: number): void {
    let slot = this.#slot(this.#parents.at(node), this.#codes.at(node));
    while (this.#children[slot] !== ROOT) slot = (slot + 1) & (this.#children.length - 1);
    this.#children[slot] = node;
  }

  #slot(parent: number, code: number): number {
    return Math.imul(Math.imul(parent, SPREAD) ^ code, SPREAD) >>> this.#shift;
  }

  #child(parent: number, code: number): number {
    const mask = this.#children.length - 1;
    for (let slot = this.#slot(parent, code); ; slot = (slot + 1) & mask) {
      const child = this.#children[slot] ?? ROOT;
      // No node has the root as its child.
      if (child === ROOT) return NONE;
      if (this.#parents.at(child) === parent && this.#codes.at(child) === code) return child;
    }
  }

  #next(from: number, code: number): number {
    for (let node = from; ; node = this.#fallbacks[node] ?? ROOT) {
      const child = this.#child(node, code);
      if (child !== NONE) return child;
      if (node === ROOT) return ROOT;
    }
  }

  #link(): void {
    const count = this.#parents.length;
    this.#fallbacks = new Int32Array(count);
    this.#ends = new Int32Array(count).fill(NONE);
    // Those nearer to the root first.
    const nodes = Array.from({ length: count - 1 }, (_, index) => index + 1);
    nodes.sort((a, b) => this.#depths.at(a) - this.#depths.at(b));
    for (const node of nodes) {
      const parent = this.#parents.at(node);
      const fallback = parent === ROOT ? ROOT : this.#next(this.#fallbacks[parent] ?? ROOT, this.#codes.at(node));
      this.#fallbacks[node] = fallback;
      this.#ends[node] = this.#names.has(node) ? node : (this.#ends[fallback] ?? NONE);
    }
  }
}

/** A list of numbers that grows. */
class Numbers {
  length = 0;
  #values = new Int32Array(1 << 9);

  push(value: number): void {
    if (this.length === this.#values.length) {
      const values = new Int32Array(this.length * 2);
      values.set(this.#values);
      this.#values = values;
    }
    this.#values[this.length] = value;
    this.length += 1;
  }

  at(index: number): number {
    return this.#values[index] ?? 0;
  }
}

function filterOf(codes: Uint16Array, at: number): number {
  return (
    (Math.imul(codes[at] ?? 0, 0x4f1b) ^ Math.imul(codes[at + 1] ?? 0, 0x1d3) ^ (codes[at + 2] ?? 0)) &
    ((1 << FILTER_BITS) - 1)
  );
}

/** `=` and `:` */
const DIVIDING: ReadonlySet<number> = new Set([61, 58]);
/** Between two letters these join parts of one name, path or address. */
const JOINING: ReadonlySet<number> = new Set(Array.from('%&+-/=?@_~\\#.:*!$', (one) => one.charCodeAt(0)));
const MOST_MARKS = 8;

/** Whether a name may end here. Marks around it, such as those of Markdown or of the end of a sentence, are no part of it. */
function isEnd(codes: Uint16Array, end: number, length: number): boolean {
  let after = end;
  while (after < length && JOINING.has(codes[after] ?? 0) && after < end + MOST_MARKS) after += 1;
  return after >= length || !isLetter(codes[after] ?? 0);
}

function isBegin(codes: Uint16Array, begin: number): boolean {
  if (begin > 0 && isLetter(codes[begin - 1] ?? 0)) return false;
  let before = begin - 1;
  while (before >= 0 && JOINING.has(codes[before] ?? 0) && before >= begin - MOST_MARKS) before -= 1;
  return before < 0 || !isLetter(codes[before] ?? 0) || DIVIDING.has(codes[begin - 1] ?? 0);
}

/** Letters of alphabets, and digits. Between ideographs there are no blanks, so they end a name. */
export function isLetter(code: number): boolean {
  if (code < 128) return (code >= 97 && code <= 122) || (code >= 48 && code <= 57);
  return code < 0x530;
}

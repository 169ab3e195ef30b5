// Finds which parts of some strings stand verbatim in other texts: long parts anywhere, and named parts as a whole.
// Linear in the texts; the memory depends on the strings only.
import { FoldedText, hiddenText, NO_CODE } from './foldedText.ts';
import { isLetter, NameTrie } from './nameTrie.ts';

/** Shorter parts that two texts share say nothing. */
export const SHORTEST_PART = 24;
/** Parts of rulers and blank tables say nothing either. */
const LEAST_LETTERS = 12;
/** In codes; the arguments of a call that a model writes are shorter. */
const MOST_EXAMINED = 1 << 20;
const FACTOR = 0x01000193;
/** FACTOR to the power of SHORTEST_PART. */
const OLDEST_FACTOR = Array.from({ length: SHORTEST_PART }).reduce<number>((power) => Math.imul(power, FACTOR), 1);
const SPREAD = 0x9e3779b1;
const FILTER_SHIFT = 16;
const FILTER_SIZE = 1 << (32 - FILTER_SHIFT);

/** A part of one of the strings. */
export interface Part {
  readonly string: number;
  readonly start: number;
  readonly end: number;
}

export interface MatchReceiver {
  /** A part of at least SHORTEST_PART characters, as positions among all codes. */
  part(start: number, end: number): void;
  /** A named part that stands in the text as a whole, by its number. */
  name(index: number): void;
}

export class VerbatimSearch {
  readonly #own = new FoldedText();
  /** Where each string begins among the codes, and at last where the last one ends. */
  readonly #begins: number[] = [];
  readonly #table: HashTable;
  readonly #names: NameTrie;
  readonly #read = new FoldedText();

  /** `names`: texts to find as a whole; shorter ones than three characters are never found. */
  constructor(strings: readonly string[], names: readonly string[]) {
    const own = this.#own;
    for (const text of strings) {
      this.#begins.push(own.length);
      own.add(text.slice(0, Math.max(0, MOST_EXAMINED - own.length)));
      own.separate();
    }
    const end = own.length;
    this.#begins.push(end);
    this.#names = new NameTrie(names, this.#read);
    this.#table = new HashTable(end);
    this.#hashStrings(end);
  }

  /** Positions of parts are below it. */
  get size(): number {
    return this.#begins.at(-1) ?? 0;
  }

  /** Calls `found` for everything that stands in the text, also in what it hides. */
  scan(text: string, found: MatchReceiver): void {
    for (const one of [text, hiddenText(text)]) {
      this.#read.clear();
      this.#read.add(one);
      this.#names.scan(this.#read, (index) => found.name(index));
      this.#findParts(found);
    }
  }

  /** What the strings have at these positions. */
  original(start: number, end: number): Part {
    const string = this.#begins.findLastIndex((begin) => begin <= start);
    const { positions, codes } = this.#own;
    const next = codes[end] === NO_CODE ? Infinity : (positions[end] ?? Infinity);
    return { string, start: positions[start] ?? 0, end: Math.max((positions[end - 1] ?? 0) + 1, next) };
  }

  #hashStrings(end: number): void {
    const { codes } = this.#own;
    let hash = 0;
    let from = 0;
    for (let at = 0; at < end; at += 1) {
      if (codes[at] === NO_CODE) {
        from = at + 1;
        hash = 0;
        continue;
      }
      hash = (Math.imul(hash, FACTOR) + (codes[at] ?? 0)) | 0;
      const start = at - SHORTEST_PART + 1;
      if (start > from) hash = (hash - Math.imul(codes[start - 1] ?? 0, OLDEST_FACTOR)) | 0;
      if (start >= from) this.#table.add(hash, start, codes);
    }
  }

  #findParts(found: MatchReceiver): void {
    const { codes, length: end } = this.#read;
    const own = this.#own.codes;
    const table = this.#table;
    let hash = 0;
    let from = 0;
    for (let at = 0; at < end; at += 1) {
      hash = (Math.imul(hash, FACTOR) + (codes[at] ?? 0)) | 0;
      const start = at - SHORTEST_PART + 1;
      if (start > from) hash = (hash - Math.imul(codes[start - 1] ?? 0, OLDEST_FACTOR)) | 0;
      if (start < from) continue;
      const match = table.mayHave(hash) ? table.find(hash, codes, start, own) : -1;
      if (match === -1) continue;
      let length = SHORTEST_PART;
      while (start + length < end && own[match + length] === codes[start + length]) length += 1;
      if (saysSomething(own, match, match + length)) found.part(match, match + length);
      if (length === SHORTEST_PART) continue;
      // What follows may belong to another part of the strings, which shares all but one of its first codes with this.
      at = start + length - SHORTEST_PART;
      from = at + 1;
      hash = 0;
    }
  }
}

function saysSomething(codes: Uint16Array, start: number, end: number): boolean {
  let letters = 0;
  for (let at = start; at < end && letters < LEAST_LETTERS; at += 1) if (isLetter(codes[at] ?? 0)) letters += 1;
  return letters >= LEAST_LETTERS;
}

/** The first position of each hash of SHORTEST_PART codes. */
class HashTable {
  readonly #hashes: Int32Array;
  /** One more than the position; 0: empty. */
  readonly #places: Int32Array;
  /** Most texts have none of the hashes: a small table says so sooner. */
  readonly #filter = new Uint8Array(FILTER_SIZE);
  readonly #shift: number;
  readonly #mask: number;

  constructor(count: number) {
    const bits = Math.max(12, Math.ceil(Math.log2(count + 1)) + 1);
    this.#hashes = new Int32Array(1 << bits);
    this.#places = new Int32Array(1 << bits);
    this.#shift = 32 - bits;
    this.#mask = (1 << bits) - 1;
  }

  mayHave(hash: number): boolean {
    return this.#filter[hash >>> FILTER_SHIFT] !== 0;
  }

  add(hash: number, position: number, codes: Uint16Array): void {
    this.#filter[hash >>> FILTER_SHIFT] = 1;
    let slot = Math.imul(hash, SPREAD) >>> this.#shift;
    for (let place = this.#places[slot] ?? 0; place !== 0; place = this.#places[slot] ?? 0) {
      if (this.#hashes[slot] === hash && areEqual(codes, place - 1, codes, position)) return;
      slot = (slot + 1) & this.#mask;
    }
    this.#hashes[slot] = hash;
    this.#places[slot] = position + 1;
  }

  /** -1: none of the strings has these codes. */
  find(hash: number, text: Uint16Array, start: number, codes: Uint16Array): number {
    let slot = Math.imul(hash, SPREAD) >>> this.#shift;
    for (let place = this.#places[slot] ?? 0; place !== 0; place = this.#places[slot] ?? 0) {
      if (this.#hashes[slot] === hash && areEqual(codes, place - 1, text, start)) return place - 1;
      slot = (slot + 1) & this.#mask;
    }
    return -1;
  }
}

function areEqual(one: Uint16Array, from: number, other: Uint16Array, at: number): boolean {
  for (let offset = 0; offset < SHORTEST_PART; offset += 1) if (one[from + offset] !== other[at + offset]) return false;
  return true;
}

// Regular expressions that take time proportional to the text, whatever their form: for patterns that a model writes.
// Without back references and lookaround, which cannot be matched in that time.
import { type CharacterTest, parsePattern, type PatternNode, type Place } from './linearSyntax.ts';

/** Larger patterns are refused: each character of the text costs at most one step for each instruction. */
const MOST_INSTRUCTIONS = 2000;

export interface LinearPattern {
  /** The end of the first match to end; -1: there is none. */
  find(text: string): number;
}

export type CompiledPattern =
  | { readonly ok: true; readonly pattern: LinearPattern }
  /** For the model: why it is no pattern. */
  | { readonly ok: false; readonly reason: string };

export function compileLinearPattern(source: string): CompiledPattern {
  const parsed = parsePattern(source);
  if (!parsed.ok) return parsed;
  const program = new Program();
  if (!program.add(parsed.node)) return { ok: false, reason: 'it is too large; use fewer or smaller repetitions' };
  program.instructions.push({ type: 'match' });
  program.prepare();
  return { ok: true, pattern: { find: (text) => program.find(text) } };
}

/** Matches texts that contain this one, in upper or lower case; each `*` stands for any characters. */
export function compileTextPattern(text: string): LinearPattern {
  const source = text
    .split('*')
    .map((part) => part.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&'))
    .join('.*');
  const compiled = compileLinearPattern(`(?i)${source}`);
  if (compiled.ok) return compiled.pattern;
  throw new Error(`a literal text does not compile: ${compiled.reason}`);
}

type Instruction =
  | { readonly type: 'character'; readonly matches: CharacterTest }
  | { readonly type: 'place'; readonly place: Place }
  /** Continues at both. */
  | { readonly type: 'split'; first: number; second: number }
  | { readonly type: 'match' };

/** Runs all alternatives at the same time, so that no text is read twice. */
class Program {
  readonly instructions: Instruction[] = [];
  /** Kept between searches: a search is made for every line that a command prints. */
  #current = new Threads(0);
  #next = new Threads(0);
  readonly #open: number[] = [];
  #starts: Uint8Array | undefined;

  /** Call it once all instructions are added. */
  prepare(): void {
    this.#current = new Threads(this.instructions.length);
    this.#next = new Threads(this.instructions.length);
    this.#starts = this.#findStarts();
  }

  /** False: it has too many instructions. */
  add(node: PatternNode): boolean {
    if (this.instructions.length > MOST_INSTRUCTIONS) return false;
    switch (node.type) {
      case 'character':
        this.instructions.push(node);
        return true;
      case 'place':
        this.instructions.push(node);
        return true;
      case 'sequence':
        return node.parts.every((part) => this.add(part));
      case 'choice':
        return this.#addChoice(node.options);
      case 'repeat':
        return this.#addRepeat(node);
    }
  }

  find(text: string): number {
    const { instructions } = this;
    const starts = this.#starts;
    this.#current.clear();
    for (let at = 0; at <= text.length; at += 1) {
      const unit = text.charCodeAt(at);
      if (this.#current.count === 0 && starts !== undefined && unit < starts.length && starts[unit] === 0) continue;
      // A match may begin anywhere.
      if (this.#reach(this.#current, 0, text, at)) return at;
      const [current, next] = [this.#current, this.#next];
      next.clear();
      for (let index = 0; index < current.count && at < text.length; index += 1) {
        const counter = current.list[index] ?? 0;
        const instruction = instructions[counter];
        if (instruction?.type !== 'character' || !instruction.matches(unit)) continue;
        if (this.#reach(next, counter + 1, text, at + 1)) return at + 1;
      }
      [this.#current, this.#next] = [next, current];
    }
    return -1;
  }

  /** Adds the instruction with all that it leads to without reading. Returns whether that is the end of a match. */
  #reach(threads: Threads, from: number, text: string, at: number): boolean {
    const open = this.#open;
    open.length = 0;
    for (let counter: number | undefined = from; counter !== undefined; counter = open.pop()) {
      if (!threads.add(counter)) continue;
      const instruction = this.instructions[counter];
      if (instruction?.type === 'match') return true;
      if (instruction?.type === 'split') open.push(instruction.second, instruction.first);
      else if (instruction?.type === 'place' && isAt(instruction.place, text, at)) open.push(counter + 1);
    }
    return false;
  }

  /** By code: 1 if a match can begin with this ASCII character. Undefined: it may begin with anything. */
  #findStarts(): Uint8Array | undefined {
    const threads = new Threads(this.instructions.length);
    if (this.#reach(threads, 0, '', 1)) return undefined;
    const first = [...threads.list.subarray(0, threads.count)].map((counter) => this.instructions[counter]);
    if (first.some((one) => one?.type === 'place')) return undefined;
    const matches = (unit: number) => first.some((one) => one?.type === 'character' && one.matches(unit));
    return Uint8Array.from({ length: 128 }, (_, unit) => (matches(unit) ? 1 : 0));
  }

  #split(): { first: number; second: number } {
    const split = { type: 'split' as const, first: this.instructions.length + 1, second: this.instructions.length + 1 };
    this.instructions.push(split);
    return split;
  }

  #addChoice(options: readonly PatternNode[]): boolean {
    const ends: { first: number; second: number }[] = [];
    for (const [index, option] of options.entries()) {
      const split = index < options.length - 1 ? this.#split() : undefined;
      if (!this.add(option)) return false;
      if (split === undefined) continue;
      ends.push(this.#split());
      split.second = this.instructions.length;
    }
    for (const end of ends) end.first = end.second = this.instructions.length;
    return true;
  }

  #addRepeat({ node, min, max }: Extract<PatternNode, { type: 'repeat' }>): boolean {
    for (let count = 0; count < min; count += 1) if (!this.add(node)) return false;
    if (max === undefined) {
      const split = this.#split();
      const start = this.instructions.length - 1;
      if (!this.add(node)) return false;
      const back = this.#split();
      back.first = back.second = start;
      split.second = this.instructions.length;
      return true;
    }
    const splits: { first: number; second: number }[] = [];
    for (let count = min; count < max; count += 1) {
      splits.push(this.#split());
      if (!this.add(node)) return false;
    }
    for (const split of splits) split.second = this.instructions.length;
    return true;
  }
}

function isAt(place: Place, text: string, at: number): boolean {
  if (place === 'start') return at === 0;
  if (place === 'end') return at === text.length;
  const isBoundary = isWord(text, at - 1) !== isWord(text, at);
  return (place === 'boundary') === isBoundary;
}

function isWord(text: string, at: number): boolean {
  return /\w/.test(text.charAt(at));
}

/** A set of instructions in the order in which they were added, emptied without being walked through. */
class Threads {
  readonly list: Int32Array;
  readonly #places: Int32Array;
  count = 0;

  constructor(size: number) {
    this.list = new Int32Array(size);
    this.#places = new Int32Array(size);
  }

  clear(): void {
    this.count = 0;
  }

  /** False: it was in the set. */
  add(counter: number): boolean {
    const place = this.#places[counter] ?? 0;
    if (place < this.count && this.list[place] === counter) return false;
    this.#places[counter] = this.count;
    this.list[this.count] = counter;
    this.count += 1;
    return true;
  }
}

// Parses the regular expressions of `linearPattern.ts` into a tree. What it does not know is refused with a reason.

export type CharacterTest = (unit: number) => boolean;
export type Place = 'start' | 'end' | 'boundary' | 'inside';

export type PatternNode =
  | { readonly type: 'character'; readonly matches: CharacterTest }
  | { readonly type: 'place'; readonly place: Place }
  | { readonly type: 'sequence'; readonly parts: readonly PatternNode[] }
  | { readonly type: 'choice'; readonly options: readonly PatternNode[] }
  /** `max` is undefined: any number. */
  | { readonly type: 'repeat'; readonly node: PatternNode; readonly min: number; readonly max: number | undefined };

export type ParsedPattern =
  | { readonly ok: true; readonly node: PatternNode }
  | { readonly ok: false; readonly reason: string };

const MOST_DEPTH = 50;
const MOST_REPETITIONS = 100;

/** Why the text is no pattern; only thrown and caught in this file. */
class Refused extends Error {}

export function parsePattern(source: string): ParsedPattern {
  const [whole = '', flags = ''] = /^\(\?(i)\)/.exec(source) ?? [];
  try {
    const parser = new Parser(source.slice(whole.length), flags === 'i');
    return { ok: true, node: parser.parse() };
  } catch (error) {
    if (error instanceof Refused) return { ok: false, reason: error.message };
    throw error;
  }
}

const CLASSES: Readonly<Record<string, RegExp>> = { d: /\d/, D: /\D/, w: /\w/, W: /\W/, s: /\s/, S: /\S/ };
const CONTROLS: Readonly<Record<string, string>> = {
  t: '\t',
  n: '\n',
  r: '\r',
  f: '\f',
  v: '\v',
  0: '\0',
  e: '\u001b',
};

class Parser {
  readonly #source: string;
  readonly #ignoreCase: boolean;
  #at = 0;
  #depth = 0;

  constructor(source: string, ignoreCase: boolean) {
    this.#source = source;
    this.#ignoreCase = ignoreCase;
  }

  parse(): PatternNode {
    const node = this.#choice();
    if (this.#at < this.#source.length) throw new Refused('a ) has no (');
    return node;
  }

  #choice(): PatternNode {
    this.#depth += 1;
    if (this.#depth > MOST_DEPTH) throw new Refused('its groups are nested too deeply');
    const options = [this.#sequence()];
    while (this.#take('|')) options.push(this.#sequence());
    this.#depth -= 1;
    const [only] = options;
    return options.length === 1 && only !== undefined ? only : { type: 'choice', options };
  }

  #sequence(): PatternNode {
    const parts: PatternNode[] = [];
    while (this.#at < this.#source.length && !this.#isNext('|') && !this.#isNext(')')) {
      parts.push(this.#repeated(this.#single()));
    }
    return { type: 'sequence', parts };
  }

  #repeated(node: PatternNode): PatternNode {
    const range = this.#range();
    if (range === undefined) return node;
    // A lazy repetition finds the same lines.
    this.#take('?');
    if (this.#isNext('+')) throw new Refused('possessive repetitions (*+, ++, ?+) are not supported');
    if (this.#range() !== undefined) throw new Refused('a repetition follows another; put the first into ( )');
    const { min, max } = range;
    return { type: 'repeat', node, min, max };
  }

  #range(): { readonly min: number; readonly max: number | undefined } | undefined {
    if (this.#take('*')) return { min: 0, max: undefined };
    if (this.#take('+')) return { min: 1, max: undefined };
    if (this.#take('?')) return { min: 0, max: 1 };
    const [whole, first = '', more, last = ''] =
      /^\{(\d{1,9})(,(\d{0,9}))?\}/.exec(this.#source.slice(this.#at, this.#at + 22)) ?? [];
    if (whole === undefined) return undefined;
    this.#at += whole.length;
    const min = Number(first);
    const max = more === undefined ? min : last === '' ? undefined : Number(last);
    if (Math.max(min, max ?? 0) > MOST_REPETITIONS)
      throw new Refused(`${whole} repeats more than ${MOST_REPETITIONS} times`);
    if (max !== undefined && max < min) throw new Refused(`${whole} has its numbers in the wrong order`);
    return { min, max };
  }

  #single(): PatternNode {
    const unit = this.#next();
    switch (unit) {
      case '(':
        return this.#group();
      case '[':
        return this.#characterClass();
      case '\\':
        return this.#escape();
      case '^':
        return { type: 'place', place: 'start' };
      case '$':
        return { type: 'place', place: 'end' };
      case '.':
        return { type: 'character', matches: () => true };
      case '*':
      case '+':
      case '?':
        throw new Refused(`nothing is before ${unit}; write \\${unit} for the character`);
      default:
        return this.#literal(unit);
    }
  }

  #group(): PatternNode {
    if (this.#take('?')) {
      const [name] = /^(?::|P?<[A-Za-z_]\w{0,50}>)/.exec(this.#source.slice(this.#at, this.#at + 60)) ?? [];
      if (name === undefined)
        throw new Refused(
          'lookahead, lookbehind and flags inside the pattern are not supported; (?i) may be its beginning',
        );
      this.#at += name.length;
    }
    const node = this.#choice();
    if (!this.#take(')')) throw new Refused('a ( has no )');
    return node;
  }

  #escape(): PatternNode {
    const unit = this.#next('\\ is at the end; write \\\\ for the character');
    if (unit === 'b') return { type: 'place', place: 'boundary' };
    if (unit === 'B') return { type: 'place', place: 'inside' };
    if (/[1-9k]/.test(unit)) throw new Refused('back references are not supported');
    const known = CLASSES[unit];
    return known === undefined ? this.#literal(this.#escaped(unit)) : { type: 'character', matches: testOf(known) };
  }

  /** The character that an escape stands for, in a class or outside. */
  #escaped(unit: string): string {
    if (unit === 'x') return this.#coded(2);
    if (unit === 'u') return this.#coded(4);
    if (/[A-Za-z]/.test(unit) && !Object.hasOwn(CONTROLS, unit)) throw new Refused(`\\${unit} is not known`);
    return CONTROLS[unit] ?? unit;
  }

  #coded(digits: number): string {
    const code = this.#source.slice(this.#at, this.#at + digits);
    if (code.length < digits || /[^\da-f]/i.test(code)) throw new Refused(`${digits} hexadecimal digits are missing`);
    this.#at += digits;
    return String.fromCharCode(Number.parseInt(code, 16));
  }

  #characterClass(): PatternNode {
    const isNegated = this.#take('^');
    const tests: CharacterTest[] = [];
    for (let isFirst = true; isFirst || !this.#isNext(']'); isFirst = false) {
      const low = this.#inClass();
      if (typeof low !== 'string') {
        tests.push(low);
        continue;
      }
      const isRange = this.#isNext('-') && this.#source[this.#at + 1] !== ']' && this.#at + 1 < this.#source.length;
      if (isRange) this.#at += 1;
      const high = isRange ? this.#inClass() : low;
      if (typeof high !== 'string' || high < low)
        throw new Refused(`the range ${low}-… of a class is in the wrong order`);
      tests.push(this.#between(low.charCodeAt(0), high.charCodeAt(0)));
    }
    this.#at += 1;
    return { type: 'character', matches: (unit) => tests.some((test) => test(unit)) !== isNegated };
  }

  #inClass(): string | CharacterTest {
    const unit = this.#next('a [ has no ]');
    if (unit !== '\\') return unit;
    const escaped = this.#next('a [ has no ]');
    if (escaped === 'b') return '\b';
    const known = CLASSES[escaped];
    return known === undefined ? this.#escaped(escaped) : testOf(known);
  }

  #between(low: number, high: number): CharacterTest {
    if (!this.#ignoreCase) return (unit) => unit >= low && unit <= high;
    return (unit) => {
      if (unit >= low && unit <= high) return true;
      const [lower, upper] = casesOf(unit);
      return (lower >= low && lower <= high) || (upper >= low && upper <= high);
    };
  }

  #literal(character: string): PatternNode {
    const code = character.charCodeAt(0);
    const [lower, upper] = this.#ignoreCase ? casesOf(code) : [code, code];
    return { type: 'character', matches: (unit) => unit === code || unit === lower || unit === upper };
  }

  #next(missing = ''): string {
    if (this.#at >= this.#source.length) throw new Refused(missing);
    this.#at += 1;
    return this.#source.charAt(this.#at - 1);
  }

  #isNext(unit: string): boolean {
    return this.#source[this.#at] === unit;
  }

  #take(unit: string): boolean {
    if (!this.#isNext(unit)) return false;
    this.#at += 1;
    return true;
  }
}

function testOf(known: RegExp): CharacterTest {
  return (unit) => known.test(String.fromCharCode(unit));
}

function casesOf(unit: number): readonly [lower: number, upper: number] {
  const character = String.fromCharCode(unit);
  return [character.toLowerCase().charCodeAt(0), character.toUpperCase().charCodeAt(0)];
}

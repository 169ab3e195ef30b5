// A text as codes for comparison: lower case, compatible characters unified, invisible ones left out, and each run of
// blanks as one. Characters are unified one by one, so that a part of a text always has the codes it has in the whole.

/** Neither visible nor blank. Those of the block of tags, which spell hidden ASCII, are read by `hiddenText`. */
const INVISIBLE =
  /^(?:[\u0000-\u0008\u000e-\u001f\u007f-\u0084\u0086-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\uffff])$/;
const BLANK = /^\s$/;
const TAGS = /\udb40[\udc00-\udc7f]/g;
/** From here to LAST_SYLLABLE are letters without another form. */
const FIRST_IDEOGRAPH = 0x3400;
const LAST_SYLLABLE = 0xd7ff;
/** Longer expansions are those of whole words in one character. */
const LONGEST_EXPANSION = 18;

const BLANK_CODE = 32;
/** No text has it: it is left out as invisible. */
export const NO_CODE = 0xffff;

const UNKNOWN = 0;
/** Not exactly one code. */
const SEVERAL = -1;
/** The code of each character that has exactly one, found out when it first occurs. */
const SINGLE = new Int32Array(FIRST_IDEOGRAPH).fill(UNKNOWN);
/** The codes of the others. */
const unified = new Map<string, readonly number[]>();
const MOST_REMEMBERED = 20_000;

/** The codes of one text after another. */
export class FoldedText {
  codes = new Uint16Array(0);
  /** Of each code, the position of its character in the text. */
  positions = new Uint32Array(0);
  length = 0;

  clear(): void {
    this.length = 0;
  }

  /** Ends a text: nothing stands across this. */
  separate(): void {
    this.#reserve(1);
    this.codes[this.length] = NO_CODE;
    this.length += 1;
  }

  add(text: string): void {
    this.#reserve(text.length);
    let { codes, positions, length } = this;
    let blank = false;
    for (let at = 0; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      let folded = code < SINGLE.length ? (SINGLE[code] ?? UNKNOWN) : code;
      if (folded === UNKNOWN) folded = lookUp(code);
      if (folded !== SEVERAL && code <= LAST_SYLLABLE) {
        if (folded === BLANK_CODE && blank) continue;
        blank = folded === BLANK_CODE;
        codes[length] = folded;
        positions[length] = at;
        length += 1;
        continue;
      }
      const isPair = code >= 0xd800 && code <= 0xdbff && at + 1 < text.length;
      const found = codesOf(isPair ? text.slice(at, at + 2) : text.charAt(at));
      this.length = length;
      this.#reserve(found.length + text.length - at);
      ({ codes, positions } = this);
      for (const one of found) {
        if (one === BLANK_CODE && blank) continue;
        blank = one === BLANK_CODE;
        codes[length] = one;
        positions[length] = at;
        length += 1;
      }
      if (isPair) at += 1;
    }
    this.length = length;
  }

  #reserve(more: number): void {
    const needed = this.length + more;
    if (needed <= this.codes.length) return;
    const room = Math.max(needed, this.codes.length * 2);
    const { codes, positions } = this;
    this.codes = new Uint16Array(room);
    this.codes.set(codes);
    this.positions = new Uint32Array(room);
    this.positions.set(positions);
  }
}

/** What the invisible tag characters of a text spell; empty if it has none. */
export function hiddenText(text: string): string {
  if (!text.includes('\udb40')) return '';
  return (text.match(TAGS) ?? []).map((tag) => String.fromCharCode(tag.charCodeAt(1) - 0xdc00)).join('');
}

function lookUp(code: number): number {
  const found = codesOf(String.fromCharCode(code));
  const single = found.length === 1 ? (found[0] ?? SEVERAL) : SEVERAL;
  SINGLE[code] = single;
  return single;
}

function codesOf(character: string): readonly number[] {
  const known = unified.get(character);
  if (known !== undefined) return known;
  const codes = unify(character);
  if (unified.size >= MOST_REMEMBERED) unified.clear();
  unified.set(character, codes);
  return codes;
}

function unify(character: string): readonly number[] {
  if (character.startsWith('\udb40') || INVISIBLE.test(character)) return [];
  if (BLANK.test(character)) return [BLANK_CODE];
  const plain = character.normalize('NFKD').toLowerCase().slice(0, LONGEST_EXPANSION);
  return Array.from(plain).flatMap((one) => {
    if (BLANK.test(one)) return [BLANK_CODE];
    return INVISIBLE.test(one) ? [] : Array.from({ length: one.length }, (_, at) => one.charCodeAt(at));
  });
}

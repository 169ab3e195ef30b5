// Parses a JSON object as it arrives, to show a call while it streams, never to run it. Every character is read once,
// and of a long string only the beginning and the end are kept.
import { isObject } from '../base/json/outsideJson.ts';
import { type Growing } from './growing.ts';

type Values = Readonly<Record<string, unknown>>;
type Container = Record<string, unknown> | unknown[];

/** Characters of a string that are kept from its beginning, and at least from its end. */
const BEGINNING = 4000;
const END = 4000;
const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', b: '\b', f: '\f' };
const LITERAL = /[-+.\w]/;

/** Empty if nothing can be parsed yet. */
export function readPartial(text: string): Values {
  const json = new PartialJson();
  json.feed(text);
  return json.value;
}

const readers = new WeakMap<readonly string[], { readonly json: PartialJson; count: number }>();

/** The same for a text that grows: only what is new is read. */
export function readGrowing({ pieces, count }: Growing): Values {
  let reader = readers.get(pieces);
  if (reader === undefined || reader.count > count) {
    reader = { json: new PartialJson(), count: 0 };
    readers.set(pieces, reader);
  }
  while (reader.count < count) reader.json.feed(pieces[reader.count++] ?? '');
  return reader.json.value;
}

/** Text that is cut in the middle when it is long. */
class BoundedText {
  #beginning = '';
  #end = '';
  #isCut = false;

  add(more: string): void {
    const free = BEGINNING - this.#beginning.length;
    this.#beginning += more.slice(0, free);
    this.#end += more.slice(free);
    if (this.#end.length <= 2 * END) return;
    this.#end = this.#end.slice(-END);
    this.#isCut = true;
  }

  get text(): string {
    return this.#isCut ? `${this.#beginning}\n…\n${this.#end}` : this.#beginning + this.#end;
  }
}

class PartialJson {
  readonly #root: unknown[] = [];
  readonly #open: Container[] = [this.#root];
  /** The key of the next value of each open object. */
  readonly #keys: (string | undefined)[] = [undefined];
  #text: BoundedText | undefined;
  #escape = '';
  #literal = '';
  #isBroken = false;

  /** A copy, so that its reader notices that it has changed. Nested values are changed in place. */
  get value(): Values {
    const [value] = this.#root;
    return isObject(value) ? { ...value } : {};
  }

  feed(text: string): void {
    for (let at = 0; at < text.length && !this.#isBroken; ) {
      if (this.#text === undefined) this.#readBetween(text[at++] ?? '');
      else at = this.#readText(this.#text, text, at);
    }
    // An incomplete text is shown so far, but not an incomplete key.
    if (this.#text !== undefined && !this.#isKeyNext()) this.#put(this.#text.text);
  }

  /** Reads a string from `at` on; returns where it stopped. */
  #readText(into: BoundedText, text: string, at: number): number {
    if (this.#escape !== '') {
      this.#readEscape(into, text[at] ?? '');
      return at + 1;
    }
    const character = text[at];
    if (character === '\\') this.#escape = '\\';
    else if (character === '"') this.#endText(into.text);
    else {
      let end = at + 1;
      while (end < text.length && text[end] !== '"' && text[end] !== '\\') end += 1;
      into.add(text.slice(at, end));
      return end;
    }
    return at + 1;
  }

  #readEscape(into: BoundedText, character: string): void {
    this.#escape += character;
    const isCode = this.#escape.startsWith('\\u');
    if (isCode && this.#escape.length < 6) return;
    if (isCode) into.add(String.fromCharCode(Number.parseInt(this.#escape.slice(2), 16) || 0));
    else into.add(ESCAPES[character] ?? character);
    this.#escape = '';
  }

  #endText(text: string): void {
    this.#text = undefined;
    if (this.#isKeyNext()) this.#keys[this.#keys.length - 1] = text;
    else this.#endValue(text);
  }

  #readBetween(character: string): void {
    if (LITERAL.test(character)) {
      this.#literal += character;
      return;
    }
    this.#endLiteral();
    if (character === '"') this.#text = new BoundedText();
    else if (character === '{' || character === '[') this.#begin(character === '{' ? {} : []);
    else if (character === '}' || character === ']') this.#end();
  }

  #endLiteral(): void {
    if (this.#literal === '') return;
    try {
      this.#endValue(JSON.parse(this.#literal));
    } catch {
      this.#isBroken = true;
    }
    this.#literal = '';
  }

  #begin(container: Container): void {
    this.#put(container);
    this.#open.push(container);
    this.#keys.push(undefined);
  }

  #end(): void {
    if (this.#open.length < 2) {
      this.#isBroken = true;
      return;
    }
    this.#open.pop();
    this.#keys.pop();
    this.#afterValue();
  }

  #endValue(value: unknown): void {
    this.#put(value);
    this.#afterValue();
  }

  #isKeyNext(): boolean {
    return !Array.isArray(this.#open.at(-1)) && this.#keys.at(-1) === undefined;
  }

  /** An array gets a further value; the value of an object replaces what was read of it so far. */
  #put(value: unknown): void {
    const container = this.#open.at(-1);
    const key = this.#keys.at(-1);
    if (Array.isArray(container)) container[Number(key ?? container.length)] = value;
    else if (container !== undefined && key !== undefined) {
      // A key such as `__proto__` is only a name.
      Object.defineProperty(container, key, { value, writable: true, enumerable: true, configurable: true });
    }
    // The rest of an incomplete text replaces it at the same place.
    if (Array.isArray(container) && key === undefined) this.#keys[this.#keys.length - 1] = String(container.length - 1);
  }

  #afterValue(): void {
    this.#keys[this.#keys.length - 1] = undefined;
  }
}

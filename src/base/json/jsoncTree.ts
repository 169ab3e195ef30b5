// Parses JSON with comments into a tree with positions, so that an edit leaves the rest of the text unchanged.

export type JsoncNode =
  | { readonly type: 'object'; readonly start: number; readonly end: number; readonly members: readonly JsoncMember[] }
  | { readonly type: 'array'; readonly start: number; readonly end: number; readonly items: readonly JsoncNode[] }
  | { readonly type: 'value'; readonly start: number; readonly end: number; readonly value: unknown };

interface JsoncMember {
  readonly key: string;
  readonly start: number;
  readonly value: JsoncNode;
}

type Container = Extract<JsoncNode, { type: 'object' | 'array' }>;

const MOST_DEPTH = 100;
const PLAIN = /[^\s,:[\]{}"/]+/y;

/** Throws a SyntaxError with the position of the error. */
export function parseJsoncTree(text: string): JsoncNode {
  const reader = new Reader(text);
  const node = reader.value(0);
  reader.end();
  return node;
}

/** The value that `JSON.parse` would return. */
export function jsoncValue(node: JsoncNode): unknown {
  switch (node.type) {
    case 'object':
      return Object.fromEntries(node.members.map(({ key, value }) => [key, jsoncValue(value)]));
    case 'array':
      return node.items.map(jsoncValue);
    case 'value':
      return node.value;
  }
}

/** The text with one more member at the end of this object. */
export function addMember(text: string, object: Container, key: string, value: unknown): string {
  return addPart(text, object, `${JSON.stringify(key)}: `, value);
}

/** The text with one more item at the end of this array. */
export function addItem(text: string, array: Container, value: unknown): string {
  return addPart(text, array, '', value);
}

/** The text without this part of the object or array; comments around it stay. */
export function removePart(text: string, container: Container, index: number): string {
  const parts = partsOf(container);
  const part = parts[index];
  if (part === undefined) return text;
  const comma = commaAfter(text, part.end);
  const before = parts[index - 1];
  // If the last part has no comma after it, the comma before it is removed.
  const earlier = comma === undefined && before !== undefined ? commaAfter(text, before.end) : undefined;
  let { start } = part;
  let end = comma === undefined ? part.end : comma + 1;
  while (/[ \t]/.test(text[start - 1] ?? '')) start -= 1;
  const isWholeLine = text[start - 1] === '\n' && /^[ \t]*\r?\n/.test(text.slice(end, end + 200));
  if (isWholeLine) start -= text[start - 2] === '\r' ? 2 : 1;
  else while (/[ \t]/.test(text[end] ?? '')) end += 1;
  const kept = earlier === undefined ? text.slice(0, start) : text.slice(0, earlier) + text.slice(earlier + 1, start);
  return kept + text.slice(end);
}

function partsOf(container: Container): readonly { readonly start: number; readonly end: number }[] {
  return container.type === 'object'
    ? container.members.map(({ start, value }) => ({ start, end: value.end }))
    : container.items;
}

function addPart(text: string, container: Container, lead: string, value: unknown): string {
  const outer = indentAt(text, container.start);
  const unit = indentUnit(text);
  const newline = text.includes('\r\n') ? '\r\n' : '\n';
  const printed = JSON.stringify(value, undefined, unit).split('\n').join(`${newline}${outer}${unit}`);
  const part = `${newline}${outer}${unit}${lead}${printed}`;
  const last = partsOf(container).at(-1);
  const close = container.end - 1;
  // The new part goes after comments that follow the last part.
  let at = close;
  while (/\s/.test(text[at - 1] ?? '') && at - 1 > container.start) at -= 1;
  const tail = `${newline}${outer}${text.slice(close)}`;
  if (last === undefined || commaAfter(text, last.end) !== undefined) return text.slice(0, at) + part + tail;
  return `${text.slice(0, last.end)},${text.slice(last.end, at)}${part}${tail}`;
}

/** Undefined if there is no comma before the next part or the end. */
function commaAfter(text: string, from: number): number | undefined {
  const at = skip(text, from);
  return text[at] === ',' ? at : undefined;
}

function indentAt(text: string, at: number): string {
  const line = text.lastIndexOf('\n', at - 1) + 1;
  return /^[ \t]*/.exec(text.slice(line, at))?.[0] ?? '';
}

function indentUnit(text: string): string {
  return /\n([ \t]+)\S/.exec(text.slice(0, 10_000))?.[1]?.slice(0, 8) ?? '  ';
}

/** The position after blanks and comments. */
function skip(text: string, from: number): number {
  let at = from;
  for (;;) {
    while (at < text.length && (text.charCodeAt(at) <= 0x20 || text.charCodeAt(at) === 0xfeff)) at += 1;
    const end = text.startsWith('//', at)
      ? text.indexOf('\n', at)
      : text.startsWith('/*', at)
        ? text.indexOf('*/', at + 2)
        : at;
    if (end === at) return at;
    if (end === -1) return text.length;
    at = text[end] === '*' ? end + 2 : end;
  }
}

class Reader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  value(depth: number): JsoncNode {
    if (depth > MOST_DEPTH) throw this.#wrong();
    const start = this.#next();
    const first = this.#text[start];
    if (first === '{') return this.#object(start, depth);
    if (first === '[') return this.#array(start, depth);
    const value = first === '"' ? this.#string() : this.#plain();
    return { type: 'value', start, end: this.#at, value };
  }

  end(): void {
    if (this.#next() < this.#text.length) throw this.#wrong();
  }

  #object(start: number, depth: number): JsoncNode {
    const members: JsoncMember[] = [];
    this.#list('}', () => {
      const at = this.#at;
      if (this.#text[at] !== '"') throw this.#wrong();
      const key = this.#string();
      if (this.#text[this.#next()] !== ':') throw this.#wrong();
      this.#at += 1;
      members.push({ key, start: at, value: this.value(depth + 1) });
    });
    return { type: 'object', start, end: this.#at, members };
  }

  #array(start: number, depth: number): JsoncNode {
    const items: JsoncNode[] = [];
    this.#list(']', () => items.push(this.value(depth + 1)));
    return { type: 'array', start, end: this.#at, items };
  }

  #list(close: string, part: () => void): void {
    this.#at += 1;
    for (;;) {
      if (this.#text[this.#next()] === close) break;
      part();
      const after = this.#text[this.#next()];
      if (after === ',') this.#at += 1;
      else if (after !== close) throw this.#wrong();
    }
    this.#at += 1;
  }

  #string(): string {
    let end = this.#at + 1;
    while (end < this.#text.length && this.#text[end] !== '"') end += this.#text[end] === '\\' ? 2 : 1;
    const text = this.#text.slice(this.#at, end + 1);
    this.#at = end + 1;
    return JSON.parse(text) as string;
  }

  #plain(): unknown {
    PLAIN.lastIndex = this.#at;
    const found = PLAIN.exec(this.#text)?.[0];
    if (found === undefined) throw this.#wrong();
    this.#at += found.length;
    return JSON.parse(found) as unknown;
  }

  #next(): number {
    this.#at = skip(this.#text, this.#at);
    return this.#at;
  }

  #wrong(): SyntaxError {
    return new SyntaxError(`the JSON is not valid at character ${this.#at}`);
  }
}

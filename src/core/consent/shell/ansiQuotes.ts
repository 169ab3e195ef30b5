// Parses $'…' strings of bash and zsh, as far as both shells agree.

const PLAIN = new Map(
  Object.entries({
    ...{ a: '\x07', b: '\b', e: '\x1b', E: '\x1b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' },
    ...{ '\\': '\\', "'": "'", '"': '"', '?': '?' },
  }),
);
const CODES = [/^x([0-9a-fA-F]{1,2})/, /^u([0-9a-fA-F]{1,4})/, /^U([0-9a-fA-F]{1,8})/];
const OCTAL = /^[0-7]{1,3}/;

/** `from`: the offset after the opening quote. Undefined: the string is not closed, or its value is not certain. */
export function readAnsiQuoted(
  text: string,
  from: number,
): { readonly text: string; readonly next: number } | undefined {
  const pieces: string[] = [];
  let start = from;
  for (let at = from; at < text.length; ) {
    const character = text[at] ?? '';
    if (character !== '\\' && character !== "'") {
      at += 1;
      continue;
    }
    pieces.push(text.slice(start, at));
    if (character === "'") return { text: pieces.join(''), next: at + 1 };
    const escape = readEscape(text.slice(at + 1, at + 10));
    if (escape === undefined) return undefined;
    pieces.push(escape.text);
    at += 1 + escape.length;
    start = at;
  }
  return undefined;
}

function readEscape(text: string): { text: string; length: number } | undefined {
  const plain = PLAIN.get(text[0] ?? '');
  if (plain !== undefined) return { text: plain, length: 1 };
  const octal = OCTAL.exec(text)?.[0];
  const found = octal === undefined ? CODES.map((code) => code.exec(text)).find((match) => match !== null) : undefined;
  const code = octal === undefined ? Number.parseInt(found?.[1] ?? '', 16) : Number.parseInt(octal, 8);
  // NUL ends the text; beyond ASCII, bytes and characters differ.
  if (!(code > 0 && code < 0x80)) return undefined;
  return { text: String.fromCharCode(code), length: octal?.length ?? found?.[0].length ?? 0 };
}

// Detects the encoding of a text from its bytes, and encodes text in it again.

/** VS Code's names of the encodings. */
export type Encoding = 'utf8' | 'utf8bom' | 'utf16le' | 'utf16be' | 'windows1252';

/** How many bytes of a file are examined to tell text from binary data. */
const EXAMINED_BYTES = 8192;

const MARKS: readonly { readonly encoding: Encoding; readonly bytes: readonly number[] }[] = [
  { encoding: 'utf8bom', bytes: [0xef, 0xbb, 0xbf] },
  { encoding: 'utf16le', bytes: [0xff, 0xfe] },
  { encoding: 'utf16be', bytes: [0xfe, 0xff] },
];

const decoders = {
  utf8: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }),
  utf16le: new TextDecoder('utf-16le', { fatal: true, ignoreBOM: true }),
  utf16be: new TextDecoder('utf-16be', { fatal: true, ignoreBOM: true }),
  windows1252: new TextDecoder('windows-1252'),
};
const encoder = new TextEncoder();

export interface DecodedText {
  readonly text: string;
  readonly encoding: Encoding;
}

/** Undefined if the bytes are not text. A byte-order mark is not part of the text. */
export function decodeBytes(bytes: Uint8Array): DecodedText | undefined {
  const mark = MARKS.find(({ bytes: start }) => start.every((byte, index) => bytes[index] === byte));
  if (mark !== undefined) return decodeAs(mark.encoding, bytes);
  if (hasNul(bytes)) return undefined;
  return decodeAs('utf8', bytes) ?? (looksLikeWesternText(bytes) ? decodeAs('windows1252', bytes) : undefined);
}

/** Checks only the beginning, as editors do to detect binary data. */
export function hasNul(bytes: Uint8Array): boolean {
  return bytes.subarray(0, EXAMINED_BYTES).includes(0);
}

/** Undefined if the bytes are not valid in this encoding. */
export function decodeAs(encoding: Encoding, bytes: Uint8Array): DecodedText | undefined {
  const mark = MARKS.find((one) => one.encoding === encoding)?.bytes.length ?? 0;
  const family = encoding === 'utf8bom' ? 'utf8' : encoding;
  try {
    return { text: decoders[family].decode(bytes.subarray(mark)), encoding };
  } catch {
    return undefined;
  }
}

/** Undefined if the encoding lacks a character of the text; no encoding can represent lone surrogates. */
export function encodeText(text: string, encoding: Encoding): Uint8Array | undefined {
  if (/\p{Surrogate}/u.test(text)) return undefined;
  const mark = MARKS.find((one) => one.encoding === encoding)?.bytes ?? [];
  switch (encoding) {
    case 'utf8':
    case 'utf8bom':
      return marked(mark, encoder.encode(text));
    case 'utf16le':
    case 'utf16be':
      return marked(mark, utf16(text, encoding === 'utf16le'));
    case 'windows1252':
      return western(text);
  }
}

function marked(mark: readonly number[], bytes: Uint8Array): Uint8Array {
  if (mark.length === 0) return bytes;
  const whole = new Uint8Array(mark.length + bytes.length);
  whole.set(mark);
  whole.set(bytes, mark.length);
  return whole;
}

function utf16(text: string, little: boolean): Uint8Array {
  const bytes = new Uint8Array(text.length * 2);
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    bytes[index * 2 + (little ? 0 : 1)] = unit & 0xff;
    bytes[index * 2 + (little ? 1 : 0)] = unit >> 8;
  }
  return bytes;
}

/** Windows-1252 leaves these five bytes undefined, and programs disagree on how to decode them. */
const UNASSIGNED = new Set([0x81, 0x8d, 0x8f, 0x90, 0x9d]);
const CONTROLS_OF_TEXT = new Set([0x08, 0x09, 0x0a, 0x0c, 0x0d, 0x1b]);

function looksLikeWesternText(bytes: Uint8Array): boolean {
  return bytes.every((byte) => (byte < 0x20 ? CONTROLS_OF_TEXT.has(byte) : byte !== 0x7f && !UNASSIGNED.has(byte)));
}

let westernBytes: ReadonlyMap<string, number> | undefined;

function western(text: string): Uint8Array | undefined {
  westernBytes ??= new Map(
    Array.from({ length: 256 }, (_, byte) => [decoders.windows1252.decode(Uint8Array.of(byte)), byte] as const),
  );
  const bytes = new Uint8Array(text.length);
  for (let index = 0; index < text.length; index += 1) {
    const byte = westernBytes.get(text.charAt(index));
    if (byte === undefined || UNASSIGNED.has(byte)) return undefined;
    bytes[index] = byte;
  }
  return bytes;
}

export function sameBytes(one: Uint8Array | undefined, other: Uint8Array | undefined): boolean {
  if (one === undefined || other === undefined) return one === other;
  return one.length === other.length && one.every((byte, index) => byte === other[index]);
}

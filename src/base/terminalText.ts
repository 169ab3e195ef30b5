// Converts terminal output to plain text: without escape sequences, lines in their final state.

/** Escape sequences: titles, links, colours, cursor, erasing; also one cut off at the end of the text. */
const ESCAPES =
  /\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|\u001b[PX^_][^\u001b]*(?:\u001b\\)?|(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]?|\u001b[ -/]*[0-~]?/g;
/** Moves the cursor to the start of the line, as progress bars do instead of `\r`. */
const LINE_START = /\u001b\[[01]?G/g;
const OTHER_CONTROLS = /[\u0000-\u0007\u000b\u000c\u000e-\u001f\u007f]/g;
/** Longer incomplete sequences are treated as complete. */
const LONGEST_ESCAPE = 256;

/** Removes colours, titles and cursor moves only. */
export function withoutEscapes(text: string): string {
  return text.replace(ESCAPES, '');
}

/** Lines that were overwritten with `\r`, as by progress bars, appear in their final state. */
export function plainText(text: string): string {
  const plain = text.replace(LINE_START, '\r').replace(ESCAPES, '').replace(OTHER_CONTROLS, '');
  return /[\r\b]/.test(plain) ? plain.split('\n').map(lastState).join('\n') : plain;
}

function lastState(line: string): string {
  const text = line.split('\r').findLast((state) => state !== '') ?? '';
  if (!text.includes('\b')) return text;
  const left: string[] = [];
  for (const character of text) {
    if (character === '\b') left.pop();
    else left.push(character);
  }
  return left.join('');
}

/** Does the same as `plainText` for streamed text. */
export class PlainTextStream {
  #rest = '';

  take(piece: string): string {
    const text = this.#rest + piece;
    const escape = text.lastIndexOf('\u001b');
    const open = escape >= 0 && text.length - escape < LONGEST_ESCAPE && !isComplete(text.slice(escape));
    this.#rest = open ? text.slice(escape) : '';
    const plain = plainText(open ? text.slice(0, escape) : text);
    // The overwritten line was already shown: it stays, and the new text goes on a new line.
    return /^\r[^\n]/.test(text) ? `\n${plain}` : plain;
  }
}

function isComplete(escape: string): boolean {
  return /^\u001b(?:\][^\u0007]*\u0007|\\|\[[0-?]*[ -/]*[@-~]|[ -/]*[0-OQ-WYZ`-~])/.test(escape);
}

/** Decodes a slice of UTF-8; incomplete characters at its ends are dropped. */
export function decodePiece(bytes: Uint8Array): string {
  let start = 0;
  while (start < 3 && isContinuation(bytes[start])) start += 1;
  const rest = bytes.subarray(start);
  return new TextDecoder().decode(rest.subarray(0, wholeLength(rest)));
}

/** The length without an incomplete character or escape sequence at the end, whose rest is still to come. */
export function completeLength(bytes: Uint8Array): number {
  const length = wholeLength(bytes);
  const escape = bytes.subarray(0, length).lastIndexOf(0x1b);
  if (escape < 0 || length - escape > LONGEST_ESCAPE) return length;
  return isComplete(new TextDecoder().decode(bytes.subarray(escape, length))) ? length : escape;
}

function wholeLength(bytes: Uint8Array): number {
  let last = bytes.length - 1;
  while (bytes.length - last < 4 && isContinuation(bytes[last])) last -= 1;
  const first = bytes[last];
  if (first === undefined || first < 0xc0) return bytes.length;
  const length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  return last + length > bytes.length ? last : bytes.length;
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}

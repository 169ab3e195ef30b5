// Selects the part of a command's output for a result: all of it, or its beginning and end.
import { completeLength, decodePiece, plainText } from '../../base/terminalText.ts';
import { type Handle } from '../../core/ports/handles.ts';

/** Characters shown from the end; the result must stay below the limit of core/tools/run.ts. */
const TAIL = 20_000;
/** Bytes read for each shown character, since escape sequences are read but not shown. */
const BYTES_PER_CHARACTER = 4;
const PAGE_BYTES = 24_000;

export interface OutputPart {
  readonly text: string;
  /** Range of bytes that the text covers. */
  readonly from: number;
  readonly through: number;
  /** Part of the output was left out. */
  readonly cut: boolean;
  /** The contiguous pieces of the text, in whole lines. */
  readonly pieces: readonly string[];
}

/** Everything from this byte on; if it is too long, the middle is left out. */
export async function newOutput({ process }: Handle, since: number, head = 0): Promise<OutputPart> {
  const { size: printed, kept } = process.status;
  const from = Math.max(since, kept);
  const size = await completeEnd(process, from, printed);
  const most = (head + TAIL) * BYTES_PER_CHARACTER;
  if (size - from <= most) {
    const text = await readOutput(process, from, size);
    if (text.length <= head + TAIL) return { text, from: since, through: size, cut: from > since, pieces: [text] };
  }
  const begin = head === 0 ? '' : (await readOutput(process, from, from + head * BYTES_PER_CHARACTER)).slice(0, head);
  const end = lastLines(await readOutput(process, Math.max(from, size - TAIL * BYTES_PER_CHARACTER), size), TAIL);
  const gap = '… (left out here) …\n';
  const text = begin === '' ? end : `${begin}\n${gap}${end}`;
  // The last line of the beginning may be incomplete.
  const pieces = [begin.slice(0, begin.lastIndexOf('\n') + 1), end];
  return { text, from: since, through: size, cut: true, pieces };
}

/** One page of the output. */
export async function outputPage({ process }: Handle, from: number): Promise<OutputPart> {
  const read = await process.read(from, PAGE_BYTES);
  const length = read.from + read.bytes.length < process.status.size ? pageLength(read.bytes) : read.bytes.length;
  const text = plainText(decodePiece(read.bytes.subarray(0, length)));
  return { text, from: read.from, through: read.from + length, cut: read.from > from, pieces: [text] };
}

/** Cuts at a line end if possible, so that no escape sequence is split. */
function pageLength(bytes: Uint8Array): number {
  const line = bytes.lastIndexOf(0x0a);
  return line > 0 ? line + 1 : completeLength(bytes);
}

/** Drops an incomplete character at the end, unless the output is complete. */
async function completeEnd(process: Handle['process'], from: number, to: number): Promise<number> {
  const { status } = process;
  if (status.end !== undefined || status.lost === true) return to;
  const begin = Math.max(from, to - 300);
  const { bytes } = await process.read(begin, to - begin);
  return begin + completeLength(bytes);
}

async function readOutput(process: Handle['process'], from: number, to: number): Promise<string> {
  const { bytes } = await process.read(from, to - from);
  return plainText(decodePiece(bytes));
}

function lastLines(text: string, length: number): string {
  const cut = text.slice(-length);
  return cut.length === text.length ? cut : cut.slice(cut.indexOf('\n') + 1);
}

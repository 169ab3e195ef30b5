// Describes a file that an agent has read or written: the hash of its present bytes, and the lines that were shown.
import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import { resolve } from 'node:path';
import { constants } from 'node:fs';
import { defined } from '../../base/json/defined.ts';
import { linesShownIn } from '../../core/files/shownLines.ts';
import { platform } from '../../node/platform/platform.ts';
import type { ListenerRequestOf } from '../../protocol/outside/listener.ts';
import { type ToolFile } from './hookInput.ts';
import { type EditStates, statesAround } from './toolEdit.ts';

const LARGEST = 20 * 1024 * 1024;
const NEWLINE = 0x0a;
/** The number of lines that Claude's Read shows by default. */
const LINES_SHOWN = 2000;
/** Longer texts are not passed to the window. */
const LONGEST_TEXT = 1_000_000;

type SeenFields = Omit<ListenerRequestOf<'seen'>, 'type' | 'id'>;

/** One for each part that was shown. Empty: it is not a regular file, cannot be read, or is too large to be followed. */
export async function viewsOf(file: ToolFile, folder: string): Promise<readonly SeenFields[]> {
  const path = resolve(folder, file.path);
  try {
    // Opening a pipe must not block the agent.
    const handle = await open(path, constants.O_RDONLY | platform.disk.nonBlocking);
    try {
      const stat = await handle.stat();
      if (!stat.isFile() || stat.size > LARGEST) return [];
      const bytes = await handle.readFile();
      const hash = createHash('sha256').update(bytes).digest('hex');
      const states = statesOf(file, bytes);
      return shownParts(file, bytes).map((part) => ({
        path,
        hash,
        edited: file.edited,
        ...defined({ part }),
        ...states,
      }));
    } finally {
      await handle.close();
    }
  } catch {
    return [];
  }
}

/** The file before and after the edit, if it is text. */
function statesOf({ edit }: ToolFile, bytes: Uint8Array): EditStates {
  if (edit === undefined || bytes.length > LONGEST_TEXT) return {};
  try {
    const present = decode(bytes);
    const { before, after } = statesAround(edit, present);
    if ((before?.length ?? 0) > LONGEST_TEXT || (after?.length ?? 0) > LONGEST_TEXT) return {};
    return defined({ before, after });
  } catch {
    return {};
  }
}

/** Undefined: the whole file. */
function shownParts(file: ToolFile, bytes: Uint8Array): readonly SeenFields['part'][] {
  if (file.edited) return [undefined];
  if (file.printed === undefined) return [shownPart(file, bytes)];
  if (bytes.length > LONGEST_TEXT) return [];
  const lines = linesShownIn([file.printed], decode(bytes));
  if (lines === undefined || lines === 'whole') return lines === undefined ? [] : [undefined];
  const of = countLinesInBytes(bytes);
  return lines.ranges.map(([first, last]) => ({ first, last: Math.min(last, of), of }));
}

/** Throws if it is not text. */
function decode(bytes: Uint8Array): string {
  return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
}

function shownPart({ first = 1, lines = LINES_SHOWN }: ToolFile, bytes: Uint8Array): SeenFields['part'] {
  const of = countLinesInBytes(bytes);
  const last = Math.min(of, first + lines - 1);
  return first <= 1 && last >= of ? undefined : { first, last: Math.max(first, last), of };
}

function countLinesInBytes(bytes: Uint8Array): number {
  let count = 0;
  for (let at = bytes.indexOf(NEWLINE); at !== -1; at = bytes.indexOf(NEWLINE, at + 1)) count += 1;
  return bytes.length === 0 || bytes.at(-1) === NEWLINE ? count : count + 1;
}

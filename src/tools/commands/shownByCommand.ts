// Finds the files named in a command line that its output shows, whole or in part, by comparing texts.
import { isAbsolute } from 'node:path';
import { filesNamedIn, folderIn } from '../../core/consent/commandLine.ts';
import { linesShownIn } from '../../core/files/shownLines.ts';
import { type ShownFile } from '../../core/ports/fileViews.ts';
import { type ToolContext } from '../../core/ports/ports.ts';
import { type FilePath } from '../../core/ports/workspace.ts';
import { shownLinesOf } from '../searching/shownLines.ts';

const MOST_FILES = 30;
/** The lines that a search command shows of more files are not followed. */
const MOST_FOUND = 100;
const LARGEST_BYTES = 1_000_000;

type Context = Pick<ToolContext, 'workspace' | 'hides'>;

/** `folder`: the workspace folder that it ran in, if not in the first. `pieces`: the contiguous parts of the output that the model is shown. */
export async function shownByCommand(
  { command, folder: base }: { readonly command: string; readonly folder?: string | undefined },
  pieces: readonly string[],
  context: Context,
): Promise<readonly ShownFile[]> {
  if (pieces.every((piece) => piece.trim() === '')) return [];
  const shown = new Map<string, ShownFile>();
  for (const path of filesNamedIn(command).slice(0, MOST_FILES)) {
    const found = await readCandidate(inFolder(path, base), context);
    if (found === undefined || shown.has(found.file.path)) continue;
    const lines = linesShownIn(pieces, found.text);
    if (lines === undefined) continue;
    const { file, bytes } = found;
    shown.set(file.path, { file, bytes, ...(lines !== 'whole' && { part: lines }) });
  }
  if (!isSearch(command)) return [...shown.values()];
  const folder = folderIn(command);
  const named = [...new Set([...pathsInOutput(pieces), ...filesNamedIn(command).slice(0, MOST_FILES)])].slice(
    0,
    MOST_FOUND,
  );
  for (const name of named) {
    const path = inFolder(inFolder(name, folder), base);
    const found = (await readCandidate(path, context)) ?? (await readCandidate(inFolder(name, base), context));
    const lines = found && !shown.has(found.file.path) ? foundInFile(found, [name], pieces) : undefined;
    if (lines !== undefined) shown.set(lines.file.path, lines);
  }
  return [...shown.values()];
}

function inFolder(path: string, folder: string | undefined): string {
  return folder === undefined || isAbsolute(path) ? path : `${folder}/${path}`;
}

/** Undefined if the file is missing or must not be shown. */
async function readCandidate(
  path: string,
  { workspace, hides }: Context,
): Promise<{ readonly file: FilePath; readonly bytes: Uint8Array; readonly text: string } | undefined> {
  const resolved = await workspace.resolve(path);
  if (!resolved.ok) return undefined;
  const { path: name, real = name } = resolved.value;
  // Files outside the workspace are not watched.
  if (isAbsolute(name)) return undefined;
  if (hides(name) || hides(real)) return undefined;
  const content = await workspace.read(resolved.value, { atMost: LARGEST_BYTES });
  // A command reads from disk, not from buffers.
  if (!content.ok || content.value.unsaved) return undefined;
  const text = await workspace.decode(resolved.value, content.value.bytes);
  return text === undefined ? undefined : { file: resolved.value, bytes: content.value.bytes, text };
}

const SEARCHES = /(?:^|[;&|(]|\bxargs\b[^;&|]{0,200}|\bgit\b[^;&|]{0,200})\s*(?:\S{0,200}\/)?(?:[ef]?grep|rg|ag|ack)\b/;
const MOST_LINES = 2000;
const LONGEST_LINE = 2000;

/** A file that the command may have searched. */
interface SearchedFile extends Required<Pick<ShownFile, 'file' | 'bytes'>> {
  readonly text: string;
}

function isSearch(command: string): boolean {
  return SEARCHES.test(command.slice(0, 10_000));
}

/** The paths at the beginning of the lines of the output. */
function pathsInOutput(pieces: readonly string[]): readonly string[] {
  const paths = new Set<string>();
  for (const line of linesOf(pieces)) {
    const path = /^([^:\0]{1,500}):/.exec(line)?.[1] ?? /^(\S{1,500}?)-\d+-/.exec(line)?.[1];
    if (path !== undefined) paths.add(path);
  }
  return [...paths];
}

/** The lines of this file in the output, with or without the path and the line number. */
function foundInFile(found: SearchedFile, names: readonly string[], pieces: readonly string[]): ShownFile | undefined {
  const lines = found.text.split(/\r?\n/);
  const places = new Map<string, number | undefined>();
  for (const [index, line] of lines.entries()) places.set(line, places.has(line) ? undefined : index + 1);
  const numbers = linesOf(pieces).flatMap((line) => {
    const name = names.find((one) => line.startsWith(`${one}:`) || line.startsWith(`${one}-`));
    const rest = name === undefined ? line : line.slice(name.length + 1);
    const [, number, text = ''] = /^(\d{1,9})[:-](.*)$/.exec(rest) ?? [];
    if (number !== undefined && lines[Number(number) - 1] === text) return [Number(number)];
    // Without its number, a line is certain only if the file has it once.
    return rest.trim() === '' ? [] : (places.get(rest) ?? []);
  });
  return shownLinesOf(found, numbers);
}

function linesOf(pieces: readonly string[]): readonly string[] {
  const lines = pieces.flatMap((piece) => piece.split(/\r?\n/)).slice(0, MOST_LINES);
  return lines.filter((line) => line.length <= LONGEST_LINE);
}

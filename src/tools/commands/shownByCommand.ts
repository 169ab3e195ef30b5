// Finds the files named in a command line that its output shows, whole or in part, by comparing texts.
import { isAbsolute } from 'node:path';
import { filesNamedIn, folderIn } from '../../core/consent/commandLine.ts';
import { linesShownIn } from '../../core/files/shownLines.ts';
import { type ShownFile } from '../../core/ports/fileViews.ts';
import { type ToolContext } from '../../core/ports/ports.ts';
import { type FilePath } from '../../core/ports/workspace.ts';
import { foundInFile, isSearch, pathsInOutput } from './foundByCommand.ts';

const MOST_FILES = 30;
/** The lines that a search command shows of more files are not followed. */
const MOST_FOUND = 100;
const LARGEST_BYTES = 1_000_000;

type Context = Pick<ToolContext, 'workspace' | 'hides'>;

/** `pieces`: the contiguous parts of the output that the model is shown. */
export async function shownByCommand(
  command: string,
  pieces: readonly string[],
  context: Context,
): Promise<readonly ShownFile[]> {
  if (pieces.every((piece) => piece.trim() === '')) return [];
  const shown = new Map<string, ShownFile>();
  for (const path of filesNamedIn(command).slice(0, MOST_FILES)) {
    const found = await readCandidate(path, context);
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
    const path = folder === undefined || isAbsolute(name) ? name : `${folder}/${name}`;
    const found = (await readCandidate(path, context)) ?? (await readCandidate(name, context));
    const lines = found && !shown.has(found.file.path) ? foundInFile(found, [name], pieces) : undefined;
    if (lines !== undefined) shown.set(lines.file.path, lines);
  }
  return [...shown.values()];
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

// Finds which files of the workspace a command's output shows, whole or in part: those that its command line names, by comparing texts.
import { isAbsolute } from 'node:path';
import { pathsIn } from '../../core/consent/commandLine.ts';
import { linesShownIn } from '../../core/files/shownLines.ts';
import { type ShownFile } from '../../core/ports/fileViews.ts';
import { type ToolContext } from '../../core/ports/ports.ts';
import { type FilePath } from '../../core/ports/workspace.ts';

const MOST_FILES = 30;
const LARGEST_BYTES = 1_000_000;

type Context = Pick<ToolContext, 'workspace' | 'hides'>;

/** `pieces`: what the model is shown of the output; what was left out is between them. */
export async function shownByCommand(
  command: string,
  pieces: readonly string[],
  context: Context,
): Promise<readonly ShownFile[]> {
  if (pieces.every((piece) => piece.trim() === '')) return [];
  const shown = new Map<string, ShownFile>();
  for (const path of candidatesIn(command)) {
    const found = await readCandidate(path, context);
    if (found === undefined || shown.has(found.file.path)) continue;
    const lines = linesShownIn(pieces, found.text);
    if (lines === undefined) continue;
    const { file, bytes } = found;
    shown.set(file.path, { file, bytes, ...(lines !== 'whole' && { part: lines }) });
  }
  return [...shown.values()];
}

/** Words that may be paths; behind a `cd` those in its folder, and of `HEAD:src/a.ts` what git shows. */
function candidatesIn(command: string): readonly string[] {
  const words = pathsIn(command, 'bash').paths.flatMap((word) => {
    const revision = /^[\w./~^@{}-]+:(?!\/)(.+)$/.exec(word)?.[1];
    return revision === undefined ? [word] : [word, revision];
  });
  const folder = /(?:^|[;&|(]\s*)cd\s+(?:"([^"]+)"|'([^']+)'|([^\s;&|)]+))/.exec(command)?.slice(1).find(Boolean);
  const inFolder =
    folder === undefined ? [] : words.filter((word) => word !== folder).map((word) => `${folder}/${word}`);
  return [...new Set([...inFolder, ...words])].slice(0, MOST_FILES);
}

/** The one place where files are read for this. Undefined: there is none, or it is not to be shown or compared. */
async function readCandidate(
  path: string,
  { workspace, hides }: Context,
): Promise<{ readonly file: FilePath; readonly bytes: Uint8Array; readonly text: string } | undefined> {
  const resolved = await workspace.resolve(path);
  if (!resolved.ok) return undefined;
  const { path: name, real = name } = resolved.value;
  // What lies outside the workspace is not watched.
  if (isAbsolute(name)) return undefined;
  if (hides(name) || hides(real)) return undefined;
  const content = await workspace.read(resolved.value, { atMost: LARGEST_BYTES });
  // A command shows what is on disk.
  if (!content.ok || content.value.unsaved) return undefined;
  const text = await workspace.decode(resolved.value, content.value.bytes);
  return text === undefined ? undefined : { file: resolved.value, bytes: content.value.bytes, text };
}

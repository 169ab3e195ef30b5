// The tool list_files: lists a folder level by level, without folders such as node_modules.
import * as z from 'zod';
import { describeFailure } from '../../base/errors.ts';
import { type FilePath, type FolderEntry, type Workspace } from '../../core/ports/workspace.ts';
import { answer, defineTool, refuse } from '../defineTool.ts';

const MOST = 500;
const SKIPPED = new Set(['.git', 'node_modules', '.hg', '.svn', '__pycache__', '.venv']);

export const listFilesTool = defineTool({
  name: 'list_files',
  description:
    'Lists files and folders below a folder of the workspace, level by level, at most 500. Does not look into .git, node_modules and similar folders. A name in quotes is a JSON string, since it has unusual characters.',
  effect: 'read',
  arguments: {
    path: z.string().optional().describe('Folder relative to the workspace; default: the whole workspace'),
  },
  touches: ({ path }) => ({ paths: path === undefined ? [] : [path] }),
  run: async ({ path }, { workspace, signal }) => {
    if (workspace.folders.length === 0) return refuse('no_folder', 'No folder is open in the editor.');
    const start = path === undefined ? undefined : await workspace.resolve(path);
    if (start?.ok === false) return refuse(start.failure);
    const roots = start === undefined ? workspace.folders : [start.value];
    const found = await walk(workspace, roots, signal);
    if (!found.ok) return refuse('unreadable', found.reason);
    const { names, skipped, more } = found;
    const notes = [
      ...(names.length === 0 ? ['(empty)'] : names),
      ...(more ? [`(More than ${MOST}: list a folder below.)`] : []),
      ...(skipped.length > 0 ? [`(Not looked into: ${skipped.join(', ')})`] : []),
    ];
    return answer(notes.join('\n'));
  },
});

type Listing = { ok: true; names: string[]; skipped: string[]; more: boolean } | { ok: false; reason: string };

/** Breadth first, so that near entries are listed even if the list is cut. */
async function walk(workspace: Workspace, roots: readonly FilePath[], signal: AbortSignal): Promise<Listing> {
  const names: string[] = [];
  const skipped: string[] = [];
  const queue = [...roots];
  for (let folder = queue.shift(); folder !== undefined && !signal.aborted; folder = queue.shift()) {
    const entries = await workspace.list(folder);
    if (!entries.ok) {
      if (roots.includes(folder)) return { ok: false, reason: describeFailure(entries.failure) };
      skipped.push(printName(`${folder.path}/`));
      continue;
    }
    for (const entry of [...entries.value].sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const path = folder.path === '' ? entry.name : `${folder.path}/${entry.name}`;
      if (names.length >= MOST) return { ok: true, names, skipped, more: true };
      names.push(printEntry(path, entry.kind));
      if (entry.kind !== 'folder') continue;
      const below = SKIPPED.has(entry.name) ? undefined : await workspace.resolve(path);
      if (below?.ok === true) queue.push(below.value);
      else skipped.push(printName(`${path}/`));
    }
  }
  return { ok: true, names, skipped, more: false };
}

function printEntry(path: string, kind: FolderEntry['kind']): string {
  if (kind === 'folder') return printName(`${path}/`);
  // Links are listed but not followed, since they may form a cycle.
  return kind === 'link' ? `${printName(path)} (link)` : printName(path);
}

/** A name with a line break must not look like two names. */
function printName(path: string): string {
  return /^["\s]|\s$|\p{Cc}|[\u2028\u2029]/u.test(path) ? JSON.stringify(path) : path;
}

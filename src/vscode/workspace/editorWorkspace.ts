// The Workspace port, on any file system of VS Code. Unsaved buffers take precedence over the disk.
import * as vscode from 'vscode';
import { Sequence } from '../../base/async.ts';
import { failed, type Result, succeeded } from '../../base/errors.ts';
import { defined } from '../../base/json/defined.ts';
import { guardWorkspace } from '../../core/consent/door.ts';
import {
  type FileContent,
  type FilePath,
  type FilePlace,
  type FolderEntry,
  type Workspace,
  type WorkspaceDisk,
} from '../../core/ports/workspace.ts';
import { locate, readJudged, tooBig } from '../../node/files/readInside.ts';
import { bytesOf, decodeFile, documentOf, encodeFile } from './fileEncoding.ts';
import { attempt } from './fileFailures.ts';
import { resolveIn } from './filePaths.ts';
import { contentUri, foldersOf, onDiskOf, toFilePath, toUri } from './fileUris.ts';

/** VS Code does not pass larger files to extensions. */
const LONGEST = 50 * 1024 * 1024;

/** `workspaceFolders`: by default those of the window; tests pass others. */
export function createWorkspace(
  workspaceFolders: () => readonly vscode.WorkspaceFolder[] = () => vscode.workspace.workspaceFolders ?? [],
): Workspace {
  return guardWorkspace(createDisk(workspaceFolders));
}

function createDisk(workspaceFolders: () => readonly vscode.WorkspaceFolder[]): WorkspaceDisk {
  /** Serializes changes: the files that one change was checked against must not be changed by another. */
  const changes = new Sequence();
  return {
    get folders() {
      return foldersOf(workspaceFolders());
    },
    get trusted() {
      return vscode.workspace.isTrusted;
    },
    resolve: (path, options) => resolveIn(workspaceFolders(), path, options),
    readJudged: async (file, judge, { atMost = LONGEST, part } = {}) => {
      const buffer = async (content: vscode.Uri) => {
        const open = documentOf(content, toUri(file));
        return open?.isDirty === true ? { bytes: await bytesOf(open), unsaved: true } : undefined;
      };
      if (toUri(file).scheme === 'file') {
        const instead = (place: Pick<FilePlace, 'real'>) =>
          buffer(contentUri({ ...file, ...defined({ real: place.real }) }));
        return readJudged(onDiskOf(workspaceFolders()), file, { judge, atMost, part, instead });
      }
      const refused = await judge(placeOfVirtual(file, workspaceFolders()));
      if (refused !== undefined) return { ok: false, failure: refused };
      if (part !== undefined) return failed('not_regular', `${file.path} is not a regular file, so it is not read.`);
      const unsaved = await buffer(toUri(file));
      return unsaved === undefined ? readVirtual(file, atMost) : succeeded(unsaved);
    },
    unsaved: () =>
      vscode.workspace.textDocuments
        .filter((document) => document.isDirty)
        .flatMap(({ uri }) => toFilePath(uri, workspaceFolders()) ?? []),
    locate: async (file) =>
      toUri(file).scheme === 'file'
        ? locate(onDiskOf(workspaceFolders()), file)
        : succeeded(placeOfVirtual(file, workspaceFolders())),
    listUnjudged: (folder) =>
      attempt(folder, 'read', async () => {
        const entries = await vscode.workspace.fs.readDirectory(toUri(folder));
        return entries.map(([name, type]) => ({ name, kind: kindOf(type) }));
      }),
    decode: async (file, bytes) => (await decodeFile(contentUri(file), bytes))?.text,
    encode: async (file, text, like) => encodeFile(contentUri(file), text, like),
    apply: (edits, options) =>
      changes.run(async () => (await import('./fileEdits.ts')).applyEdits(edits, workspaceFolders(), options)),
  };
}

/** A virtual file system has no links out of it. */
function placeOfVirtual(file: FilePath, folders: readonly vscode.WorkspaceFolder[]): FilePlace {
  const inside = toFilePath(toUri(file), folders);
  return { path: inside?.path ?? file.absolute, outside: inside === undefined };
}

async function readVirtual(file: FilePath, atMost: number): Promise<Result<FileContent>> {
  const uri = toUri(file);
  const stat = await attempt(file, 'read', () => vscode.workspace.fs.stat(uri));
  if (!stat.ok) return stat;
  const { size, type } = stat.value;
  if ((type & vscode.FileType.Directory) !== 0)
    return failed('is_folder', `${file.path} is a folder.`, 'list_files shows what is in it.');
  if (size > atMost) return tooBig(file.path, size, atMost);
  return attempt(file, 'read', async () => ({ bytes: await vscode.workspace.fs.readFile(uri), unsaved: false }));
}

function kindOf(type: vscode.FileType): FolderEntry['kind'] {
  if ((type & vscode.FileType.SymbolicLink) !== 0) return 'link';
  if (type === vscode.FileType.Directory) return 'folder';
  return type === vscode.FileType.File ? 'file' : 'other';
}

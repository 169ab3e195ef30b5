// The editor's files behind the Workspace port: buffers with unsaved changes before the disk, any file system the editor has.
import * as vscode from 'vscode';
import { failed, type Result, succeeded } from '../base/errors.ts';
import { type AppliedEdit, type FilePath, type FolderEntry, type Workspace } from '../core/workspacePorts.ts';
import { bytesOf, decodeFile, documentOf, encodeFile } from './fileEncoding.ts';
import { attempt } from './fileFailures.ts';
import { resolveIn } from './filePaths.ts';
import { contentUri, foldersOf, toFilePath, toUri } from './fileUris.ts';

/** The editor itself keeps longer files from extensions. */
const LONGEST = 50 * 1024 * 1024;

/** `workspaceFolders`: those of the window, unless a test has others. */
export function createWorkspace(
  workspaceFolders: () => readonly vscode.WorkspaceFolder[] = () => vscode.workspace.workspaceFolders ?? [],
): Workspace {
  /** One change after the other: what one was looked at for, the next must not have changed meanwhile. */
  let changing: Promise<unknown> = Promise.resolve();
  return {
    get folders() {
      return foldersOf(workspaceFolders());
    },
    get trusted() {
      return vscode.workspace.isTrusted;
    },
    resolve: (path, options) => resolveIn(workspaceFolders(), path, options),
    async read(file) {
      const uri = contentUri(file);
      const open = documentOf(uri, toUri(file));
      if (open?.isDirty === true) return succeeded({ bytes: await bytesOf(open), unsaved: true });
      return readWhole(file, uri);
    },
    unsaved: () =>
      vscode.workspace.textDocuments
        .filter((document) => document.isDirty)
        .flatMap(({ uri }) => toFilePath(uri, workspaceFolders()) ?? []),
    list: (folder) =>
      attempt(folder, 'read', async () => {
        const entries = await vscode.workspace.fs.readDirectory(toUri(folder));
        return entries.map(([name, type]) => ({ name, kind: kindOf(type) }));
      }),
    decode: async (file, bytes) => (await decodeFile(contentUri(file), bytes))?.text,
    encode: async (file, text, like) => encodeFile(contentUri(file), text, like),
    apply: (edits, options) => {
      const run = async (): Promise<Result<readonly AppliedEdit[]>> =>
        (await import('./fileEdits.ts')).applyEdits(edits, workspaceFolders(), options);
      const applied = changing.then(run);
      changing = applied.catch(() => undefined);
      return applied;
    },
  };
}

async function readWhole(file: FilePath, uri: vscode.Uri): Promise<Result<{ bytes: Uint8Array; unsaved: boolean }>> {
  const stat = await attempt(file, 'read', () => vscode.workspace.fs.stat(uri));
  if (!stat.ok) return stat;
  if (stat.value.size > LONGEST) {
    const size = Math.round(stat.value.size / 1024 / 1024);
    return failed('too_big', `${file.path} is too big (${size} MB; at most 50).`, 'run_command can look into it.');
  }
  return attempt(file, 'read', async () => ({ bytes: await vscode.workspace.fs.readFile(uri), unsaved: false }));
}

function kindOf(type: vscode.FileType): FolderEntry['kind'] {
  if ((type & vscode.FileType.SymbolicLink) !== 0) return 'link';
  if (type === vscode.FileType.Directory) return 'folder';
  return type === vscode.FileType.File ? 'file' : 'other';
}

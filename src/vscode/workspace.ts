// The editor's files behind the Workspace port: buffers with unsaved changes before the disk, any file system the editor has.
import * as vscode from 'vscode';
import { describeError, failed, type Result, succeeded } from '../base/errors.ts';
import { type FilePath, type FolderEntry, type Workspace } from '../core/workspacePorts.ts';
import { resolveInside } from '../node/resolvePath.ts';

const encoder = new TextEncoder();

export function createWorkspace(): Workspace {
  return {
    get folders() {
      const folders = vscode.workspace.workspaceFolders ?? [];
      return folders.map((folder) => ({
        path: folders.length > 1 ? folder.name : '',
        absolute: absoluteOf(folder.uri),
      }));
    },
    get trusted() {
      return vscode.workspace.isTrusted;
    },
    async resolve(path, options) {
      const first = vscode.workspace.workspaceFolders?.[0];
      if (first === undefined || first.uri.scheme === 'file') return resolveInside(this.folders, path, options);
      return resolveVirtual(first, path);
    },
    async read(file) {
      const uri = toUri(file);
      const open = vscode.workspace.textDocuments.find((document) => document.uri.toString() === uri.toString());
      if (open?.isDirty === true) return succeeded({ bytes: encoder.encode(open.getText()), unsaved: true });
      return attempt(file, async () => ({ bytes: await vscode.workspace.fs.readFile(uri), unsaved: false }));
    },
    list: (folder) =>
      attempt(folder, async () => {
        const entries = await vscode.workspace.fs.readDirectory(toUri(folder));
        return entries.map(([name, type]) => ({ name, kind: kindOf(type) }));
      }),
  };
}

/** A virtual file system has no links that lead out of it. */
function resolveVirtual(folder: vscode.WorkspaceFolder, path: string): Result<FilePath> {
  const uri = vscode.Uri.joinPath(folder.uri, path);
  if (uri.path !== folder.uri.path && !uri.path.startsWith(`${folder.uri.path.replace(/\/$/, '')}/`)) {
    return failed('outside', `${path} is outside the workspace.`);
  }
  return succeeded({ path: vscode.workspace.asRelativePath(uri, false), absolute: uri.toString() });
}

function absoluteOf(uri: vscode.Uri): string {
  return uri.scheme === 'file' ? uri.fsPath : uri.toString();
}

export function toUri(file: FilePath): vscode.Uri {
  return /^[a-z][a-z0-9+.-]+:\/\//i.test(file.absolute)
    ? vscode.Uri.parse(file.absolute, true)
    : vscode.Uri.file(file.absolute);
}

function kindOf(type: vscode.FileType): FolderEntry['kind'] {
  if ((type & vscode.FileType.SymbolicLink) !== 0) return 'link';
  if (type === vscode.FileType.Directory) return 'folder';
  return type === vscode.FileType.File ? 'file' : 'other';
}

async function attempt<T>(file: FilePath, action: () => Promise<T>): Promise<Result<T>> {
  try {
    return succeeded(await action());
  } catch (error) {
    const name = file.path === '' ? 'The folder' : file.path;
    switch (error instanceof vscode.FileSystemError ? error.code : '') {
      case 'FileNotFound':
        return failed('not_found', `${name} does not exist.`, 'list_files shows what is there.');
      case 'FileIsADirectory':
        return failed('is_folder', `${name} is a folder.`, 'list_files shows what is in it.');
      case 'FileNotADirectory':
        return failed('is_file', `${name} is not a folder.`);
      case 'NoPermissions':
        return failed('no_rights', `${name} may not be read: the rights are missing.`);
      default:
        return failed('unreadable', `${name} cannot be read: ${describeError(error)}.`);
    }
  }
}

// Maps paths of the workspace to URIs of VS Code and back.
import * as vscode from 'vscode';
import { type FilePath } from '../../core/ports/workspace.ts';

/** The URI of a file that is not on the local disk. A single letter before the colon is a drive, not a scheme. */
export const ADDRESS = /^[a-z][a-z0-9+.-]+:\//i;

export function absoluteOf(uri: vscode.Uri): string {
  return uri.scheme === 'file' ? uri.fsPath : uri.toString();
}

/** The file itself, even if it is a link: for moving and deleting. */
export function toUri(file: FilePath): vscode.Uri {
  return ADDRESS.test(file.absolute) ? vscode.Uri.parse(file.absolute, true) : vscode.Uri.file(file.absolute);
}

/** The file that a link leads to: two names of one file share one buffer. */
export function contentUri(file: FilePath): vscode.Uri {
  return (file.real === undefined ? undefined : uriOf(file.real)) ?? toUri(file);
}

/** Below the folder as VS Code has it open, which may itself be a link. */
function uriOf(path: string): vscode.Uri | undefined {
  const folders = vscode.workspace.workspaceFolders ?? [];
  const named = foldersOf(folders);
  const index = named.findIndex((folder) => folder.path === '' || path.startsWith(`${folder.path}/`));
  const folder = folders[index];
  return folder && vscode.Uri.joinPath(folder.uri, path.slice((named[index]?.path ?? '').length));
}

/** With several folders each path begins with the folder's name; a second folder of the same name gets a number. */
export function foldersOf(folders: readonly vscode.WorkspaceFolder[]): FilePath[] {
  const taken = new Map<string, number>();
  return folders.map(({ name, uri }) => {
    const times = (taken.get(name) ?? 0) + 1;
    taken.set(name, times);
    const path = times === 1 ? name : `${name}~${times}`;
    return { path: folders.length > 1 ? path : '', absolute: absoluteOf(uri) };
  });
}

/** The folders on the local disk, with the names that they have among all folders. */
export function onDiskOf(folders: readonly vscode.WorkspaceFolder[]): FilePath[] {
  return foldersOf(folders).filter((_, index) => folders[index]?.uri.scheme === 'file');
}

/** Undefined if it is in none of the folders. The innermost folder wins. */
export function toFilePath(
  uri: vscode.Uri,
  folders: readonly vscode.WorkspaceFolder[] = vscode.workspace.workspaceFolders ?? [],
): FilePath | undefined {
  const paths = foldersOf(folders).flatMap(({ path }, index) => {
    const inner = innerPath(folders[index]?.uri, uri);
    return inner === undefined ? [] : [{ inner, path: [path, inner].filter((part) => part !== '').join('/') }];
  });
  const [nearest] = paths.sort((a, b) => a.inner.length - b.inner.length);
  return nearest && { path: nearest.path, absolute: absoluteOf(uri) };
}

function innerPath(folder: vscode.Uri | undefined, uri: vscode.Uri): string | undefined {
  if (folder?.scheme !== uri.scheme || folder.authority !== uri.authority) return undefined;
  if (uri.path === folder.path) return '';
  const prefix = `${folder.path.replace(/\/$/, '')}/`;
  return uri.path.startsWith(prefix) ? uri.path.slice(prefix.length).replace(/\/$/, '') : undefined;
}

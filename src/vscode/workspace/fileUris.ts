// Decides which of the editor's resources a path of the workspace is.
import * as vscode from 'vscode';
import { type FilePath } from '../../core/ports/workspace.ts';

/** How the machine says a file that is not on its own disk; a letter and a colon is a drive. */
export const ADDRESS = /^[a-z][a-z0-9+.-]+:\//i;

export function absoluteOf(uri: vscode.Uri): string {
  return uri.scheme === 'file' ? uri.fsPath : uri.toString();
}

/** The file itself, also where it is a link: what is moved or deleted. */
export function toUri(file: FilePath): vscode.Uri {
  return ADDRESS.test(file.absolute) ? vscode.Uri.parse(file.absolute, true) : vscode.Uri.file(file.absolute);
}

/** Where its content is: two names of one file have one buffer. */
export function contentUri(file: FilePath): vscode.Uri {
  return (file.real === undefined ? undefined : uriOf(file.real)) ?? toUri(file);
}

/** By the name of its folder, as the editor has it open, which may itself be a link. */
function uriOf(path: string): vscode.Uri | undefined {
  const folders = vscode.workspace.workspaceFolders ?? [];
  const named = foldersOf(folders);
  const index = named.findIndex((folder) => folder.path === '' || path.startsWith(`${folder.path}/`));
  const folder = folders[index];
  return folder && vscode.Uri.joinPath(folder.uri, path.slice((named[index]?.path ?? '').length));
}

/** With several folders each path begins with a folder's name; of two with one name the second is told apart. */
export function foldersOf(folders: readonly vscode.WorkspaceFolder[]): FilePath[] {
  const taken = new Map<string, number>();
  return folders.map(({ name, uri }) => {
    const times = (taken.get(name) ?? 0) + 1;
    taken.set(name, times);
    const path = times === 1 ? name : `${name}~${times}`;
    return { path: folders.length > 1 ? path : '', absolute: absoluteOf(uri) };
  });
}

/** Those on the machine's own disk; each keeps the name that it has among all. */
export function onDiskOf(folders: readonly vscode.WorkspaceFolder[]): FilePath[] {
  return foldersOf(folders).filter((_, index) => folders[index]?.uri.scheme === 'file');
}

/** Undefined for what is in none of the folders. A folder inside another comes before it. */
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

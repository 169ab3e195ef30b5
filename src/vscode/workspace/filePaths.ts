// Resolves paths in the workspace: relative to its folder, or starting with the folder's name if there are several.
import * as vscode from 'vscode';
import { failed, type Result, succeeded } from '../../base/errors.ts';
import { type FilePath } from '../../core/ports/workspace.ts';
import { resolveInside } from '../../node/files/resolvePath.ts';
import { ADDRESS, foldersOf, onDiskOf, toFilePath } from './fileUris.ts';

export async function resolveIn(
  folders: readonly vscode.WorkspaceFolder[],
  path: string,
  options?: { readonly anywhere?: boolean },
): Promise<Result<FilePath>> {
  const named = foldersOf(folders);
  const isVirtual = (index: number) => folders[index]?.uri.scheme !== 'file';
  const address = asAddress(path);
  if (address !== undefined) {
    const file = toFilePath(address, folders);
    return file === undefined ? outside(path) : succeeded(file);
  }
  const [first = '', ...rest] = path.split('/');
  const chosen = named.length > 1 ? named.findIndex((folder) => folder.path === first) : -1;
  const folder = folders[Math.max(chosen, 0)];
  if (folder !== undefined && isVirtual(Math.max(chosen, 0))) {
    // A virtual file system has no links out of it.
    const file = toFilePath(vscode.Uri.joinPath(folder.uri, chosen === -1 ? path : rest.join('/')), folders);
    return file === undefined ? outside(path) : succeeded(file);
  }
  return resolveInside(onDiskOf(folders), path, options);
}

/** A URI in a virtual file system. A single letter before the colon is a drive, not a scheme. */
function asAddress(path: string): vscode.Uri | undefined {
  const address = ADDRESS.test(path) ? vscode.Uri.parse(path) : undefined;
  return address?.scheme === 'file' ? undefined : address;
}

function outside(path: string): Result<FilePath> {
  return failed('outside', `${path} is outside the workspace.`);
}

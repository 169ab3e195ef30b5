// Decides whether a file may be written at all, before anything is changed: file systems, rights, and what the user has set to read-only.
import { access, constants, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import * as vscode from 'vscode';
import { failed } from '../../base/errors.ts';
import { compileGlob } from '../../core/files/globs.ts';
import { type FilePath } from '../../core/ports/workspace.ts';
import { type Refused } from './fileFailures.ts';

const NO_WRITER = 0o222;

/** `there`: it exists. A file that is made, moved or deleted changes its folder. */
export async function whyReadOnly(
  file: FilePath,
  uri: vscode.Uri,
  { there, folder }: { readonly there: boolean; readonly folder: boolean },
): Promise<Refused | undefined> {
  if (vscode.workspace.fs.isWritableFileSystem(uri.scheme) === false) {
    return failed('read_only', `${file.path} cannot be changed: its file system is read-only.`);
  }
  if (there && ((await isMarkedReadOnly(uri)) || isSetReadOnly(uri))) {
    return failed('read_only', `${file.path} is read-only.`, 'The user can make it writable.');
  }
  if (uri.scheme !== 'file') return undefined;
  const places = [...(there ? [uri.fsPath] : []), ...(folder ? [await nearestFolder(uri.fsPath)] : [])];
  for (const place of places) {
    if (await mayWrite(place)) continue;
    const what = place === uri.fsPath ? file.path : `The folder of ${file.path}`;
    return failed('no_rights', `${what} may not be written: the rights are missing.`, 'The user can grant them.');
  }
  return undefined;
}

async function isMarkedReadOnly(uri: vscode.Uri): Promise<boolean> {
  try {
    const { permissions = 0 } = await vscode.workspace.fs.stat(uri);
    return (permissions & vscode.FilePermission.Readonly) !== 0;
  } catch {
    return false;
  }
}

/** `files.readonlyInclude`: the editor lets an extension change such a buffer and then does not save it. */
function isSetReadOnly(uri: vscode.Uri): boolean {
  const settings = vscode.workspace.getConfiguration('files', uri);
  const path = vscode.workspace.asRelativePath(uri, false);
  const matches = (name: string) =>
    Object.entries(settings.get<Record<string, boolean>>(name) ?? {}).some(
      ([glob, on]) => on && compileGlob(glob)(path),
    );
  return matches('readonlyInclude') && !matches('readonlyExclude');
}

/** Whoever may do everything is still held to a file that nobody is to write. */
async function mayWrite(path: string): Promise<boolean> {
  try {
    await access(path, constants.W_OK);
    return ((await stat(path)).mode & NO_WRITER) !== 0 || process.platform === 'win32';
  } catch {
    return false;
  }
}

async function nearestFolder(path: string): Promise<string> {
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    try {
      await access(folder);
      return folder;
    } catch {
      if (dirname(folder) === folder) return folder;
    }
  }
}

// Checks before a change whether a file can be written: file system, permissions, and the user's read-only settings.
import { access, constants, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import * as vscode from 'vscode';
import { failed } from '../../base/errors.ts';
import { compileGlob } from '../../core/files/globs.ts';
import { type FilePath } from '../../core/ports/workspace.ts';
import { anySetting, userSetting } from '../configuration.ts';
import { type Refused } from './fileFailures.ts';

const WRITE_BITS = 0o222;

/** `there`: the file exists. `folder`: its folder is changed, too, as by creating, moving or deleting the file. */
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
    return failed('no_rights', `${what} cannot be written: permission denied.`, 'The user can grant the permission.');
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

/**
 * `files.readonlyInclude`: VS Code lets an extension change such a buffer, but does not save it. A workspace can add
 * read-only files, but cannot make the user's writable.
 */
function isSetReadOnly(uri: vscode.Uri): boolean {
  const path = vscode.workspace.asRelativePath(uri, false);
  const matches = (globs: unknown) =>
    Object.entries(globs ?? {}).some(([glob, on]) => on === true && compileGlob(glob)(path));
  const ofUser =
    matches(userSetting('files.readonlyInclude', uri)) && !matches(userSetting('files.readonlyExclude', uri));
  return (
    ofUser || (matches(anySetting('files.readonlyInclude', uri)) && !matches(anySetting('files.readonlyExclude', uri)))
  );
}

/** Root can write everything, so a file without any write permission counts as read-only too. */
async function mayWrite(path: string): Promise<boolean> {
  try {
    await access(path, constants.W_OK);
    return ((await stat(path)).mode & WRITE_BITS) !== 0 || process.platform === 'win32';
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

// Applies changes of files together: checks all before making any, and rolls back the earlier ones if one fails.
import * as vscode from 'vscode';
import { failed, type Result, succeeded } from '../../base/errors.ts';
import {
  type AppliedEdit,
  type ApplyOptions,
  EXISTS,
  type FileEdit,
  type FilePath,
  STALE,
} from '../../core/ports/workspace.ts';
import { documentOf } from './fileEncoding.ts';
import { haveSameBytes } from '../../node/files/pinnedChanges.ts';
import { attempt, type Refused } from './fileFailures.ts';
import { guardPlaces, type PlaceGuard } from './filePlaces.ts';
import { deleteStep, type FileStep, moveStep, presentBytes, writeStep } from './fileSteps.ts';
import { contentUri, toUri } from './fileUris.ts';
import { access, constants, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { compileGlob } from '../../core/files/globs.ts';
import { platform } from '../../node/platform/platform.ts';
import { anySetting, userSetting } from '../configuration.ts';

/** `folders`: the folders of the workspace. */
export async function applyEdits(
  edits: readonly FileEdit[],
  folders: readonly vscode.WorkspaceFolder[],
  options: ApplyOptions = {},
): Promise<Result<readonly AppliedEdit[]>> {
  if (!vscode.workspace.isTrusted) {
    return failed(
      'untrusted',
      'The workspace is not trusted, so its files cannot be changed.',
      'The user can trust it.',
    );
  }
  const guards = new Map<FileEdit, PlaceGuard>();
  for (const edit of edits) {
    const guard = await guardPlaces(edit, folders);
    if (!guard.ok) return guard;
    guards.set(edit, guard.value);
  }
  const refused = await checkEdits(edits);
  if (refused !== undefined) return refused;
  const applied: AppliedEdit[] = [];
  const done: FileStep[] = [];
  for (const [edit, guard] of guards) {
    const step = await stepOf(edit, guard, options);
    const result = await step.run();
    if (!result.ok) return rollBack(done, applied, result);
    done.push(step);
    applied.push(...result.value);
  }
  return succeeded(applied);
}

/** Why the edits cannot all be made. Changes nothing. */
async function checkEdits(edits: readonly FileEdit[]): Promise<Refused | undefined> {
  /** The content of each file after the earlier edits. */
  const planned = new Map<string, Uint8Array | undefined>();
  for (const edit of edits) {
    const uri = contentUri(edit.file);
    const key = uri.toString();
    if (planned.has(key) ? edit.type !== 'move' || !haveSameBytes(planned.get(key), edit.from) : false) {
      return failed('twice', `${edit.file.path} is changed twice.`, 'Combine the changes into one.');
    }
    const refused = planned.has(key) ? undefined : await whyNot(edit, uri);
    if (refused !== undefined) return refused;
    if (edit.type === 'move') {
      const target = await whyNoTarget(edit.file, edit.to);
      if (target !== undefined) return target;
    }
    planned.set(key, edit.type === 'write' ? edit.to : undefined);
  }
  return undefined;
}

async function whyNot(edit: FileEdit, uri: vscode.Uri): Promise<Refused | undefined> {
  const { file, from } = edit;
  const present = await readPresent(file, uri);
  if (!present.ok) return present;
  if (!haveSameBytes(present.value, from)) return staleFailure(file, present.value, from);
  if (vscode.workspace.notebookDocuments.some((one) => one.isDirty && one.uri.toString() === uri.toString())) {
    return failed('unsaved', `${file.path} has unsaved changes in a notebook editor.`, 'The user can save them first.');
  }
  const dirty = documentOf(uri, toUri(file))?.isDirty === true;
  if (edit.type === 'delete' && dirty) {
    return failed(
      'unsaved',
      `${file.path} has unsaved changes in the editor.`,
      'The user can save or discard them first.',
    );
  }
  const folder = edit.type !== 'write' || from === undefined;
  return whyReadOnly(file, folder ? toUri(file) : uri, { there: from !== undefined, folder });
}

async function whyNoTarget(file: FilePath, to: FilePath): Promise<Refused | undefined> {
  const target = toUri(to);
  if (await exists(target)) {
    // On a case-insensitive file system another spelling is the same file.
    const same = to.path.toLowerCase() === file.path.toLowerCase();
    if (!same) return failed(EXISTS, `${to.path} already exists.`, 'Choose another name, or delete it first.');
  }
  return whyReadOnly(to, target, { there: false, folder: true });
}

async function readPresent(file: FilePath, uri: vscode.Uri): Promise<Result<Uint8Array | undefined>> {
  const open = documentOf(uri, toUri(file));
  if (open?.isDirty === true) return succeeded(await presentBytes(open.uri));
  if (!(await exists(uri))) return succeeded(undefined);
  return attempt(file, 'read', () => vscode.workspace.fs.readFile(uri));
}

async function exists(uri: vscode.Uri): Promise<boolean> {
  try {
    await vscode.workspace.fs.stat(uri);
    return true;
  } catch {
    return false;
  }
}

function staleFailure(file: FilePath, present: Uint8Array | undefined, from: Uint8Array | undefined): Refused {
  if (present === undefined) return failed(STALE, `${file.path} no longer exists.`);
  if (from === undefined) return failed(STALE, `${file.path} exists now.`, 'Read it first.');
  return failed(STALE, `${file.path} has changed.`, 'Read it again.');
}

async function stepOf(edit: FileEdit, guard: PlaceGuard, options: ApplyOptions): Promise<FileStep> {
  switch (edit.type) {
    case 'write': {
      const uri = contentUri(edit.file);
      return writeStep(edit, documentOf(uri, toUri(edit.file))?.uri ?? uri, guard, options);
    }
    case 'move':
      return moveStep(edit, toUri(edit.file), toUri(edit.to), guard);
    case 'delete':
      return deleteStep(edit, toUri(edit.file), guard);
  }
}

async function rollBack(done: readonly FileStep[], applied: readonly AppliedEdit[], result: Refused): Promise<Refused> {
  const undone = [];
  for (const step of [...done].reverse()) undone.push(await step.undo());
  if (!undone.includes(false)) return result;
  const names = [...new Set(applied.map(({ file }) => file.path))].join(', ');
  const { code, message } = result.failure;
  return failed(code, `${message} Not all changes could be rolled back.`, `Check ${names} before you continue.`);
}

const WRITE_BITS = 0o222;

/** `there`: the file exists. `folder`: its folder is changed, too, as by creating, moving or deleting the file. */
async function whyReadOnly(
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
    return ((await stat(path)).mode & WRITE_BITS) !== 0 || !platform.disk.hasModes;
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

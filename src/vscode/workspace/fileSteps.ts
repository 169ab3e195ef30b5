// Steps that change one file, each with its undo: edit in the buffer, write bytes, move, delete.
import * as vscode from 'vscode';
import { type Failure, failed, type Result, succeeded } from '../../base/errors.ts';
import {
  type AppliedEdit,
  type ApplyOptions,
  type FileEdit,
  type FilePath,
  STALE,
} from '../../core/ports/workspace.ts';
import { deletePinned, identityAt, modeBefore, readPinned, writePinned } from '../../node/files/pinnedChanges.ts';
import { MOVED } from '../../node/files/pinnedPlace.ts';
import { type BufferEdit, editBuffer, hasOneLineEnding, hasText, replaceText, saveBuffer } from './bufferEdits.ts';
import { bytesOf, configuredEncoding, decodeFile, documentOf } from './fileEncoding.ts';
import { haveSameBytes } from '../../node/files/pinnedChanges.ts';
import { attempt, type Refused } from './fileFailures.ts';
import { type PlaceGuard } from './filePlaces.ts';
import { saveAsOwn } from './ownSaves.ts';

/** A change that can be made now. If `run` fails, nothing was changed. */
export interface FileStep {
  run(): Promise<Result<readonly AppliedEdit[]>>;
  /** Call only after `run` succeeded. Resolves to whether the former state is restored. */
  undo(): Promise<boolean>;
}

/** The editor needs seconds to open longer texts, and does not format them. */
const LONGEST_BUFFER = 4 * 1024 * 1024;

type Write = Extract<FileEdit, { type: 'write' }>;
type Move = Extract<FileEdit, { type: 'move' }>;
type Delete = Extract<FileEdit, { type: 'delete' }>;

export async function writeStep(
  edit: Write,
  uri: vscode.Uri,
  guard: PlaceGuard,
  options: ApplyOptions,
): Promise<FileStep> {
  const { from, to } = edit;
  const isDirty = documentOf(uri)?.isDirty === true;
  const direct = options.exact === true || Math.max(to.length, from?.length ?? 0) > LONGEST_BUFFER;
  if (isDirty || !direct) {
    const now = await decodeFile(uri, to);
    const before = from === undefined ? undefined : await decodeFile(uri, from);
    const fits = now !== undefined && hasOneLineEnding(now.text);
    const asNew = now?.encoding === configuredEncoding(uri);
    if (fits && asNew && from === undefined)
      return createStep({ file: edit.file, uri, text: now.text, guard }, options);
    if (fits && before?.encoding === now.encoding && hasOneLineEnding(before.text)) {
      const document = await openAs(uri, before.encoding);
      if (document !== undefined && (await hasText(document, before.text)))
        return bufferStep({ file: edit.file, document, before: before.text, after: now.text }, edit, guard, options);
    }
  }
  return bytesStep(edit, uri, guard);
}

/** Undefined if the editor cannot open it as text: too long, or open in another encoding. */
async function openAs(uri: vscode.Uri, encoding: string): Promise<vscode.TextDocument | undefined> {
  const open = documentOf(uri);
  if (open?.isDirty === true) return open;
  try {
    return await vscode.workspace.openTextDocument(uri, { encoding });
  } catch {
    return undefined;
  }
}

function bufferStep(buffer: BufferEdit, { from }: Write, guard: PlaceGuard, { save = true }: ApplyOptions): FileStep {
  const { file, document } = buffer;
  const keepsUnsaved = document.isDirty || !save;
  const undo = async () => {
    const back = await replaceText(document, buffer.before);
    if (keepsUnsaved) return back;
    // Saving may run a formatter again, so the bytes are written last.
    const saved = isDone(await guard.around(() => saveAsOwn(document)));
    return saved && from !== undefined && (await putBytes(guard, document.uri, from));
  };
  const change = async (again: boolean): Promise<Result<readonly AppliedEdit[]>> => {
    const refused = await editBuffer(buffer);
    if (refused !== undefined) return refused;
    const before = from === undefined ? {} : { before: from };
    if (keepsUnsaved) return succeeded([{ file, ...before, after: await bytesOf(document), unsaved: true }]);
    const saved = await saveAt(guard, file, document, from);
    if (saved.ok) return succeeded([{ file, ...before, after: saved.value, unsaved: false }]);
    const isUndone = await undo();
    // The editor refuses to save over a file that is newer than its record of it, even if it has already read that
    // text. The undo saved the former text and so updated the record: a second attempt can succeed.
    if (!isUndone && saved.failure.code === MOVED) return leftUnsaved(saved.failure);
    return isUndone && again && saved.failure.code === 'not_saved' ? change(false) : saved;
  };
  return { undo, run: () => change(true) };
}

/** The buffer has its former text again, but the editor could not save it. */
function leftUnsaved({ code, message, nextStep }: Failure): Refused {
  return failed(code, `${message} Its former text is in the editor, not saved.`, nextStep);
}

interface NewFile {
  readonly file: FilePath;
  readonly uri: vscode.Uri;
  readonly text: string;
  readonly guard: PlaceGuard;
}

function createStep({ file, uri, text, guard }: NewFile, { save = true }: ApplyOptions): FileStep {
  const undo = async () => isDone(await guard.around(() => removeFile(uri))) || removeMade(guard);
  return {
    undo,
    run: async () => {
      const made = await makeEmpty(guard, file, uri);
      if (!made.ok) return made;
      const opened = await attempt(file, 'read', () => vscode.workspace.openTextDocument(uri));
      if (!opened.ok) {
        await undo();
        return opened;
      }
      const document = opened.value;
      const filled = await editBuffer({ file, document, before: '', after: text });
      if (filled !== undefined) {
        await undo();
        return filled;
      }
      if (!save && document.isDirty) return succeeded([{ file, after: await bytesOf(document), unsaved: true }]);
      const saved = await saveAt(guard, file, document, new Uint8Array());
      if (saved.ok) return succeeded([{ file, after: saved.value, unsaved: false }]);
      await undo();
      return saved;
    },
  };
}

/** For files that the editor cannot open as text unchanged: binary, mixed line endings, very long files. */
function bytesStep({ file, from, to }: Write, uri: vscode.Uri, guard: PlaceGuard): FileStep {
  const undo = async () =>
    from === undefined ? isDone(await guard.around(() => removeFile(uri))) : putBytes(guard, uri, from);
  return {
    undo,
    run: async () => {
      const [place] = guard.places;
      const written =
        place === undefined ? await writeVirtual(file, uri, from, to) : await writePinned(place, from, to);
      return written.ok ? succeeded([{ file, ...(from && { before: from }), after: to, unsaved: false }]) : written;
    },
  };
}

async function writeVirtual(
  file: FilePath,
  uri: vscode.Uri,
  from: Uint8Array | undefined,
  to: Uint8Array,
): Promise<Result<void>> {
  if (!haveSameBytes(await readBytes(uri), from))
    return failed(STALE, `${file.path} was changed at the same moment.`, 'Read it again.');
  const written = await attempt(file, 'written', () => vscode.workspace.fs.writeFile(uri, to));
  if (!written.ok && from !== undefined) await attempt(file, 'written', () => vscode.workspace.fs.writeFile(uri, from));
  return written;
}

/** For a new file whose path leads elsewhere now. */
async function removeMade({ places: [place] }: PlaceGuard): Promise<boolean> {
  const present = place && (await readPinned(place));
  return place !== undefined && present !== undefined && (await deletePinned(place, present)).ok;
}

/** On the local disk, made in its opened folder: the editor would follow a link that has just appeared. */
async function makeEmpty(guard: PlaceGuard, file: FilePath, uri: vscode.Uri): Promise<Result<void>> {
  const [place] = guard.places;
  if (place !== undefined) return writePinned(place, undefined, new Uint8Array());
  const edit = new vscode.WorkspaceEdit();
  edit.createFile(uri, { overwrite: false, ignoreIfExists: false });
  return (await vscode.workspace.applyEdit(edit))
    ? succeeded(undefined)
    : failed('refused', `The editor did not create ${file.path}.`);
}

export function moveStep(edit: Move, uri: vscode.Uri, target: vscode.Uri, guard: PlaceGuard): FileStep {
  const rename = async (from: vscode.Uri, to: vscode.Uri) => {
    const edits = new vscode.WorkspaceEdit();
    edits.renameFile(from, to, { overwrite: false, ignoreIfExists: false });
    const places = from === uri ? guard.places : guard.places.toReversed();
    const [source, goal] = places;
    const identity = source && (await identityAt(source));
    const isMoved = async (done: boolean) =>
      !done || source === undefined || goal === undefined || (await identityAt(goal)) === identity;
    return guard.around(() => vscode.workspace.applyEdit(edits), isMoved);
  };
  return {
    undo: async () => isDone(await rename(target, uri)),
    run: async () => {
      const mode = await modeBefore(guard.places[0]);
      const moved = await rename(uri, target);
      if (!moved.ok) return moved;
      if (!moved.value) return failed('refused', `The editor did not move ${edit.file.path}.`);
      const open = documentOf(target);
      const [, goal] = guard.places;
      const unsaved = open?.isDirty === true;
      const after =
        unsaved || goal === undefined ? await presentBytes(target) : ((await readPinned(goal)) ?? edit.from);
      return succeeded([
        { file: edit.file, before: edit.from, ...mode, unsaved: false },
        { file: edit.to, ...(after && { after }), unsaved },
      ]);
    },
  };
}

export function deleteStep({ file, from }: Delete, uri: vscode.Uri, guard: PlaceGuard): FileStep {
  return {
    undo: () => putBytes(guard, uri, from),
    run: async () => {
      const edit = new vscode.WorkspaceEdit();
      edit.deleteFile(uri, { recursive: false, ignoreIfNotExists: false });
      const [place] = guard.places;
      const isGone = async (done: boolean) => !done || place === undefined || (await identityAt(place)) === undefined;
      const mode = await modeBefore(place);
      const deleted = await guard.around(() => vscode.workspace.applyEdit(edit), isGone);
      if (!deleted.ok) return deleted;
      if (!deleted.value) return failed('refused', `The editor did not delete ${file.path}.`);
      return succeeded([{ file, before: from, ...mode, unsaved: false }]);
    },
  };
}

/** The current bytes: those of the buffer if it has unsaved changes. Undefined if there is no file. */
export async function presentBytes(uri: vscode.Uri): Promise<Uint8Array | undefined> {
  const open = documentOf(uri);
  return open?.isDirty === true ? bytesOf(open) : readBytes(uri);
}

async function readBytes(uri: vscode.Uri): Promise<Uint8Array | undefined> {
  try {
    return await vscode.workspace.fs.readFile(uri);
  } catch {
    return undefined;
  }
}

async function putBytes({ places: [place] }: PlaceGuard, uri: vscode.Uri, bytes: Uint8Array): Promise<boolean> {
  const present = place === undefined ? await readBytes(uri) : await readPinned(place);
  if (haveSameBytes(present, bytes)) return true;
  if (place !== undefined) return (await writePinned(place, present, bytes)).ok;
  try {
    await vscode.workspace.fs.writeFile(uri, bytes);
    return true;
  } catch {
    return false;
  }
}

/** Resolves to the saved bytes, which are in the place of the file: the editor may have saved them elsewhere. */
async function saveAt(
  guard: PlaceGuard,
  file: FilePath,
  document: vscode.TextDocument,
  before: Uint8Array | undefined,
): Promise<Result<Uint8Array>> {
  const [place] = guard.places;
  const bytesThere = () => (place === undefined ? readBytes(document.uri) : readPinned(place));
  const isSaved = async (done: Result<void>) => {
    const there = await bytesThere();
    const isTypedInto = document.isDirty && !haveSameBytes(there, before);
    return !done.ok || isTypedInto || haveSameBytes(there, await bytesOf(document));
  };
  const saved = await guard.around(() => saveBuffer(file, document), isSaved);
  if (!saved.ok) return saved;
  if (!saved.value.ok) return saved.value;
  const after = await bytesThere();
  return after === undefined ? failed('not_saved', `${file.path} was removed after it was saved.`) : succeeded(after);
}

function isDone(result: Result<boolean>): boolean {
  return result.ok && result.value;
}

async function removeFile(uri: vscode.Uri): Promise<boolean> {
  const edit = new vscode.WorkspaceEdit();
  edit.deleteFile(uri, { ignoreIfNotExists: true });
  return vscode.workspace.applyEdit(edit);
}

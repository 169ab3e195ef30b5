// Steps that change one file, each with its undo: edit in the buffer, write bytes, move, delete.
import * as vscode from 'vscode';
import { failed, type Result, succeeded } from '../../base/errors.ts';
import {
  type AppliedEdit,
  type ApplyOptions,
  type FileEdit,
  type FilePath,
  STALE,
} from '../../core/ports/workspace.ts';
import { type BufferEdit, editBuffer, hasOneLineEnding, hasText, replaceText, saveBuffer } from './bufferEdits.ts';
import { bytesOf, configuredEncoding, decodeFile, documentOf, isSame } from './fileEncoding.ts';
import { attempt } from './fileFailures.ts';
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
    return isDone(
      await guard.around(
        async () => (await saveAsOwn(document)) && from !== undefined && (await putBytes(document.uri, from)),
      ),
    );
  };
  const change = async (again: boolean): Promise<Result<readonly AppliedEdit[]>> => {
    const refused = await editBuffer(buffer);
    if (refused !== undefined) return refused;
    const before = from === undefined ? {} : { before: from };
    if (keepsUnsaved) return succeeded([{ file, ...before, after: await bytesOf(document), unsaved: true }]);
    const saved = await saveAt(guard, file, document);
    if (saved.ok) return succeeded([{ file, ...before, after: saved.value, unsaved: false }]);
    const isUndone = await undo();
    // The editor refuses to save over a file that is newer than its record of it, even if it has already read that
    // text. The undo saved the former text and so updated the record: a second attempt can succeed.
    return isUndone && again && saved.failure.code === 'not_saved' ? change(false) : saved;
  };
  return { undo, run: () => change(true) };
}

interface NewFile {
  readonly file: FilePath;
  readonly uri: vscode.Uri;
  readonly text: string;
  readonly guard: PlaceGuard;
}

function createStep({ file, uri, text, guard }: NewFile, { save = true }: ApplyOptions): FileStep {
  const undo = async () => isDone(await guard.around(() => removeFile(uri)));
  return {
    undo,
    run: async () => {
      const edit = new vscode.WorkspaceEdit();
      edit.createFile(uri, { overwrite: false, ignoreIfExists: false });
      const made = await guard.around(() => vscode.workspace.applyEdit(edit));
      if (!made.ok) return made;
      if (!made.value) return refused(file, 'could not be made');
      const document = await vscode.workspace.openTextDocument(uri);
      const filled = await editBuffer({ file, document, before: '', after: text });
      if (filled !== undefined) {
        await undo();
        return filled;
      }
      if (!save && document.isDirty) return succeeded([{ file, after: await bytesOf(document), unsaved: true }]);
      const saved = await saveAt(guard, file, document);
      if (saved.ok) return succeeded([{ file, after: saved.value, unsaved: false }]);
      await undo();
      return saved;
    },
  };
}

/** For files that the editor cannot open as text unchanged: binary, mixed line endings, very long files. */
function bytesStep({ file, from, to }: Write, uri: vscode.Uri, guard: PlaceGuard): FileStep {
  const undo = async () =>
    isDone(await guard.around(() => (from === undefined ? removeFile(uri) : putBytes(uri, from))));
  return {
    undo,
    run: async () => {
      const present = await readBytes(uri);
      if (!isSame(present, from))
        return failed(STALE, `${file.path} was changed at the same moment.`, 'Read it again.');
      const written = await guard.around(() => attempt(file, 'written', () => vscode.workspace.fs.writeFile(uri, to)));
      if (!written.ok) return written;
      if (written.value.ok) return succeeded([{ file, ...(from && { before: from }), after: to, unsaved: false }]);
      if (from !== undefined) await undo();
      return written.value;
    },
  };
}

export function moveStep(edit: Move, uri: vscode.Uri, target: vscode.Uri, guard: PlaceGuard): FileStep {
  const rename = async (from: vscode.Uri, to: vscode.Uri) => {
    const edits = new vscode.WorkspaceEdit();
    edits.renameFile(from, to, { overwrite: false, ignoreIfExists: false });
    return guard.around(() => vscode.workspace.applyEdit(edits));
  };
  return {
    undo: async () => isDone(await rename(target, uri)),
    run: async () => {
      const before = await presentBytes(uri);
      const moved = await rename(uri, target);
      if (!moved.ok) return moved;
      if (!moved.value) return refused(edit.file, 'could not be moved');
      const open = documentOf(target);
      const after = await presentBytes(target);
      return succeeded([
        { file: edit.file, ...(before && { before }), unsaved: false },
        { file: edit.to, ...(after && { after }), unsaved: open?.isDirty === true },
      ]);
    },
  };
}

export function deleteStep({ file, from }: Delete, uri: vscode.Uri, guard: PlaceGuard): FileStep {
  return {
    undo: async () => isDone(await guard.around(() => putBytes(uri, from))),
    run: async () => {
      const edit = new vscode.WorkspaceEdit();
      edit.deleteFile(uri, { recursive: false, ignoreIfNotExists: false });
      const deleted = await guard.around(() => vscode.workspace.applyEdit(edit));
      if (!deleted.ok) return deleted;
      if (!deleted.value) return refused(file, 'could not be deleted');
      return succeeded([{ file, before: from, unsaved: false }]);
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

async function putBytes(uri: vscode.Uri, bytes: Uint8Array): Promise<boolean> {
  if (isSame(await readBytes(uri), bytes)) return true;
  try {
    await vscode.workspace.fs.writeFile(uri, bytes);
    return true;
  } catch {
    return false;
  }
}

async function saveAt(guard: PlaceGuard, file: FilePath, document: vscode.TextDocument): Promise<Result<Uint8Array>> {
  const saved = await guard.around(() => saveBuffer(file, document));
  return saved.ok ? saved.value : saved;
}

function isDone(result: Result<boolean>): boolean {
  return result.ok && result.value;
}

async function removeFile(uri: vscode.Uri): Promise<boolean> {
  const edit = new vscode.WorkspaceEdit();
  edit.deleteFile(uri, { ignoreIfNotExists: true });
  return vscode.workspace.applyEdit(edit);
}

function refused(file: FilePath, what: string) {
  return failed('refused', `${file.path} ${what}: the editor did not do it.`);
}

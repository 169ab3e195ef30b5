// The ways in which one file is changed, each with its way back: in its buffer, as bytes, moved, deleted.
import * as vscode from 'vscode';
import { failed, type Result, succeeded } from '../base/errors.ts';
import { type AppliedEdit, type ApplyOptions, type FileEdit, type FilePath, STALE } from '../core/workspacePorts.ts';
import { type BufferEdit, editBuffer, hasOneLineEnding, hasText, replaceText, saveBuffer } from './bufferEdits.ts';
import { bytesOf, configuredEncoding, decodeFile, documentOf, isSame } from './fileEncoding.ts';
import { attempt } from './fileFailures.ts';
import { saveAsOwn } from './ownSaves.ts';

/** A change that can be made now. `run` fails without having changed anything. */
export interface FileStep {
  run(): Promise<Result<readonly AppliedEdit[]>>;
  /** After `run` succeeded. Resolves to whether all is as it was. */
  undo(): Promise<boolean>;
}

/** Longer texts take the editor seconds to take up, and it formats none of them. */
const LONGEST_BUFFER = 4 * 1024 * 1024;

type Write = Extract<FileEdit, { type: 'write' }>;
type Move = Extract<FileEdit, { type: 'move' }>;
type Delete = Extract<FileEdit, { type: 'delete' }>;

export async function writeStep(edit: Write, uri: vscode.Uri, options: ApplyOptions): Promise<FileStep> {
  const { from, to } = edit;
  const isDirty = documentOf(uri)?.isDirty === true;
  const direct = options.exact === true || Math.max(to.length, from?.length ?? 0) > LONGEST_BUFFER;
  if (isDirty || !direct) {
    const now = await decodeFile(uri, to);
    const before = from === undefined ? undefined : await decodeFile(uri, from);
    const fits = now !== undefined && hasOneLineEnding(now.text);
    const asNew = now?.encoding === configuredEncoding(uri);
    if (fits && asNew && from === undefined) return createStep(edit.file, uri, now.text, options);
    if (fits && before?.encoding === now.encoding && hasOneLineEnding(before.text)) {
      const document = await openAs(uri, before.encoding);
      const ready = document !== undefined && (await hasText(document, before.text));
      if (ready) return bufferStep({ file: edit.file, document, before: before.text, after: now.text }, edit, options);
    }
  }
  return bytesStep(edit, uri);
}

/** Undefined if the editor cannot have it as a text: too long, or open in another encoding. */
async function openAs(uri: vscode.Uri, encoding: string): Promise<vscode.TextDocument | undefined> {
  const open = documentOf(uri);
  if (open?.isDirty === true) return open;
  try {
    return await vscode.workspace.openTextDocument(uri, { encoding });
  } catch {
    return undefined;
  }
}

function bufferStep(buffer: BufferEdit, { from }: Write, { save = true }: ApplyOptions): FileStep {
  const { file, document } = buffer;
  const keepsUnsaved = document.isDirty || !save;
  const undo = async () => {
    const back = await replaceText(document, buffer.before);
    if (keepsUnsaved) return back;
    // A formatter may have its say again, so the bytes have the last word.
    return (await saveAsOwn(document)) && from !== undefined && putBytes(document.uri, from);
  };
  return {
    undo,
    run: async () => {
      const refused = await editBuffer(buffer);
      if (refused !== undefined) return refused;
      const before = from === undefined ? {} : { before: from };
      if (keepsUnsaved) return succeeded([{ file, ...before, after: await bytesOf(document), unsaved: true }]);
      const saved = await saveBuffer(file, document);
      if (saved.ok) return succeeded([{ file, ...before, after: saved.value, unsaved: false }]);
      await undo();
      return saved;
    },
  };
}

function createStep(file: FilePath, uri: vscode.Uri, text: string, { save = true }: ApplyOptions): FileStep {
  const undo = () => removeFile(uri);
  return {
    undo,
    run: async () => {
      const edit = new vscode.WorkspaceEdit();
      edit.createFile(uri, { overwrite: false, ignoreIfExists: false });
      if (!(await vscode.workspace.applyEdit(edit))) return refused(file, 'could not be made');
      const document = await vscode.workspace.openTextDocument(uri);
      const filled = await editBuffer({ file, document, before: '', after: text });
      if (filled !== undefined) {
        await undo();
        return filled;
      }
      if (!save && document.isDirty) return succeeded([{ file, after: await bytesOf(document), unsaved: true }]);
      const saved = await saveBuffer(file, document);
      if (saved.ok) return succeeded([{ file, after: saved.value, unsaved: false }]);
      await undo();
      return saved;
    },
  };
}

/** For what the editor cannot hold as text without changing it: other bytes, mixed line endings, very long files. */
function bytesStep({ file, from, to }: Write, uri: vscode.Uri): FileStep {
  return {
    undo: () => (from === undefined ? removeFile(uri) : putBytes(uri, from)),
    run: async () => {
      const present = await readBytes(uri);
      if (!isSame(present, from)) return failed(STALE, `${file.path} changed at this very moment.`, 'Read it again.');
      const written = await attempt(file, 'written', () => vscode.workspace.fs.writeFile(uri, to));
      if (written.ok) return succeeded([{ file, ...(from && { before: from }), after: to, unsaved: false }]);
      if (from !== undefined) await putBytes(uri, from);
      return written;
    },
  };
}

export function moveStep(edit: Move, uri: vscode.Uri, target: vscode.Uri): FileStep {
  const rename = async (from: vscode.Uri, to: vscode.Uri) => {
    const edits = new vscode.WorkspaceEdit();
    edits.renameFile(from, to, { overwrite: false, ignoreIfExists: false });
    return vscode.workspace.applyEdit(edits);
  };
  return {
    undo: () => rename(target, uri),
    run: async () => {
      const before = await presentBytes(uri);
      if (!(await rename(uri, target))) return refused(edit.file, 'could not be moved');
      const open = documentOf(target);
      const after = await presentBytes(target);
      return succeeded([
        { file: edit.file, ...(before && { before }), unsaved: false },
        { file: edit.to, ...(after && { after }), unsaved: open?.isDirty === true },
      ]);
    },
  };
}

export function deleteStep({ file, from }: Delete, uri: vscode.Uri): FileStep {
  return {
    undo: () => putBytes(uri, from),
    run: async () => {
      const edit = new vscode.WorkspaceEdit();
      edit.deleteFile(uri, { recursive: false, ignoreIfNotExists: false });
      if (!(await vscode.workspace.applyEdit(edit))) return refused(file, 'could not be deleted');
      return succeeded([{ file, before: from, unsaved: false }]);
    },
  };
}

/** The bytes that a person would say are there: the buffer's if it has unsaved changes. Undefined if there is no file. */
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

async function removeFile(uri: vscode.Uri): Promise<boolean> {
  const edit = new vscode.WorkspaceEdit();
  edit.deleteFile(uri, { ignoreIfNotExists: true });
  return vscode.workspace.applyEdit(edit);
}

function refused(file: FilePath, what: string) {
  return failed('refused', `${file.path} ${what}: the editor did not do it.`);
}

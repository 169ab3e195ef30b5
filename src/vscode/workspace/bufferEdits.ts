// Decides how a text gets into the editor's buffer of a file: by the smallest edits, saved only if nothing else waited there to be saved.
import * as vscode from 'vscode';
import { failed, type Result, succeeded } from '../../base/errors.ts';
import { endingOf } from '../../core/files/difference.ts';
import { minimalEdits } from '../../core/files/minimalEdits.ts';
import { type FilePath, STALE } from '../../core/ports/workspace.ts';
import { type Refused } from './fileFailures.ts';
import { saveAsOwn } from './ownSaves.ts';

/** The editor takes up a file that changed on disk a moment after it did. */
const RELOAD_MILLISECONDS = 2000;

export interface BufferEdit {
  readonly file: FilePath;
  readonly document: vscode.TextDocument;
  readonly before: string;
  readonly after: string;
}

/** The editor would make one kind of line ending of several. */
export function hasOneLineEnding(text: string): boolean {
  return endingOf(text) !== 'mixed' && !/\r(?!\n)/.test(text);
}

/** Waits until a buffer without changes of its own has this text. False if it does not come to that. */
export async function hasText(document: vscode.TextDocument, text: string): Promise<boolean> {
  if (document.getText() === text || document.isDirty) return document.getText() === text;
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const listening = vscode.workspace.onDidChangeTextDocument((change) => {
    if (change.document === document && document.getText() === text) resolve(true);
  });
  const timer = setTimeout(() => resolve(false), RELOAD_MILLISECONDS);
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    listening.dispose();
  }
}

/** Resolves once the buffer has the new text; it is not saved yet. */
export async function editBuffer({ file, document, before, after }: BufferEdit): Promise<Refused | undefined> {
  // From here to the editor's own check of the version nothing can be typed unnoticed.
  if (document.getText() !== before) return staleBuffer(file);
  const edit = new vscode.WorkspaceEdit();
  edit.set(document.uri, textEdits(document, before, after));
  const done = await vscode.workspace.applyEdit(edit);
  if (!done) return document.getText() === before ? refusedByEditor(file) : staleBuffer(file);
  if (document.getText() === after) return undefined;
  await replaceText(document, before);
  return refusedByEditor(file);
}

/** The bytes after the save. */
export async function saveBuffer(file: FilePath, document: vscode.TextDocument): Promise<Result<Uint8Array>> {
  const saved = await saveAsOwn(document);
  if (!saved) {
    return failed(
      'not_saved',
      `${file.path} could not be saved.`,
      'The user sees the reason in the editor: rights, a full disk, or a change on disk at the same moment.',
    );
  }
  return succeeded(await vscode.workspace.fs.readFile(document.uri));
}

export async function replaceText(document: vscode.TextDocument, text: string): Promise<boolean> {
  if (document.getText() === text) return true;
  const edit = new vscode.WorkspaceEdit();
  edit.set(document.uri, textEdits(document, document.getText(), text));
  return vscode.workspace.applyEdit(edit);
}

function textEdits(document: vscode.TextDocument, before: string, after: string): vscode.TextEdit[] {
  const ending = endingOf(after) === undefined ? document.eol : endOfLine(after);
  const sameEndings = ending === document.eol;
  // Lines that differ in nothing but their ending are no difference to a buffer.
  const target = sameEndings
    ? after
    : after.replaceAll(/\r?\n/g, document.eol === vscode.EndOfLine.CRLF ? '\r\n' : '\n');
  const edits = minimalEdits(before, target).map(({ start, end, text }) =>
    vscode.TextEdit.replace(new vscode.Range(document.positionAt(start), document.positionAt(end)), text),
  );
  return sameEndings ? edits : [...edits, vscode.TextEdit.setEndOfLine(ending)];
}

function endOfLine(text: string): vscode.EndOfLine {
  return text.includes('\r\n') ? vscode.EndOfLine.CRLF : vscode.EndOfLine.LF;
}

function staleBuffer(file: FilePath): Refused {
  return failed(STALE, `${file.path} changed in the editor at this very moment.`, 'Read it again.');
}

function refusedByEditor(file: FilePath): Refused {
  return failed('refused', `The editor did not take the change of ${file.path}.`, 'Nothing was changed.');
}

// Changes the editor's buffer of a file by minimal edits. It is saved only if it had no unsaved changes.
import * as vscode from 'vscode';
import { failed, type Result, succeeded } from '../../base/errors.ts';
import { endingOf } from '../../core/files/difference.ts';
import { minimalEdits } from '../../core/files/minimalEdits.ts';
import { type FilePath, STALE } from '../../core/ports/workspace.ts';
import { type Refused } from './fileFailures.ts';
import { saveAsOwn } from './ownSaves.ts';

/** How long to wait until the editor has reloaded a changed file. */
const RELOAD_MILLISECONDS = 2000;

export interface BufferEdit {
  readonly file: FilePath;
  readonly document: vscode.TextDocument;
  readonly before: string;
  readonly after: string;
}

/** Needed to edit a text in a buffer: the editor would normalize mixed line endings. */
export function hasOneLineEnding(text: string): boolean {
  return endingOf(text) !== 'mixed' && !/\r(?!\n)/.test(text);
}

/** Waits until a buffer without unsaved changes has this text. False if it does not get it in time. */
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
  // The editor checks the version itself, so typing after this check is noticed.
  if (document.getText() !== before) return staleBuffer(file);
  const edit = new vscode.WorkspaceEdit();
  edit.set(document.uri, textEdits(document, before, after));
  const done = await vscode.workspace.applyEdit(edit);
  if (!done) return document.getText() === before ? refusedByEditor(file) : staleBuffer(file);
  if (document.getText() === after) return undefined;
  await replaceText(document, before);
  return refusedByEditor(file);
}

export async function saveBuffer(file: FilePath, document: vscode.TextDocument): Promise<Result<void>> {
  const saved = await saveAsOwn(document);
  if (!saved) {
    return failed(
      'not_saved',
      `${file.path} could not be saved.`,
      'The user sees the reason in the editor: permissions, a full disk, or a concurrent change on disk.',
    );
  }
  return succeeded(undefined);
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
  // A buffer has one kind of line ending, which is changed as a whole; so it does not make lines differ.
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
  return failed(STALE, `${file.path} was changed in the editor at the same moment.`, 'Read it again.');
}

function refusedByEditor(file: FilePath): Refused {
  return failed('refused', `The editor rejected the change of ${file.path}.`, 'Nothing was changed.');
}

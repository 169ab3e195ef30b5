// The active editor and its selection, as plain data. It stays the active one while the chat has the focus.
import * as vscode from 'vscode';
import { type ActiveEditor } from '../../core/ports/sources.ts';
import { toFilePath } from '../workspace/fileUris.ts';

export const activeEditor: ActiveEditor = {
  current: () => {
    const editor = vscode.window.activeTextEditor;
    if (editor?.document.uri.scheme !== 'file') return undefined;
    const path = toFilePath(editor.document.uri)?.path;
    if (path === undefined) return undefined;
    const { selection, document } = editor;
    if (selection.isEmpty) return { path };
    // A selection of whole lines ends before the first character of the next one.
    const { start, end } = selection;
    const last = end.character === 0 && end.line > start.line ? end.line : end.line + 1;
    return {
      path,
      selection: { first: start.line + 1, last, text: document.getText(selection).replace(/\r?\n$/, '') },
    };
  },
  onDidChange: (listener) =>
    vscode.Disposable.from(
      vscode.window.onDidChangeActiveTextEditor(() => listener()),
      vscode.window.onDidChangeTextEditorSelection(({ textEditor }) => {
        if (textEditor === vscode.window.activeTextEditor) listener();
      }),
    ),
};

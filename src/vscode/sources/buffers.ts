// Edits, saves and renames of files in the editor, as plain data.
import * as vscode from 'vscode';
import { type EditorBuffers } from '../../core/ports/sources.ts';
import { hasApplied } from '../workspace/appliedCode.ts';
import { bytesOf } from '../workspace/fileEncoding.ts';
import { toFilePath } from '../workspace/fileUris.ts';
import { isOwnSave } from '../workspace/ownSaves.ts';

export const editorBuffers: EditorBuffers = {
  unsaved: () =>
    vscode.workspace.textDocuments.flatMap((document) =>
      document.isDirty ? (toFilePath(document.uri)?.path ?? []) : [],
    ),
  onDidChange: (listener) => {
    const changed = (document: vscode.TextDocument) => {
      const path = toFilePath(document.uri)?.path;
      if (path !== undefined) listener(path);
    };
    return vscode.Disposable.from(
      // Also fires without a change of the text: when a document is saved, reverted, or becomes dirty.
      vscode.workspace.onDidChangeTextDocument(({ document }) => changed(document)),
      vscode.workspace.onDidCloseTextDocument(changed),
    );
  },
  onDidSave: (listener) =>
    vscode.workspace.onDidSaveTextDocument((document) => {
      const path = toFilePath(document.uri)?.path;
      if (path === undefined) return;
      listener({ path, bytes: bytesOf(document), own: isOwnSave(document), applied: hasApplied(document) });
    }),
  onDidRename: (listener) =>
    vscode.workspace.onDidRenameFiles(({ files }) =>
      listener(
        files.flatMap(({ oldUri, newUri }) => {
          const [from, to] = [toFilePath(oldUri)?.path, toFilePath(newUri)?.path];
          return from === undefined || to === undefined ? [] : [{ from, to }];
        }),
      ),
    ),
};

// What a person does with files in the editor, as plain data: texts that change, saves, other names.
import * as vscode from 'vscode';
import { type EditorBuffers } from '../../core/ports/sources.ts';
import { bytesOf } from '../workspace/fileEncoding.ts';
import { isOwnSave } from '../workspace/ownSaves.ts';
import { pathOf } from './paths.ts';

export const editorBuffers: EditorBuffers = {
  unsaved: () =>
    vscode.workspace.textDocuments.flatMap((document) => (document.isDirty ? (pathOf(document.uri) ?? []) : [])),
  onDidChange: (listener) => {
    const tell = (document: vscode.TextDocument) => {
      const path = pathOf(document.uri);
      if (path !== undefined) listener(path);
    };
    return vscode.Disposable.from(
      // Also fires without a change of the text: when it is saved, reverted, or becomes dirty.
      vscode.workspace.onDidChangeTextDocument(({ document }) => tell(document)),
      vscode.workspace.onDidCloseTextDocument(tell),
    );
  },
  onDidSave: (listener) =>
    vscode.workspace.onDidSaveTextDocument((document) => {
      const path = pathOf(document.uri);
      if (path !== undefined) listener({ path, bytes: bytesOf(document), own: isOwnSave(document) });
    }),
  onDidRename: (listener) =>
    vscode.workspace.onDidRenameFiles(({ files }) =>
      listener(
        files.flatMap(({ oldUri, newUri }) => {
          const [from, to] = [pathOf(oldUri), pathOf(newUri)];
          return from === undefined || to === undefined ? [] : [{ from, to }];
        }),
      ),
    ),
};

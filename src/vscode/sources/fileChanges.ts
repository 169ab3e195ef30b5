// Fires when files of the workspace may have changed, on disk or in a buffer.
import * as vscode from 'vscode';
import { type Event } from '../../base/emitter.ts';
import { createEditorFiles } from './files.ts';

export const onDidChangeFiles: Event<void> = (listener) =>
  vscode.Disposable.from(
    createEditorFiles().onDidTouch(() => listener()),
    vscode.workspace.onDidChangeTextDocument(({ document }) => {
      // Output channels are documents too.
      if (document.uri.scheme !== 'output') listener();
    }),
  );

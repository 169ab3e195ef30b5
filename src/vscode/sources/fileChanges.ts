// Tells that files of the workspace may have changed, on disk or in a buffer, as long as somebody listens.
import * as vscode from 'vscode';
import { type Event } from '../../base/emitter.ts';
import { createEditorFiles } from './files.ts';

export const onDidChangeFiles: Event<void> = (listener) =>
  vscode.Disposable.from(
    createEditorFiles().onDidTouch(() => listener()),
    vscode.workspace.onDidChangeTextDocument(({ document }) => {
      // Output channels and the like are documents too.
      if (document.uri.scheme !== 'output') listener();
    }),
  );

// The editor's own watcher as plain data: what was created, changed or deleted anywhere in the workspace.
import * as vscode from 'vscode';
import { type EditorFiles, type FileTouch } from '../../core/sourcePorts.ts';
import { pathOf } from './paths.ts';

export const editorFiles: EditorFiles = {
  onDidTouch: (listener) => {
    const watcher = vscode.workspace.createFileSystemWatcher('**/*');
    const tell = (type: FileTouch['type']) => (uri: vscode.Uri) => {
      const path = pathOf(uri);
      if (path !== undefined) listener({ type, path });
    };
    // They end with the watcher.
    watcher.onDidCreate(tell('created'));
    watcher.onDidChange(tell('changed'));
    watcher.onDidDelete(tell('deleted'));
    return watcher;
  },
};

// The editor's own watcher as plain data: what was created, changed or deleted anywhere in the workspace, on whatever file system.
import * as vscode from 'vscode';
import { type EditorFiles, type FileTouch } from '../../core/ports/sources.ts';
import { toFilePath } from '../workspace/fileUris.ts';

/** `folders`: other ones than the window's. */
export const createEditorFiles = (folders?: readonly vscode.WorkspaceFolder[]): EditorFiles => ({
  onDidTouch: (listener) => {
    const patterns = folders?.map((folder) => new vscode.RelativePattern(folder, '**/*')) ?? ['**/*'];
    const tell = (type: FileTouch['type']) => (uri: vscode.Uri) => {
      const path = toFilePath(uri, folders)?.path;
      if (path !== undefined) listener({ type, path });
    };
    const watchers = patterns.map((pattern) => {
      const watcher = vscode.workspace.createFileSystemWatcher(pattern);
      // They end with the watcher.
      watcher.onDidCreate(tell('created'));
      watcher.onDidChange(tell('changed'));
      watcher.onDidDelete(tell('deleted'));
      return watcher;
    });
    return vscode.Disposable.from(...watchers);
  },
});

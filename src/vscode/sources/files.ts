// The editor's file watcher as plain data: created, changed and deleted files on any file system.
import * as vscode from 'vscode';
import { type EditorFiles, type FileTouch } from '../../core/ports/sources.ts';
import { toFilePath } from '../workspace/fileUris.ts';

/** `folders` replaces those of the window. */
export const createEditorFiles = (folders?: readonly vscode.WorkspaceFolder[]): EditorFiles => ({
  onDidTouch: (listener) => {
    const patterns = folders?.map((folder) => new vscode.RelativePattern(folder, '**/*')) ?? ['**/*'];
    const touched = (type: FileTouch['type']) => (uri: vscode.Uri) => {
      const path = toFilePath(uri, folders)?.path;
      if (path !== undefined) listener({ type, path });
    };
    const watchers = patterns.map((pattern) => {
      const watcher = vscode.workspace.createFileSystemWatcher(pattern);
      // Disposed with the watcher.
      watcher.onDidCreate(touched('created'));
      watcher.onDidChange(touched('changed'));
      watcher.onDidDelete(touched('deleted'));
      return watcher;
    });
    return vscode.Disposable.from(...watchers);
  },
});

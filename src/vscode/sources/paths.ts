// Says which of our paths an address of the editor is, in the same words as the Workspace port.
import * as vscode from 'vscode';

/** Undefined: it lies outside the workspace, or is no file. */
export function pathOf(uri: vscode.Uri): string | undefined {
  const folder = vscode.workspace.getWorkspaceFolder(uri);
  if (folder === undefined || folder.uri.scheme !== uri.scheme) return undefined;
  return vscode.workspace.asRelativePath(uri);
}

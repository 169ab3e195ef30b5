// Says which of our paths an address of the editor is, in the same words as the Workspace port.
import type * as vscode from 'vscode';
import { toFilePath } from '../workspace/fileUris.ts';

/** Undefined: it lies outside the workspace, or is no file. */
export function pathOf(uri: vscode.Uri): string | undefined {
  return toFilePath(uri)?.path;
}

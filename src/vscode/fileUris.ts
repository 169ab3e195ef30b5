// Decides which of the editor's resources a path of the workspace is.
import { realpath } from 'node:fs/promises';
import * as vscode from 'vscode';
import { type FilePath } from '../core/workspacePorts.ts';

export function absoluteOf(uri: vscode.Uri): string {
  return uri.scheme === 'file' ? uri.fsPath : uri.toString();
}

/** The file itself, also where it is a link: what is moved or deleted. */
export function toUri(file: FilePath): vscode.Uri {
  return /^[a-z][a-z0-9+.-]+:\/\//i.test(file.absolute)
    ? vscode.Uri.parse(file.absolute, true)
    : vscode.Uri.file(file.absolute);
}

/** Where its content is: two names of one file have one buffer. */
export async function contentUri(file: FilePath): Promise<vscode.Uri> {
  if (file.real === undefined) return toUri(file);
  try {
    return vscode.Uri.file(await realpath(file.absolute));
  } catch {
    // To be made.
    return toUri(file);
  }
}

/** Undefined for what is not in the workspace. */
export function toFilePath(uri: vscode.Uri): FilePath | undefined {
  const folder = vscode.workspace.getWorkspaceFolder(uri);
  if (folder === undefined) return undefined;
  return { path: vscode.workspace.asRelativePath(uri), absolute: absoluteOf(uri) };
}

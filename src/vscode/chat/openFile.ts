// Opens a file of the workspace in the editor, at a line and column if given.
import * as vscode from 'vscode';
import { describeError, failed, type Result, succeeded } from '../../base/errors.ts';
import { type Workspace } from '../../core/ports/workspace.ts';
import { toUri } from '../workspace/fileUris.ts';

export interface Place {
  readonly path: string;
  /** Lines and columns are counted from 1. */
  readonly line?: number | undefined;
  readonly column?: number | undefined;
}

export async function openFile(workspace: Workspace, { path, line, column = 1 }: Place): Promise<Result<void>> {
  const file = await workspace.resolve(path);
  if (!file.ok) return file;
  const position = line === undefined ? undefined : new vscode.Position(line - 1, column - 1);
  const selection = position && new vscode.Range(position, position);
  try {
    await vscode.window.showTextDocument(toUri(file.value), { preview: true, ...(selection && { selection }) });
    return succeeded(undefined);
  } catch (error) {
    return failed('not_found', vscode.l10n.t('{0} cannot be opened: {1}.', path, describeError(error)));
  }
}

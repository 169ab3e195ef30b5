// Explains errors of reading and writing files so that a model can act on them.
import * as vscode from 'vscode';
import { describeError, failed, type Result, succeeded } from '../../base/errors.ts';
import { type FilePath, NOT_FOUND } from '../../core/ports/workspace.ts';

export type Refused = Extract<Result<never>, { ok: false }>;

export async function attempt<T>(
  file: FilePath,
  does: 'read' | 'written',
  action: () => PromiseLike<T>,
): Promise<Result<T>> {
  try {
    return succeeded(await action());
  } catch (error) {
    return explainFileError(file, does, error);
  }
}

function explainFileError(file: FilePath, does: 'read' | 'written', error: unknown): Refused {
  const name = file.path === '' ? 'The folder' : file.path;
  switch (error instanceof vscode.FileSystemError ? error.code : '') {
    case 'FileNotFound':
      return failed(NOT_FOUND, `${name} does not exist.`, 'list_files shows what is there.');
    case 'FileIsADirectory':
      return failed('is_folder', `${name} is a folder.`, 'list_files shows what is in it.');
    case 'FileNotADirectory':
      return failed('is_file', `${name} is not a folder.`);
    case 'NoPermissions':
      return failed(
        'no_rights',
        does === 'read'
          ? `${name} cannot be read: permission denied.`
          : `${name} cannot be written: permission denied.`,
      );
    default:
      return does === 'read'
        ? failed('unreadable', `${name} cannot be read: ${sentence(error)}`)
        : failed('unwritable', `${name} cannot be written: ${sentence(error)}`);
  }
}

function sentence(error: unknown): string {
  const text = describeError(error).trim();
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

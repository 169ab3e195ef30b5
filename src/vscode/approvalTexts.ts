// Texts of questions before a program runs: the files that were hashed, and the code that no hash covers.
import * as vscode from 'vscode';
import { printPath, printWholePath } from '../base/printPath.ts';
import { type Unpinned } from '../node/files/codePins.ts';
import { type CommandFile } from '../node/files/fingerprint.ts';

/** More files make a dialog that is higher than the window. */
const MOST_FILES = 6;
const MOST_UNPINNED = 6;

/** Paragraphs for the dialog. */
export function describePins(files: readonly CommandFile[], unpinned: readonly Unpinned[]): readonly string[] {
  const more = files.length - MOST_FILES;
  const others = unpinned.length - MOST_UNPINNED;
  return [
    ...files.slice(0, MOST_FILES).map(({ path, sha256 }) => `${printWholePath(path)}\nSHA-256 ${sha256}`),
    ...(more > 0 ? [vscode.l10n.t('{0} more files are checked in the same way.', more)] : []),
    ...(unpinned.length === 0
      ? [vscode.l10n.t('You are asked again when the command or one of these files changes.')]
      : [
          [
            vscode.l10n.t('Not all code that it runs can be checked, so you are asked again in each window:'),
            ...unpinned.slice(0, MOST_UNPINNED).map((one) => `• ${describeUnpinned(one)}`),
            ...(others > 0 ? [vscode.l10n.t('• and {0} more', others)] : []),
          ].join('\n'),
          vscode.l10n.t('In this window you are asked again when the command or one of these files changes.'),
        ]),
  ];
}

function describeUnpinned({ kind, what }: Unpinned): string {
  const name = printPath(what);
  switch (kind) {
    case 'program':
      return vscode.l10n.t('{0} can run files that the command does not name', name);
    case 'variable':
      return vscode.l10n.t('the variable {0} can make it load other code', name);
    case 'loads':
      return vscode.l10n.t('{0} can load or run files that its text does not name', name);
    case 'package':
      return vscode.l10n.t('the files of the package {0}', name);
    case 'many':
      return vscode.l10n.t('it loads more than {0} files', name);
  }
}

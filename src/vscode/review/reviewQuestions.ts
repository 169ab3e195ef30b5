// Confirmations before an undo that may affect the work of others.
import * as vscode from 'vscode';
import { type ReviewedFile } from '../../core/checkpoints/review.ts';

/** Does not ask if it is a single file that Earshot certainly changed. */
export async function confirmUndo(files: readonly ReviewedFile[], meanwhile = false): Promise<boolean> {
  const [first] = files;
  if (meanwhile && first !== undefined) return confirmUndoMeanwhile(first);
  const appeared = files.filter((file) => file.appeared);
  if (files.length === 1 && appeared.length === 0) return true;
  const question =
    files.length === 1
      ? vscode.l10n.t('Delete {0}?', first?.path ?? '')
      : vscode.l10n.t('Undo Earshot’s changes in {0} files?', files.length);
  const deletes = vscode.l10n.t(
    'These files will be deleted. They appeared while a command of Earshot was running: {0}',
    appeared.map(({ path }) => path).join(', '),
  );
  const one = vscode.l10n.t('It appeared while a command of Earshot was running. You can undo this.');
  const detail =
    files.length === 1
      ? one
      : [...files.map(({ path }) => path), ...(appeared.length > 0 ? ['', deletes] : [])].join('\n');
  const undo = files.length === 1 ? vscode.l10n.t('Delete') : vscode.l10n.t('Undo');
  return (await vscode.window.showWarningMessage(question, { modal: true, detail }, undo)) === undo;
}

/** Asks before a file that others changed is restored to its content from before the command. */
async function confirmUndoMeanwhile({ path, kind }: ReviewedFile): Promise<boolean> {
  const restore = kind === 'created' ? vscode.l10n.t('Delete') : vscode.l10n.t('Restore');
  const question =
    kind === 'created'
      ? vscode.l10n.t('Delete {0}?', path)
      : vscode.l10n.t('Restore {0} to its content from before the command?', path);
  const detail = vscode.l10n.t(
    'It changed while a command of Earshot was running, and is not known to be changed by it. You can undo this.',
  );
  return (await vscode.window.showWarningMessage(question, { modal: true, detail }, restore)) === restore;
}

// What the buttons of a code block do in the editor: insert, apply after a preview, run in a terminal.
import * as vscode from 'vscode';

/** The editor that was active last; the chat takes the focus from it. */
function targetEditor(): vscode.TextEditor | undefined {
  const shown = vscode.window.activeTextEditor ?? vscode.window.visibleTextEditors[0];
  if (shown === undefined) {
    void vscode.window
      .showInformationMessage(vscode.l10n.t('Open the file to insert the code into, then try again.'))
      .then(undefined, () => undefined);
  }
  return shown;
}

export async function insertCode(text: string): Promise<void> {
  const editor = targetEditor();
  if (editor === undefined) return;
  await editor.edit((edit) => edit.replace(editor.selection, text));
  await vscode.window.showTextDocument(editor.document, { viewColumn: editor.viewColumn ?? vscode.ViewColumn.Active });
}

/** Replaces the selection, or else the whole file, after VS Code has shown the difference. */
export async function applyCode(text: string): Promise<void> {
  const editor = targetEditor();
  if (editor === undefined) return;
  const { document, selection } = editor;
  const whole = new vscode.Range(0, 0, document.lineCount, 0);
  const edit = new vscode.WorkspaceEdit();
  edit.replace(document.uri, selection.isEmpty ? whole : selection, text, {
    needsConfirmation: true,
    label: vscode.l10n.t('Apply code from the chat'),
  });
  await vscode.workspace.applyEdit(edit, { isRefactoring: true });
}

const TERMINAL = 'Earshot';

/** The user chose it for this very text, so it runs; not in a terminal in which a program may take it for input. */
export function runInTerminal(text: string): void {
  const own = vscode.window.terminals.find(({ name, exitStatus }) => name === TERMINAL && exitStatus === undefined);
  const terminal = own ?? vscode.window.createTerminal(TERMINAL);
  terminal.show(true);
  terminal.sendText(text.trimEnd(), true);
}

// Actions of a code block's buttons: insert into the editor, apply after a preview, run in a terminal.
import * as vscode from 'vscode';

/** The editor that was active before the chat got the focus, or else any visible one. */
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

interface Proposal {
  readonly document: vscode.TextDocument;
  readonly version: number;
  readonly range: vscode.Range;
  readonly text: string;
}

/** Code blocks that are shown as a diff; a button in the title of the diff editor applies them. */
export class Proposals {
  readonly #open = new Map<string, Proposal>();
  /** Stores the proposed content of a file. Resolves to the URI of a document with it. */
  readonly #store: (path: string, content: string) => Promise<vscode.Uri>;

  constructor(store: (path: string, content: string) => Promise<vscode.Uri>) {
    this.#store = store;
  }

  /** Shows a diff in which the code replaces the selection, or the whole file if nothing is selected. */
  async show(code: string): Promise<void> {
    const editor = targetEditor();
    if (editor === undefined) return;
    const { document, selection } = editor;
    // A code block has no line break at its end, a file has one.
    const text = selection.isEmpty && !code.endsWith('\n') ? `${code}\n` : code;
    const name = vscode.workspace.asRelativePath(document.uri);
    const range = selection.isEmpty ? new vscode.Range(0, 0, document.lineCount, 0) : selection;
    const { start, end } = range;
    const before = document.getText(new vscode.Range(0, 0, start.line, start.character));
    const after = document.getText(new vscode.Range(end.line, end.character, document.lineCount, 0));
    const proposed = await this.#store(name, before + text + after);
    this.#open.clear();
    this.#open.set(proposed.toString(), { document, version: document.version, range, text });
    const title = vscode.l10n.t('{0}: code from the chat', name);
    await vscode.commands.executeCommand('vscode.diff', document.uri, proposed, title, { preview: true });
  }

  /** Applies the code without saving the file, unless the file has changed since the diff was shown. */
  async apply(): Promise<void> {
    const tab = vscode.window.tabGroups.activeTabGroup.activeTab;
    const key = tab?.input instanceof vscode.TabInputTextDiff ? tab.input.modified.toString() : '';
    const proposal = this.#open.get(key);
    if (tab === undefined || proposal === undefined) return;
    this.#open.delete(key);
    const { document, version, range, text } = proposal;
    await vscode.window.tabGroups.close(tab);
    await vscode.window.showTextDocument(document, { preview: false });
    if (document.version !== version) {
      const name = vscode.workspace.asRelativePath(document.uri);
      await vscode.window.showWarningMessage(vscode.l10n.t('{0} has changed meanwhile. Apply the code again.', name));
      return;
    }
    const edit = new vscode.WorkspaceEdit();
    edit.replace(document.uri, range, text);
    await vscode.workspace.applyEdit(edit);
  }
}

const TERMINAL = 'Earshot';

/**
 * Runs the text without asking: the user chose it. Other terminals are not used, since a program may be reading input
 * there.
 */
export function runInTerminal(text: string): void {
  const own = vscode.window.terminals.find(({ name, exitStatus }) => name === TERMINAL && exitStatus === undefined);
  const terminal = own ?? vscode.window.createTerminal(TERMINAL);
  terminal.show(true);
  terminal.sendText(text.trimEnd(), true);
}

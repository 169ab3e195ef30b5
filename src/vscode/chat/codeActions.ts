// Actions of a code block's buttons: insert into the editor, apply after a preview, run in a terminal.
import * as vscode from 'vscode';
import { type DeclaredSymbol, placeCode } from '../../core/files/placeCode.ts';
import { documentSymbols } from '../language/languages.ts';
import { userTerminal } from '../tasks/shell.ts';
import { noteApplied } from '../workspace/appliedCode.ts';

/** The user waits for the preview: without symbols by then, similar lines decide. */
const SYMBOLS_MILLISECONDS = 3000;

/** Shows a sentence in the chat, where the user has clicked. */
type Notice = (text: string) => void;

/** The editor that was active before the chat got the focus, or else any visible one. */
function targetEditor(notice: Notice): vscode.TextEditor | undefined {
  const shown = vscode.window.activeTextEditor ?? vscode.window.visibleTextEditors[0];
  if (shown === undefined) notice(vscode.l10n.t('Open the file to insert the code into, then try again.'));
  return shown;
}

export async function insertCode(text: string, notice: Notice): Promise<void> {
  const editor = targetEditor(notice);
  if (editor === undefined) return;
  if (await editor.edit((edit) => edit.replace(editor.selection, text))) noteApplied(editor.document, text);
  await vscode.window.showTextDocument(editor.document, { viewColumn: editor.viewColumn ?? vscode.ViewColumn.Active });
}

interface Replacement {
  readonly range: vscode.Range;
  readonly text: string;
}

interface Proposal {
  readonly document: vscode.TextDocument;
  readonly version: number;
  readonly replacements: readonly Replacement[];
}

/** Code blocks that are shown as a diff; a button in the title of the diff editor applies them. */
export class Proposals {
  readonly #open = new Map<string, Proposal>();
  /** Stores the proposed content of a file. Resolves to the URI of a document with it. */
  readonly #store: (path: string, content: string) => Promise<vscode.Uri>;
  readonly #notice: Notice;

  constructor(store: (path: string, content: string) => Promise<vscode.Uri>, notice: Notice) {
    this.#store = store;
    this.#notice = notice;
  }

  /**
   * Shows a diff in which the code replaces the selection. If nothing is selected, it replaces what it declares or
   * resembles; if the file has no such place, the diff inserts it at the cursor, and the user is told so.
   */
  async show(code: string): Promise<void> {
    const editor = targetEditor(this.#notice);
    if (editor === undefined) return;
    const { document, selection } = editor;
    const name = vscode.workspace.asRelativePath(document.uri);
    const replacements = selection.isEmpty
      ? await this.#find(document, code, selection.active)
      : [{ range: selection, text: code }];
    const { version } = document;
    const proposed = await this.#store(name, replaced(document, replacements));
    this.#open.clear();
    this.#open.set(proposed.toString(), { document, version, replacements });
    const title = vscode.l10n.t('{0}: code from the chat', name);
    await vscode.commands.executeCommand('vscode.diff', document.uri, proposed, title, { preview: true });
  }

  async #find(document: vscode.TextDocument, code: string, cursor: vscode.Position): Promise<readonly Replacement[]> {
    const found = await documentSymbols(document.uri, AbortSignal.timeout(SYMBOLS_MILLISECONDS));
    const place = placeCode(document.getText(), code, found.ok ? found.value.map(toDeclared) : []);
    // A code block has no line break at its end, lines of a file have one.
    const text = code.endsWith('\n') ? code : `${code}\n`;
    if (place === 'whole_file') return [{ range: new vscode.Range(0, 0, document.lineCount, 0), text }];
    if (place !== 'unknown') {
      return place.map((one) => ({
        range: document.validateRange(new vscode.Range(one.firstLine, 0, one.endLine, 0)),
        // The last line of a file may have no line break.
        text: one.endLine < document.lineCount ? `${one.text}\n` : one.text,
      }));
    }
    const name = vscode.workspace.asRelativePath(document.uri);
    this.#notice(
      vscode.l10n.t(
        'The place for this code was not found in {0}. The preview inserts it at the cursor. To replace lines, select them and apply the code again.',
        name,
      ),
    );
    // Whole lines: never in the middle of a line.
    const isBlank = document.lineAt(cursor.line).isEmptyOrWhitespace;
    const line = isBlank ? cursor.line : cursor.line + 1;
    const atEnd = line >= document.lineCount;
    const range = document.validateRange(new vscode.Range(line, 0, line, 0));
    return [{ range, text: atEnd ? `\n${text}` : text }];
  }

  /** Applies the code without saving the file, unless the file has changed since the diff was shown. */
  async apply(): Promise<void> {
    const tab = vscode.window.tabGroups.activeTabGroup.activeTab;
    const key = tab?.input instanceof vscode.TabInputTextDiff ? tab.input.modified.toString() : '';
    const proposal = this.#open.get(key);
    if (tab === undefined || proposal === undefined) return;
    this.#open.delete(key);
    const { document, version, replacements } = proposal;
    await vscode.window.tabGroups.close(tab);
    await vscode.window.showTextDocument(document, { preview: false });
    if (document.version !== version) {
      const name = vscode.workspace.asRelativePath(document.uri);
      this.#notice(vscode.l10n.t('{0} has changed meanwhile. Apply the code again.', name));
      return;
    }
    const edit = new vscode.WorkspaceEdit();
    for (const { range, text } of replacements) edit.replace(document.uri, range, text);
    if (!(await vscode.workspace.applyEdit(edit))) return;
    for (const { text } of replacements) noteApplied(document, text);
  }
}

/** The text of the document after the replacements, which are in order and do not overlap. */
function replaced(document: vscode.TextDocument, replacements: readonly Replacement[]): string {
  const parts: string[] = [];
  let from = new vscode.Position(0, 0);
  for (const { range, text } of replacements) {
    parts.push(document.getText(new vscode.Range(from, range.start)), text);
    from = range.end;
  }
  return parts.join('') + document.getText(new vscode.Range(from, new vscode.Position(document.lineCount, 0)));
}

/** What is declared inside of these kinds can be replaced alone. */
const CONTAINERS = new Set([
  vscode.SymbolKind.Class,
  vscode.SymbolKind.Interface,
  vscode.SymbolKind.Module,
  vscode.SymbolKind.Namespace,
  vscode.SymbolKind.Object,
  vscode.SymbolKind.Struct,
]);

function toDeclared(symbol: vscode.DocumentSymbol | vscode.SymbolInformation): DeclaredSymbol {
  const { start, end } = 'children' in symbol ? symbol.range : symbol.location.range;
  const members = 'children' in symbol && CONTAINERS.has(symbol.kind) ? symbol.children.map(toDeclared) : [];
  return { name: symbol.name, firstLine: start.line, lastLine: end.line, members };
}

let own: vscode.Terminal | undefined;

/**
 * Runs the text without asking: the user chose it. Other terminals are not used, since a program may be reading input
 * there, or a setting of the workspace may have chosen their shell.
 */
export function runInTerminal(text: string): void {
  if (own === undefined || own.exitStatus !== undefined) {
    own = vscode.window.createTerminal({ name: 'Earshot', ...userTerminal() });
  }
  own.show(true);
  own.sendText(text.trimEnd(), true);
}

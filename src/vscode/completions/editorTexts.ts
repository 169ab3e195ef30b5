// Texts from the editor to attach to a message: selection, problems, last terminal command, symbols.
import * as vscode from 'vscode';
import { pathOf } from './workspacePaths.ts';
import { type AttachedText } from './completions.ts';

const LONGEST = 20_000;
const MOST_PROBLEMS = 50;
const LAST_COMMAND_TOOL = 'terminal_last_command';

export function selectionText(): AttachedText | undefined {
  const editor = vscode.window.activeTextEditor;
  if (editor === undefined || editor.selection.isEmpty) return undefined;
  const { document, selection } = editor;
  return linesOf(document, selection, vscode.l10n.t('Selection'));
}

function linesOf(document: vscode.TextDocument, range: vscode.Range, what: string): AttachedText {
  const name = `${what}: ${pathOf(document.uri)}:${range.start.line + 1}-${range.end.line + 1}`;
  return { name, text: fence(document.getText(range), document.languageId) };
}

/** The problems of one file, or of the whole workspace. */
export function problemsText(uri?: vscode.Uri): AttachedText | undefined {
  const all =
    uri === undefined ? vscode.languages.getDiagnostics() : [[uri, vscode.languages.getDiagnostics(uri)] as const];
  const lines = all.flatMap(([file, problems]) => problems.map((problem) => describeProblem(file, problem)));
  if (lines.length === 0) return undefined;
  const more = lines.length > MOST_PROBLEMS ? [`… and ${lines.length - MOST_PROBLEMS} more`] : [];
  const name = uri === undefined ? vscode.l10n.t('Problems') : vscode.l10n.t('Problems of {0}', pathOf(uri));
  return { name, text: [...lines.slice(0, MOST_PROBLEMS), ...more].join('\n') };
}

export function describeProblem(uri: vscode.Uri, { range, severity, message, source }: vscode.Diagnostic): string {
  const { line, character } = range.start;
  const level = vscode.DiagnosticSeverity[severity].toLowerCase();
  return `${pathOf(uri)}:${line + 1}:${character + 1}: ${level}: ${message}${source === undefined ? '' : ` (${source})`}`;
}

/** The last command of the active terminal, as VS Code's own tool prints it. */
export async function terminalText(): Promise<AttachedText | undefined> {
  if (!vscode.lm.tools.some(({ name }) => name === LAST_COMMAND_TOOL)) return undefined;
  const given = { input: {}, toolInvocationToken: undefined };
  const { content } = await vscode.lm.invokeTool(LAST_COMMAND_TOOL, given);
  const text = content.map((part) => (part instanceof vscode.LanguageModelTextPart ? part.value : '')).join('');
  return text.trim() === '' ? undefined : { name: vscode.l10n.t('Last terminal command'), text: fence(text, '') };
}

/** Only the location of the symbol; its file is attached separately, under the workspace's rules. */
export function symbolText({ location, name }: vscode.SymbolInformation): AttachedText {
  const place = `${pathOf(location.uri)}:${location.range.start.line + 1}`;
  return { name: vscode.l10n.t('Symbol {0}', name), text: place };
}

export function fence(text: string, language: string): string {
  const cut = text.length > LONGEST ? `${text.slice(0, LONGEST)}\n… (cut here)` : text;
  const longest = Math.max(2, ...[...cut.matchAll(/`{3,}/g)].map(([ticks]) => ticks.length));
  const ticks = '`'.repeat(longest + 1);
  return `${ticks}${language}\n${cut}\n${ticks}`;
}

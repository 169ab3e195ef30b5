// Commands in VS Code's menus that attach something to the chat: selection, files, problems, terminal text.
import * as vscode from 'vscode';
import { type CommandHandlers } from '../commands.ts';
import { COMMANDS } from '../ids.ts';
import { type AttachedText } from './completions.ts';
import { describeProblem, problemsText, selectionText, terminalText } from './editorTexts.ts';
import { pathOf } from './workspacePaths.ts';

export interface EditorCommandDeps {
  reveal(): Promise<void>;
  /** A file or a folder. */
  attach(uri: vscode.Uri): Promise<void>;
  attachText(text: AttachedText): Promise<void>;
  /** Sends a message as the user. */
  send(text: string): Promise<void>;
}

export function editorCommands({ reveal, attach, attachText, send }: EditorCommandDeps) {
  const attachChosen = async (first: unknown, all: unknown) => {
    const chosen = Array.isArray(all) ? all : [first ?? vscode.window.activeTextEditor?.document.uri];
    await reveal();
    for (const uri of chosen) if (uri instanceof vscode.Uri) await attach(uri);
  };
  const attachOrInform = async (text: AttachedText | undefined) => {
    if (text === undefined) {
      await vscode.window.showInformationMessage(vscode.l10n.t('There is nothing to attach.'));
      return;
    }
    await reveal();
    await attachText(text);
  };
  return {
    [COMMANDS.sendSelection]: () => attachOrInform(selectionText()),
    [COMMANDS.attachFile]: attachChosen,
    [COMMANDS.attachFolder]: attachChosen,
    [COMMANDS.attachProblems]: () => attachOrInform(problemsText(vscode.window.activeTextEditor?.document.uri)),
    [COMMANDS.attachTerminal]: async () => attachOrInform(await terminalText()),
    [COMMANDS.explainProblem]: async (given: unknown) => {
      await reveal();
      await send(`${vscode.l10n.t('Explain this problem:')}\n${problemIn(given)}`);
    },
    [COMMANDS.fixProblem]: async (given: unknown) => {
      await reveal();
      await send(`${vscode.l10n.t('Fix this problem:')}\n${problemIn(given)}`);
    },
  } satisfies Partial<CommandHandlers>;
}

/** The problem that the lightbulb passed, or else those at the cursor. */
function problemIn(given: unknown): string {
  if (typeof given === 'string') return given;
  const editor = vscode.window.activeTextEditor;
  if (editor === undefined) return '';
  const { document, selection } = editor;
  const problems = vscode.languages.getDiagnostics(document.uri).filter(({ range }) => range.intersection(selection));
  if (problems.length === 0) return `${pathOf(document.uri)}:${selection.active.line + 1}`;
  return problems.map((problem) => describeProblem(document.uri, problem)).join('\n');
}

/** *Explain* and *Fix* in the lightbulb of every problem. */
export const problemActions: vscode.CodeActionProvider = {
  provideCodeActions: (document, _range, { diagnostics }) =>
    diagnostics.slice(0, 1).flatMap((problem) => {
      const text = describeProblem(document.uri, problem);
      const action = (title: string, command: string) => {
        const made = new vscode.CodeAction(title, vscode.CodeActionKind.QuickFix);
        made.command = { command, title, arguments: [text] };
        made.diagnostics = [problem];
        return made;
      };
      return [
        action(vscode.l10n.t('Fix with Earshot'), COMMANDS.fixProblem),
        action(vscode.l10n.t('Explain with Earshot'), COMMANDS.explainProblem),
      ];
    }),
};

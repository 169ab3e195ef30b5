// Asks the user before tasks run with a program or an environment that the workspace's settings choose. The editor
// applies these settings to every task. The files that they name cannot be pinned, so each window asks for itself.
import * as vscode from 'vscode';
import { printWholePath } from '../../base/printPath.ts';
import { workspaceTerminal } from './shell.ts';

/** A dialog cannot show more; what is not shown cannot be approved. */
const MOST_SHOWN = 3000;

export class TerminalApproval {
  readonly #report: (error: unknown) => void;
  /** The printed settings that the user has approved. */
  #approved = '';
  #offering = false;

  constructor(report: (error: unknown) => void) {
    this.#report = report;
  }

  /** The names of the settings that need approval first; empty: tasks may run. */
  get missing(): readonly string[] {
    return printTerminal() === this.#approved ? [] : Object.keys(workspaceTerminal());
  }

  /** Asks without waiting for the answer. */
  offer(): void {
    if (this.#offering) return;
    this.#offering = true;
    void this.#ask()
      .finally(() => (this.#offering = false))
      .catch(this.#report);
  }

  async #ask(): Promise<void> {
    const review = vscode.l10n.t('Review…');
    const message = vscode.l10n.t(
      'The workspace settings choose the program or the environment in which tasks run. Earshot runs tasks only after your approval.',
    );
    if ((await vscode.window.showInformationMessage(message, review)) !== review) return;
    const shown = printTerminal();
    if (shown.length > MOST_SHOWN) {
      const tooLong = vscode.l10n.t('These workspace settings are too long to be approved.');
      await vscode.window.showWarningMessage(tooLong);
      return;
    }
    const detail = [
      shown,
      vscode.l10n.t('Files that these settings name run with your rights, whatever their content is later.'),
      vscode.l10n.t('You are asked again in each window, and when these settings change.'),
    ].join('\n\n');
    const approve = vscode.l10n.t('Approve');
    const question = vscode.l10n.t('Run tasks with these settings of the workspace?');
    const answer = await vscode.window.showWarningMessage(question, { modal: true, detail }, approve);
    if (answer === approve) this.#approved = shown;
  }
}

/** One line for each setting; empty if there is none. */
function printTerminal(): string {
  return Object.entries(workspaceTerminal())
    .map(([name, value]) => `${name}: ${printWholePath(JSON.stringify(value))}`)
    .join('\n');
}

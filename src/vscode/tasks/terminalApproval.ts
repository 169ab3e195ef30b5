// Asks the user before tasks run with a program or an environment that the workspace's settings choose.
import * as vscode from 'vscode';
import { printWholePath } from '../../base/printPath.ts';
import { type WaitingApprovals } from '../waitingApprovals.ts';
import { workspaceTerminal } from './shell.ts';

/** A dialog cannot show more; what is not shown cannot be approved. */
const MOST_SHOWN = 3000;
const SUBJECT = 'terminal of tasks';

/**
 * The editor applies these settings to every task. The files that they name cannot be pinned, so each window asks for
 * itself.
 */
export class TerminalApproval {
  readonly #waiting: Pick<WaitingApprovals, 'ask' | 'withdraw'>;
  readonly #report: (error: unknown) => void;
  /** The printed settings that the user has approved. */
  #approved = '';
  /** Those that the open question shows. */
  #asked: string | undefined;

  constructor(waiting: Pick<WaitingApprovals, 'ask' | 'withdraw'>, report: (error: unknown) => void) {
    this.#waiting = waiting;
    this.#report = report;
  }

  /** The names of the settings that need approval first; empty: tasks may run. */
  get missing(): readonly string[] {
    return printTerminal() === this.#approved ? [] : Object.keys(workspaceTerminal());
  }

  /** Whether what there is to approve can be shown whole. */
  get canBeShown(): boolean {
    return printTerminal().length <= MOST_SHOWN;
  }

  /** Asks without waiting for the answer. Settings that have changed meanwhile are asked for anew. */
  offer(): void {
    const shown = printTerminal();
    if (this.#asked === shown) return;
    this.#asked = shown;
    void this.#ask(shown)
      .finally(() => {
        if (this.#asked === shown) this.#asked = undefined;
      })
      .catch(this.#report);
  }

  /** The settings have changed: a question about others would approve what is not used. */
  changed(): void {
    if (this.#asked === undefined || this.#asked === printTerminal()) return;
    this.#waiting.withdraw(SUBJECT);
    if (this.missing.length > 0 && this.canBeShown) this.offer();
  }

  async #ask(shown: string): Promise<void> {
    const detail = [
      shown,
      vscode.l10n.t('Files that these settings name run with your rights, whatever their content is later.'),
      vscode.l10n.t('You are asked again in each window, and when these settings change.'),
    ].join('\n\n');
    const isApproved = await this.#waiting.ask({
      subject: SUBJECT,
      isProgram: true,
      name: vscode.l10n.t('the terminal of tasks'),
      waiting: vscode.l10n.t(
        'Earshot runs no tasks: the workspace settings choose the program or the environment of their terminal, which needs your approval.',
      ),
      announcement: vscode.l10n.t(
        'The workspace settings choose the program or the environment in which tasks run. Earshot runs tasks only after your approval.',
      ),
      question: vscode.l10n.t('Run tasks with these settings of the workspace?'),
      detail,
      approve: vscode.l10n.t('Approve'),
      refuse: vscode.l10n.t('Do Not Run'),
    });
    if (isApproved) this.#approved = shown;
  }
}

/** One line for each setting; empty if there is none. */
function printTerminal(): string {
  return Object.entries(workspaceTerminal())
    .map(([name, value]) => `${name}: ${printWholePath(JSON.stringify(value))}`)
    .join('\n');
}

// Questions whether a hook, an MCP server or a plugin may run. Each one stays open until it is answered: a toast
// announces it unless the chat is visible, and the chat and its badge show it until then.
import * as vscode from 'vscode';
import { type Disposable } from '../base/disposable.ts';
import { type PassingMessage, showPassing } from './passingMessage.ts';

export interface ApprovalQuestion {
  /** What is asked for; a later question for the same subject replaces this one. */
  readonly subject: string;
  /** What waits, within a list: `the hook ./guard.sh`. */
  readonly name: string;
  /** What does not run until then, for the chat. */
  readonly waiting: string;
  /** For the toast. */
  readonly announcement: string;
  readonly question: string;
  readonly detail: string;
  /** The button that approves. */
  readonly approve: string;
}

interface OpenQuestion extends ApprovalQuestion {
  answer(approved: boolean): void;
  /** Aborted when it is answered. */
  readonly answered: AbortSignal;
}

export interface WaitingApprovalsDeps {
  /** Whether the user sees the open questions in the chat. */
  isChatVisible(): boolean;
  report(error: unknown): void;
}

export class WaitingApprovals implements Disposable {
  readonly #open = new Map<string, OpenQuestion>();
  readonly #changed = new vscode.EventEmitter<void>();
  readonly #deps: WaitingApprovalsDeps;

  constructor(deps: WaitingApprovalsDeps) {
    this.#deps = deps;
  }

  /** Fires when a question was opened or answered. */
  readonly onDidChange = this.#changed.event;

  get all(): readonly ApprovalQuestion[] {
    return [...this.#open.values()];
  }

  /** Resolves to false if the user refuses, `signal` aborts, or another question replaces it. */
  ask(question: ApprovalQuestion, signal?: AbortSignal): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    this.#open.get(question.subject)?.answer(false);
    const answered = new AbortController();
    const open: OpenQuestion = {
      ...question,
      answered: answered.signal,
      answer: (approved) => {
        if (this.#open.get(question.subject) === open) this.#open.delete(question.subject);
        signal?.removeEventListener('abort', withdraw);
        answered.abort();
        resolve(approved);
        this.#changed.fire();
      },
    };
    const withdraw = () => open.answer(false);
    this.#open.set(question.subject, open);
    signal?.addEventListener('abort', withdraw, { once: true });
    this.#changed.fire();
    if (signal?.aborted === true) withdraw();
    else void this.#announceQuestion(open).catch((error: unknown) => this.#deps.report(error));
    return promise;
  }

  /** Shows the open question of this subject. False: there is none. */
  async review(subject: string): Promise<boolean> {
    const open = this.#open.get(subject);
    if (open !== undefined) await this.#show(open);
    return open !== undefined;
  }

  /** Shows all open questions, one after the other, until one is left open. */
  async reviewAll(): Promise<void> {
    for (const open of [...this.#open.values()]) if (!(await this.#show(open))) return;
  }

  /** For something that is not configured any more. */
  withdraw(subject: string): void {
    this.#open.get(subject)?.answer(false);
  }

  /** Shows something that the chat shows too, unless it is visible: a toast would cover its composer. */
  async announce(message: PassingMessage): Promise<boolean> {
    return !this.#deps.isChatVisible() && (await showPassing(message));
  }

  dispose(): void {
    for (const open of [...this.#open.values()]) open.answer(false);
    this.#changed.dispose();
  }

  async #announceQuestion(open: OpenQuestion): Promise<void> {
    const message = { text: open.announcement, action: vscode.l10n.t('Review…'), gone: open.answered };
    if (await this.announce(message)) await this.#show(open);
  }

  /** Resolves to whether it is answered. Closing the dialog leaves the question open. */
  async #show(open: OpenQuestion): Promise<boolean> {
    if (this.#open.get(open.subject) !== open) return true;
    const { question, detail, approve } = open;
    const refuse = vscode.l10n.t('Do Not Run');
    const chosen = await vscode.window.showWarningMessage(question, { modal: true, detail }, approve, refuse);
    if (chosen !== undefined) open.answer(chosen === approve);
    return chosen !== undefined;
  }
}

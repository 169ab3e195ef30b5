// Questions whether a hook, an MCP server, a plugin or an agent may do something, and offers such as signing in. Each one
// stays open until it is answered: a toast announces it unless the chat is visible, and the chat and its badge show it
// until then.
import * as vscode from 'vscode';
import { type Disposable } from '../base/disposable.ts';
import { type PassingMessage, showPassing } from './passingMessage.ts';

export interface WaitingQuestion {
  /** What is asked for; a later question for the same subject replaces this one. */
  readonly subject: string;
  /** What waits, within a list: `the hook ./guard.sh`. */
  readonly name: string;
  /** What does not run until then, for the chat. */
  readonly waiting: string;
  /** A program that does not run until then. */
  readonly isProgram: boolean;
  /** For the toast. */
  readonly announcement: string;
  readonly question: string;
  readonly detail: string;
}

export interface ApprovalQuestion extends WaitingQuestion {
  /** The button that approves. */
  readonly approve: string;
  /** The button that does not. */
  readonly refuse: string;
}

/** A button of the question, and what it means. */
export interface Choice<A> {
  readonly label: string;
  readonly answer: A;
}

interface OpenQuestion extends WaitingQuestion {
  /** The labels of the buttons. */
  readonly labels: readonly string[];
  /** Undefined: withdrawn. */
  answer(label: string | undefined): void;
  /** Aborted when it is answered. */
  readonly answered: AbortSignal;
}

/** Something that the user can do about a state, or to undo what was just done; it ends with its reason. */
export interface WaitingOffer {
  /** A later offer for the same subject replaces this one. */
  readonly subject: string;
  readonly level: 'info' | 'warning';
  readonly text: string;
  /** The label of the button. */
  readonly action: string;
}

interface OpenOffer extends WaitingOffer {
  end(isTaken: boolean): void;
}

export interface WaitingApprovalsDeps {
  /** Whether the user sees the open questions in the chat. */
  isChatVisible(): boolean;
  report(error: unknown): void;
}

export class WaitingApprovals implements Disposable {
  readonly #open = new Map<string, OpenQuestion>();
  readonly #offers = new Map<string, OpenOffer>();
  readonly #changed = new vscode.EventEmitter<void>();
  readonly #deps: WaitingApprovalsDeps;

  constructor(deps: WaitingApprovalsDeps) {
    this.#deps = deps;
  }

  /** Fires when a question or an offer was opened or answered. */
  readonly onDidChange = this.#changed.event;

  get all(): readonly WaitingQuestion[] {
    return [...this.#open.values()];
  }

  get offers(): readonly WaitingOffer[] {
    return [...this.#offers.values()];
  }

  /** Resolves to false if the user refuses, `signal` aborts, or another question replaces it. */
  async ask({ approve, refuse, ...question }: ApprovalQuestion, signal?: AbortSignal): Promise<boolean> {
    const choices = [
      { label: approve, answer: true },
      { label: refuse, answer: false },
    ];
    return (await this.choose(question, choices, signal)) === true;
  }

  /** Resolves to undefined if `signal` aborts, or another question replaces it. */
  choose<A>(question: WaitingQuestion, choices: readonly Choice<A>[], signal?: AbortSignal): Promise<A | undefined> {
    const { promise, resolve } = Promise.withResolvers<A | undefined>();
    this.withdraw(question.subject);
    const answered = new AbortController();
    const open: OpenQuestion = {
      ...question,
      labels: choices.map(({ label }) => label),
      answered: answered.signal,
      answer: (chosen) => {
        if (this.#open.get(question.subject) === open) this.#open.delete(question.subject);
        signal?.removeEventListener('abort', withdraw);
        answered.abort();
        resolve(choices.find(({ label }) => label === chosen)?.answer);
        this.#changed.fire();
      },
    };
    const withdraw = () => open.answer(undefined);
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
    this.#open.get(subject)?.answer(undefined);
  }

  /** Resolves to whether the user took the offer, in the chat or in the toast, before `gone`. */
  async offer(offer: WaitingOffer, gone: AbortSignal): Promise<boolean> {
    if (gone.aborted) return false;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    this.#offers.get(offer.subject)?.end(false);
    const ended = new AbortController();
    const open: OpenOffer = {
      ...offer,
      end: (isTaken) => {
        if (this.#offers.get(offer.subject) === open) this.#offers.delete(offer.subject);
        gone.removeEventListener('abort', leave);
        ended.abort();
        resolve(isTaken);
        this.#changed.fire();
      },
    };
    const leave = () => open.end(false);
    gone.addEventListener('abort', leave, { once: true });
    this.#offers.set(offer.subject, open);
    this.#changed.fire();
    void this.announce({ ...offer, gone: ended.signal })
      .then((isTaken) => isTaken && open.end(true))
      .catch((error: unknown) => this.#deps.report(error));
    return promise;
  }

  /** The user took the offer in the chat. */
  take(subject: string): void {
    this.#offers.get(subject)?.end(true);
  }

  /** Shows something that the chat shows too, unless it is visible: a toast would cover its composer. */
  async announce(message: PassingMessage): Promise<boolean> {
    return !this.#deps.isChatVisible() && (await showPassing(message));
  }

  dispose(): void {
    for (const open of [...this.#open.values()]) open.answer(undefined);
    for (const open of [...this.#offers.values()]) open.end(false);
    this.#changed.dispose();
  }

  async #announceQuestion(open: OpenQuestion): Promise<void> {
    const message = { text: open.announcement, action: vscode.l10n.t('Review…'), gone: open.answered };
    if (await this.announce(message)) await this.#show(open);
  }

  /** Resolves to whether it is answered. Closing the dialog leaves the question open. */
  async #show(open: OpenQuestion): Promise<boolean> {
    if (this.#open.get(open.subject) !== open) return true;
    const { question, detail, labels } = open;
    const chosen = await vscode.window.showWarningMessage(question, { modal: true, detail }, ...labels);
    if (chosen !== undefined) open.answer(chosen);
    return chosen !== undefined;
  }
}

// Hands a conversation over to a window whose user chose *Continue here*: at the end of a cycle, between two cycles, or
// when nothing is running.
import { type Disposable } from '../../base/disposable.ts';
import { type ConversationLog } from '../conversation/log.ts';
import { type UserRequests } from '../ports/ports.ts';

export interface HandOverDeps {
  readonly log: ConversationLog;
  readonly requests: UserRequests;
  isRunning(): boolean;
  /** The turn is open, but neither the model nor a tool is running, so another window can continue it. */
  isBetweenCycles(): boolean;
  /** Called once for each request, as soon as the conversation can be released. */
  release(): void;
  /** An approval or a question was opened or closed. */
  asked(): void;
}

export class HandOver implements Disposable {
  readonly #deps: HandOverDeps;
  readonly #listening: Disposable;
  #requested = false;

  constructor(deps: HandOverDeps) {
    this.#deps = deps;
    this.#listening = deps.requests.onDidChange(({ type, open }) => {
      if (open.conversation !== deps.log.id || type === 'changed') return;
      if (type === 'opened') this.check();
      deps.asked();
    });
  }

  dispose(): void {
    this.#listening.dispose();
  }

  /** Call when another window requests the conversation. */
  request(): void {
    this.#requested = true;
    this.check();
  }

  /** The number of open approvals and questions. */
  get asking(): number {
    return this.#deps.requests.countOf(this.#deps.log.id);
  }

  /** Call when a turn has ended. Returns whether the conversation was released to another window. */
  check(): boolean {
    const unanswered = this.#deps.log.state.turn.unanswered.length;
    // A turn that only waits for the user: the user is now in the other window, which asks again.
    const waits = unanswered > 0 && this.asking === unanswered;
    return (!this.#deps.isRunning() || waits || this.#deps.isBetweenCycles()) && this.#release();
  }

  /** Call when the results of a cycle are complete. */
  cycleEnded(): void {
    this.#release();
  }

  #release(): boolean {
    if (!this.#requested || !this.#deps.log.owned) return false;
    this.#requested = false;
    this.#deps.release();
    return true;
  }
}

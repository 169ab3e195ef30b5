// Hands a conversation over to a window whose user chose *Continue here*: at the end of a cycle, between two cycles, or
// when nothing is running.
import { type ConversationLog } from '../conversation/log.ts';
import {
  type ApprovalAnswer,
  type ApprovalRequest,
  type Frontend,
  type InquiryAnswer,
  type InquiryRequest,
  type PartialAnswer,
  type QueuedMessage,
} from '../ports/ports.ts';

export interface HandOverDeps {
  readonly log: ConversationLog;
  readonly frontend: Frontend;
  isRunning(): boolean;
  /** The turn is open, but neither the model nor a tool is running, so another window can continue it. */
  isBetweenCycles(): boolean;
  /** Called once for each request, as soon as the conversation can be released. */
  release(): void;
  /** An approval or a question was opened or closed. */
  asked(): void;
}

/** Wraps the front end, since a turn that only waits for the user can be handed over too. */
export class HandOver implements Frontend {
  readonly #deps: HandOverDeps;
  #requested = false;
  #asking = 0;

  constructor(deps: HandOverDeps) {
    this.#deps = deps;
  }

  /** Call when another window requests the conversation. */
  request(): void {
    this.#requested = true;
    this.check();
  }

  /** The number of open approvals and questions. */
  get asking(): number {
    return this.#asking;
  }

  returnMessages(conversation: string, texts: readonly QueuedMessage[]): Promise<boolean> {
    return this.#deps.frontend.returnMessages(conversation, texts);
  }

  /** Call when a turn has ended. Returns whether the conversation was released to another window. */
  check(): boolean {
    const unanswered = this.#deps.log.state.turn.unanswered.length;
    // The user is now in the other window, which asks again.
    const waits = unanswered > 0 && this.#asking === unanswered;
    return (!this.#deps.isRunning() || waits || this.#deps.isBetweenCycles()) && this.#release();
  }

  /** Call when the results of a cycle are complete. */
  cycleEnded(): void {
    this.#release();
  }

  render(conversation: string, partial: PartialAnswer): void {
    this.#deps.frontend.render(conversation, partial);
  }

  approve(request: ApprovalRequest, signal: AbortSignal): Promise<ApprovalAnswer> {
    return this.#whileAsked(this.#deps.frontend.approve(request, signal));
  }

  approvalChanged(request: ApprovalRequest): void {
    this.#deps.frontend.approvalChanged(request);
  }

  ask(request: InquiryRequest, signal: AbortSignal): Promise<InquiryAnswer> {
    return this.#whileAsked(this.#deps.frontend.ask(request, signal));
  }

  async #whileAsked<T>(answer: Promise<T>): Promise<T> {
    this.#asking += 1;
    this.check();
    this.#deps.asked();
    try {
      return await answer;
    } finally {
      this.#asking -= 1;
      this.#deps.asked();
    }
  }

  #release(): boolean {
    if (!this.#requested || !this.#deps.log.owned) return false;
    this.#requested = false;
    this.#deps.release();
    return true;
  }
}

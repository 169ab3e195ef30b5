// Hands a conversation over to a window that said *Continue here*: at a cycle's end, between two, or when nothing runs.
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
  /** The turn is open and neither the model nor a tool is at work for it: another window can go on with it. */
  isBetweenCycles(): boolean;
  /** Called once for each request, as soon as it may be. */
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

  /** Another window wants it. */
  request(): void {
    this.#requested = true;
    this.check();
  }

  /** How many approvals and questions are open. */
  get asking(): number {
    return this.#asking;
  }

  returnMessages(conversation: string, texts: readonly QueuedMessage[]): Promise<boolean> {
    return this.#deps.frontend.returnMessages(conversation, texts);
  }

  /** Called when a turn has ended. Returns whether another window has it from now on. */
  check(): boolean {
    const unanswered = this.#deps.log.state.turn.unanswered.length;
    // The user who is asked is in the other window now: the question is asked again there.
    const waits = unanswered > 0 && this.#asking === unanswered;
    return (!this.#deps.isRunning() || waits || this.#deps.isBetweenCycles()) && this.#release();
  }

  /** Called when the results of a cycle are complete. */
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

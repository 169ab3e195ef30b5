// A Frontend that answers approvals as a test defines and records what was rendered.
import {
  type ApprovalAnswer,
  type ApprovalRequest,
  type PartialAnswer as Drawn,
  type Frontend,
  type InquiryAnswer,
  type InquiryRequest,
  type QueuedMessage,
} from '../../../src/core/ports/ports.ts';

export class TestFrontend implements Frontend {
  readonly drawn: Drawn[] = [];
  #waiting: { matches(drawn: Drawn): boolean; resolve(drawn: Drawn): void }[] = [];
  readonly asked: ApprovalRequest[] = [];
  answer: (request: ApprovalRequest, signal: AbortSignal) => Promise<ApprovalAnswer> = async () => ({
    action: 'approve',
    by: 'user',
  });

  readonly questions: InquiryRequest[] = [];
  answerQuestion: (request: InquiryRequest, signal: AbortSignal) => Promise<InquiryAnswer> = async () => {
    throw new Error('unexpected question');
  };
  /** The queued messages that were returned to the front end, oldest first; it accepts them only if `keepsReturned`. */
  readonly returned: QueuedMessage[] = [];
  keepsReturned = true;

  async returnMessages(_conversation: string, texts: readonly QueuedMessage[]): Promise<boolean> {
    if (this.keepsReturned) this.returned.push(...texts);
    return this.keepsReturned;
  }

  render(_conversation: string, drawn: Drawn): void {
    this.drawn.push(drawn);
    const due = this.#waiting.filter(({ matches }) => matches(drawn));
    this.#waiting = this.#waiting.filter((one) => !due.includes(one));
    for (const { resolve } of due) resolve(drawn);
  }

  /** Resolves with the next rendered part of this type. */
  nextDrawn<T extends Drawn['type']>(type: T): Promise<Extract<Drawn, { type: T }>> {
    return new Promise((resolve) => {
      const matches = (drawn: Drawn) => drawn.type === type;
      this.#waiting.push({ matches, resolve: (drawn) => resolve(drawn as Extract<Drawn, { type: T }>) });
    });
  }

  /** Approvals that changed while open, oldest first. */
  readonly changed: ApprovalRequest[] = [];
  onApprovalChanged: (request: ApprovalRequest) => void = () => undefined;

  approvalChanged(request: ApprovalRequest): void {
    this.changed.push(request);
    this.onApprovalChanged(request);
  }

  approve(request: ApprovalRequest, signal: AbortSignal): Promise<ApprovalAnswer> {
    this.asked.push(request);
    return this.answer(request, signal);
  }

  ask(request: InquiryRequest, signal: AbortSignal): Promise<InquiryAnswer> {
    this.questions.push(request);
    return this.answerQuestion(request, signal);
  }
}

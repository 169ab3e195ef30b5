// A Frontend that answers approvals as a test defines and records what was rendered. Its register is the real one.
import { Requests } from '../../../src/core/client/requests.ts';
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
  readonly requests: Requests = new AnsweredRequests(this);
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
  /** Approvals that changed while open, oldest first. */
  readonly changed: ApprovalRequest[] = [];
  onApprovalChanged: (request: ApprovalRequest) => void = () => undefined;

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
}

/** The real register; every request is answered by the test's front end. */
class AnsweredRequests extends Requests {
  readonly #frontend: TestFrontend;

  constructor(frontend: TestFrontend) {
    super((error) => {
      throw error;
    });
    this.#frontend = frontend;
  }

  override approve(request: ApprovalRequest, signal: AbortSignal): Promise<ApprovalAnswer> {
    const { conversation, call } = request;
    const given = super.approve(request, signal);
    this.#frontend.asked.push(request);
    const answer = (answered: ApprovalAnswer) =>
      void this.answer({ type: 'approval', conversation, id: call.id, answer: answered });
    return Promise.race([
      given,
      this.#frontend
        .answer(request, signal)
        .then(answer)
        .then(() => given),
    ]);
  }

  override approvalChanged(request: ApprovalRequest): void {
    super.approvalChanged(request);
    this.#frontend.changed.push(request);
    this.#frontend.onApprovalChanged(request);
  }

  override ask(request: InquiryRequest, signal: AbortSignal): Promise<InquiryAnswer> {
    const given = super.ask(request, signal);
    this.#frontend.questions.push(request);
    const answer = (answered: InquiryAnswer) =>
      void this.answer({ type: 'question', id: request.id, answer: answered });
    return Promise.race([
      given,
      this.#frontend
        .answerQuestion(request, signal)
        .then(answer)
        .then(() => given),
    ]);
  }
}

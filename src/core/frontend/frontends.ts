// Combines several front ends into one: renders to all, asks all that can answer, and uses the first answer.
import { type Disposable, toDisposable } from '../../base/disposable.ts';
import {
  type ApprovalAnswer,
  type ApprovalRequest,
  type Clock,
  type Frontend,
  type InquiryAnswer,
  type InquiryRequest,
  type Logger,
  type PartialAnswer,
  type QueuedMessage,
} from '../ports/ports.ts';
import { SharedRequests } from './sharedRequests.ts';

/** After this time, the next front end is offered the queued messages. */
const LONGEST_RETURN = 10_000;

export type AnsweredRequest =
  | { readonly type: 'approval'; readonly request: ApprovalRequest; readonly answer: ApprovalAnswer }
  | { readonly type: 'question'; readonly request: InquiryRequest; readonly answer: InquiryAnswer };

/** A front end that is asked only for what it implements. */
export interface AttachedFrontend extends Pick<Frontend, 'render'>, Partial<Omit<Frontend, 'render'>> {
  /** Called after another front end has answered (`answer.by`) and the signal of the request was aborted. */
  answeredElsewhere?(answered: AnsweredRequest): void;
}

/** No front end can harm another: errors of one are logged, and another may answer what one never answers. */
export class Frontends implements Frontend {
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #attached = new Set<AttachedFrontend>();
  readonly #approvals: SharedRequests<AttachedFrontend, ApprovalRequest, ApprovalAnswer>;
  readonly #questions: SharedRequests<AttachedFrontend, InquiryRequest, InquiryAnswer>;

  constructor({ clock, logger }: { readonly clock: Clock; readonly logger: Logger }) {
    this.#clock = clock;
    this.#logger = logger;
    const report = (error: unknown) => this.#report(error);
    const guard = <T>(action: () => T) => this.#guard(action);
    this.#approvals = new SharedRequests({
      ask: (frontend, request, signal) => frontend.approve?.(request, signal),
      isSame: (one, other) => one.conversation === other.conversation && one.call.id === other.call.id,
      notifyChanged: (frontend, request) => frontend.approvalChanged?.(request),
      notifyAnswered: (frontend, request, answer) =>
        frontend.answeredElsewhere?.({ type: 'approval', request, answer }),
      guard,
      report,
    });
    this.#questions = new SharedRequests({
      ask: (frontend, request, signal) => frontend.ask?.(request, signal),
      isSame: (one, other) => one.id === other.id,
      notifyAnswered: (frontend, request, answer) =>
        frontend.answeredElsewhere?.({ type: 'question', request, answer }),
      guard,
      report,
    });
  }

  /** Also asks it the requests that are already open. Disposing removes it. */
  add(frontend: AttachedFrontend): Disposable {
    this.#attached.add(frontend);
    this.#approvals.join(frontend);
    this.#questions.join(frontend);
    return toDisposable(() => {
      this.#attached.delete(frontend);
      this.#approvals.leave(frontend);
      this.#questions.leave(frontend);
    });
  }

  render(conversation: string, partial: PartialAnswer): void {
    for (const frontend of this.#attached) this.#guard(() => frontend.render(conversation, partial));
  }

  approve(request: ApprovalRequest, signal: AbortSignal): Promise<ApprovalAnswer> {
    return this.#approvals.open(this.#attached, request, signal);
  }

  approvalChanged(request: ApprovalRequest): void {
    this.#approvals.change(request);
  }

  ask(request: InquiryRequest, signal: AbortSignal): Promise<InquiryAnswer> {
    return this.#questions.open(this.#attached, request, signal);
  }

  /** Offers the messages to one front end after the other, so that only one gets them. */
  async returnMessages(conversation: string, texts: readonly QueuedMessage[]): Promise<boolean> {
    for (const frontend of this.#attached) {
      if (await this.#returnMessagesTo(frontend, conversation, texts)) return true;
    }
    return false;
  }

  async #returnMessagesTo(
    frontend: AttachedFrontend,
    conversation: string,
    texts: readonly QueuedMessage[],
  ): Promise<boolean> {
    const kept = this.#guard(() => frontend.returnMessages?.(conversation, texts));
    if (kept === undefined) return false;
    const { promise: late, resolve } = Promise.withResolvers<false>();
    const timer = this.#clock.after(LONGEST_RETURN, () => resolve(false));
    try {
      return await Promise.race([kept, late]);
    } catch (error) {
      this.#report(error);
      return false;
    } finally {
      timer.dispose();
    }
  }

  #guard<T>(action: () => T): T | undefined {
    try {
      return action();
    } catch (error) {
      this.#report(error);
      return undefined;
    }
  }

  #report(error: unknown): void {
    this.#logger.error('a front end failed', error);
  }
}

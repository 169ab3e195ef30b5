// The register of open requests to the user: approvals, questions and forms. Every front end shows what is in it, so none
// can miss a request or show one that was answered elsewhere. The first answer counts.
import { type Disposable } from '../../base/disposable.ts';
import { Emitter, type Event } from '../../base/emitter.ts';
import { failed, type Result, succeeded } from '../../base/errors.ts';
import {
  type ApprovalAnswer,
  type ApprovalRequest,
  type InquiryAnswer,
  type InquiryRequest,
  type UserRequests,
} from '../ports/ports.ts';

interface Open {
  readonly conversation: string;
  /** The id of the call to approve, or of the question. Stays the same while the request is open. */
  readonly id: string;
  /** Another one whenever what is shown has changed. */
  readonly revision: number;
}
export interface OpenApproval extends Open {
  readonly type: 'approval';
  readonly request: ApprovalRequest;
}
export interface OpenQuestion extends Open {
  readonly type: 'question';
  readonly request: InquiryRequest;
}
export type OpenRequest = OpenApproval | OpenQuestion;
export type RequestId = Pick<OpenApproval, 'type' | 'conversation' | 'id'> | Pick<OpenQuestion, 'type' | 'id'>;

export interface RequestChange {
  /** `closed` is the last change of a request. */
  readonly type: 'opened' | 'changed' | 'closed';
  readonly open: OpenRequest;
  /** Set if it was closed by an answer; otherwise it was cancelled. */
  readonly answer?: ApprovalAnswer | InquiryAnswer;
}

export type RequestAnswer =
  | {
      readonly type: 'approval';
      readonly conversation: string;
      readonly id: string;
      /** What the answerer was shown. A later change makes *approve* fail; absent: it approves whatever is open. */
      readonly revision?: number | undefined;
      readonly answer: ApprovalAnswer;
    }
  | { readonly type: 'question'; readonly id: string; readonly answer: InquiryAnswer };

/** The open requests as a front end sees them, in this process or through a connection. */
export interface RequestsClient {
  readonly all: readonly OpenRequest[];
  approval(conversation: string, call: string): OpenApproval | undefined;
  question(id: string): OpenQuestion | undefined;
  /** Fires after `all` has changed. Changes arrive in their order, also if a listener makes another change. */
  readonly onDidChange: Event<RequestChange>;
}

const CHANGED = 'What this call would do has changed since it was shown. Review it again.';
/** How many answered requests are remembered, so that the refusal of a late answer can name who answered first. */
const REMEMBERED = 1000;

/** What both kinds of clients share: the list and its changes. */
export class RequestList implements RequestsClient, Disposable {
  readonly #open = new Map<string, OpenRequest>();
  readonly #onDidChange: Emitter<RequestChange>;
  readonly #unsent: RequestChange[] = [];
  #isSending = false;

  constructor(report: (error: unknown) => void) {
    this.#onDidChange = new Emitter(report);
  }

  get onDidChange(): Event<RequestChange> {
    return this.#onDidChange.event;
  }

  get all(): readonly OpenRequest[] {
    return [...this.#open.values()];
  }

  approval(conversation: string, call: string): OpenApproval | undefined {
    return this.#open.get(requestKey({ type: 'approval', conversation, id: call })) as OpenApproval | undefined;
  }

  question(id: string): OpenQuestion | undefined {
    return this.#open.get(requestKey({ type: 'question', id })) as OpenQuestion | undefined;
  }

  dispose(): void {
    this.#onDidChange.dispose();
  }

  /** Adds a request, or replaces the one with the same key. */
  protected put(open: OpenRequest): void {
    const key = requestKey(open);
    const type = this.#open.has(key) ? 'changed' : 'opened';
    this.#open.set(key, open);
    this.#send({ type, open });
  }

  protected remove(which: RequestId, answer?: ApprovalAnswer | InquiryAnswer): void {
    const open = this.#open.get(requestKey(which));
    if (open === undefined) return;
    this.#open.delete(requestKey(which));
    this.#send({ type: 'closed', open, ...(answer && { answer }) });
  }

  /** A listener may close the request that it is notified of: the others get both changes, in their order. */
  #send(change: RequestChange): void {
    this.#unsent.push(change);
    if (this.#isSending) return;
    this.#isSending = true;
    for (let next = this.#unsent.shift(); next !== undefined; next = this.#unsent.shift()) this.#onDidChange.fire(next);
    this.#isSending = false;
  }
}

/** The register itself, in the process that runs the turns. */
export class Requests extends RequestList implements UserRequests {
  /** Resolves the open requests, by key. */
  readonly #resolvers = new Map<string, (answer: ApprovalAnswer | InquiryAnswer) => void>();
  /** Requests that are closed, by key, oldest first. `by`: who answered, or `cancelled`. */
  readonly #closed = new Map<
    string,
    { readonly open: Pick<OpenRequest, 'conversation' | 'id'>; readonly by: string }
  >();
  #revision = 0;

  approve(request: ApprovalRequest, signal: AbortSignal): Promise<ApprovalAnswer> {
    const { conversation, call } = request;
    return this.#ask<ApprovalAnswer>({ type: 'approval', conversation, id: call.id, request }, signal);
  }

  ask(request: InquiryRequest, signal: AbortSignal): Promise<InquiryAnswer> {
    const { conversation, id } = request;
    return this.#ask<InquiryAnswer>({ type: 'question', conversation, id, request }, signal);
  }

  approvalChanged(request: ApprovalRequest): void {
    const open = this.approval(request.conversation, request.call.id);
    if (open !== undefined) this.put({ ...open, request, revision: ++this.#revision });
  }

  countOf(conversation: string): number {
    return this.all.filter((open) => open.conversation === conversation).length;
  }

  /** Fails if the request is not open any more or has changed; then it stays as it is. */
  answer(given: RequestAnswer): Result<void> {
    const key = requestKey(given);
    const resolve = this.#resolvers.get(key);
    if (resolve === undefined) {
      const by = this.#closed.get(key)?.by;
      return failed(
        'already_answered',
        by === undefined ? 'This request is not open.' : `It was already answered by ${by}.`,
      );
    }
    if (given.type === 'approval' && given.answer.action === 'approve' && given.revision !== undefined) {
      const shown = this.approval(given.conversation, given.id)?.revision;
      if (shown !== given.revision) return failed('not_as_approved', CHANGED);
    }
    resolve(given.answer);
    return succeeded(undefined);
  }

  /** Who answered the last closed request that matches: a `by`, or `cancelled`; undefined if there is none. */
  answeredBy(matches: (closed: Pick<OpenRequest, 'conversation' | 'id'>) => boolean): string | undefined {
    return [...this.#closed.values()].findLast(({ open }) => matches(open))?.by;
  }

  #ask<Answer extends ApprovalAnswer | InquiryAnswer>(
    open: Omit<OpenApproval, 'revision'> | Omit<OpenQuestion, 'revision'>,
    signal: AbortSignal,
  ): Promise<Answer> {
    const key = requestKey(open);
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    const close = (answer?: Answer) => {
      signal.removeEventListener('abort', cancel);
      this.#resolvers.delete(key);
      this.#closed.set(key, { open: { conversation: open.conversation, id: open.id }, by: answer?.by ?? 'cancelled' });
      const [oldest] = this.#closed.keys();
      if (this.#closed.size > REMEMBERED && oldest !== undefined) this.#closed.delete(oldest);
      this.remove(open, answer);
    };
    const cancel = () => {
      close();
      reject(new Error('cancelled'));
    };
    if (signal.aborted || this.#resolvers.has(key)) {
      reject(new Error(signal.aborted ? 'cancelled' : `${key} is asked already`));
      return promise;
    }
    this.#resolvers.set(key, (answer) => {
      resolve(answer as Answer);
      close(answer as Answer);
    });
    this.#closed.delete(key);
    signal.addEventListener('abort', cancel, { once: true });
    this.put({ ...open, revision: ++this.#revision });
    return promise;
  }
}

/** Calls of two conversations may have the same id, because the endpoint chooses it. */
export function requestKey(request: RequestId): string {
  return request.type === 'question' ? `question ${request.id}` : `approval ${request.conversation} ${request.id}`;
}

// Remembers the state that was last reported to each conversation until it is known whether the report was delivered.
import { type Clock, type Publisher } from '../core/ports/ports.ts';
import { type Kind, type NotificationDraft } from '../protocol/notification.ts';

export type ReportDraft = Omit<NotificationDraft, 'at'> & Partial<Pick<NotificationDraft, 'at'>>;

export interface ReportOnceDeps {
  readonly clock: Clock;
  readonly publisher: Publisher;
  /** `queued`: forget a report once it is in the log, from which its state is known then. */
  readonly until: 'queued' | 'withdrawn';
  /** Called with the error of a failed publication. */
  failed(error: unknown): void;
}

export interface WithdrawnReport<State> {
  readonly state: State;
  /** The report was not pending any more, so the conversation knows the state. */
  readonly delivered: boolean;
}

/** One state for each conversation and subject. */
export class ReportOnce<State> {
  readonly #deps: ReportOnceDeps;
  readonly #reported = new Map<string, Map<string, State>>();

  constructor(deps: ReportOnceDeps) {
    this.#deps = deps;
  }

  get(conversation: string, subject: string): State | undefined {
    return this.#reported.get(conversation)?.get(subject);
  }

  /** Does not wait for the publications: the throttle may hold them, and the next report must replace them. */
  report(conversation: string, subject: string, state: State, ...drafts: readonly ReportDraft[]): void {
    const { clock, publisher, until, failed } = this.#deps;
    const reported = this.#reported.get(conversation) ?? new Map<string, State>();
    reported.set(subject, state);
    this.#reported.set(conversation, reported);
    const at = new Date(clock.now()).toISOString();
    const published = drafts.map((draft) => publisher.publish({ at, ...draft }, conversation));
    void Promise.all(published)
      .finally(() => {
        if (until === 'queued' && reported.get(subject) === state) reported.delete(subject);
      })
      .catch(failed);
  }

  /** Withdraws the last report if it is pending. Undefined if nothing was reported since the last withdrawal. */
  async withdraw(
    conversation: string,
    subject: string,
    kinds: readonly Kind[],
    reason: string,
  ): Promise<WithdrawnReport<State> | undefined> {
    const state = this.get(conversation, subject);
    if (state === undefined) return undefined;
    this.forget(conversation, subject);
    let delivered = true;
    for (const kind of kinds) {
      if (await this.#deps.publisher.withdraw(kind, subject, reason, conversation)) delivered = false;
    }
    return { state, delivered };
  }

  /** Without a subject: everything of this conversation. */
  forget(conversation: string, subject?: string): void {
    if (subject === undefined) this.#reported.delete(conversation);
    else this.#reported.get(conversation)?.delete(subject);
  }
}

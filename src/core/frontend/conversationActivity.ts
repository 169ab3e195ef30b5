// Tracks the activity of conversations that this window does not show: running, waiting for the user, failed, unread.
import { type ConversationActivity, type OtherConversation } from '../../protocol/page/conversationsView.ts';
import { type ConversationChange, type LiveConversation } from '../conversation/liveConversation.ts';
import { type RequestsClient } from '../client/requests.ts';

export interface ConversationActivityDeps {
  get(conversation: string): LiveConversation | undefined;
  readonly requests: Pick<RequestsClient, 'all'>;
  shown(): string | undefined;
}

export class Activities {
  readonly #deps: ConversationActivityDeps;
  /** Conversations that were open in this window, with their last known titles. */
  readonly #known = new Map<string, { readonly title: string; readonly subagent: string | undefined }>();
  /** The outcome of the last turn that ended while the conversation was not shown. */
  readonly #ended = new Map<string, 'failed' | 'unread'>();

  constructor(deps: ConversationActivityDeps) {
    this.#deps = deps;
  }

  changed({ conversation, folded }: ConversationChange): void {
    const live = this.#deps.get(conversation);
    if (live !== undefined) {
      const { title, subagent } = live.log.state.summary;
      this.#known.set(conversation, { title, subagent: subagent?.name });
    }
    if (folded?.event.type !== 'turn_ended' || conversation === this.#deps.shown()) return;
    // The end of a subagent is reported to the agent that started it.
    if (live?.log.state.summary.subagent !== undefined) return;
    const { outcome } = folded.event;
    if (outcome !== 'stopped') this.#ended.set(conversation, outcome === 'error' ? 'failed' : 'unread');
  }

  /** Call when the conversation is shown to the user. */
  seen(conversation: string): void {
    this.#ended.delete(conversation);
  }

  forget(conversation: string): void {
    this.#known.delete(conversation);
    this.#ended.delete(conversation);
  }

  activityOf(conversation: string): ConversationActivity | undefined {
    const open = this.#deps.requests.all.filter((request) => request.conversation === conversation);
    if (open.some(({ type }) => type === 'approval')) return 'approval';
    if (open.length > 0) return 'question';
    if (this.#deps.get(conversation)?.running === true) return 'running';
    return this.#ended.get(conversation);
  }

  /**
   * The conversations to open again after a restart. With a subagent, also its parent, which is notified of its end.
   */
  get running(): string[] {
    const running = this.others.filter(({ activity }) => activity !== 'failed' && activity !== 'unread');
    const ids = running.flatMap(({ id }) => [id, this.#deps.get(id)?.log.state.summary.subagent?.parent ?? id]);
    return [...new Set(ids)];
  }

  /** All conversations with an activity, except the shown one. */
  get others(): readonly OtherConversation[] {
    const shown = this.#deps.shown();
    return [...this.#known].flatMap(([id, { title, subagent }]) => {
      const activity = id === shown ? undefined : this.activityOf(id);
      if (activity === undefined) return [];
      const choice = this.#deps.get(id)?.log.state.choice.current;
      const model = choice?.model === undefined ? {} : { model: choice.model };
      return [{ id, title, activity, ...model, ...(subagent !== undefined && { subagent }) }];
    });
  }
}

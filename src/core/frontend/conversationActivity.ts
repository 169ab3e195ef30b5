// Tracks the activity of conversations that are not shown: running, waiting for the user, failed, unread.
import { defined } from '../../base/json/defined.ts';
import { type LogEvent } from '../../protocol/event.ts';
import { type ConversationActivity, type OtherConversation } from '../../protocol/page/conversationsView.ts';
import { type RequestsClient } from '../client/requests.ts';

export interface KnownConversation {
  readonly title: string;
  readonly running: boolean;
  readonly subagent?: { readonly name: string; readonly parent: string } | undefined;
  /** The model that it uses; absent: not known. */
  readonly model?: string | undefined;
}

export interface ConversationActivityDeps {
  /** Undefined: it is not open. */
  get(conversation: string): KnownConversation | undefined;
  readonly requests: Pick<RequestsClient, 'all'>;
  isShown(conversation: string): boolean;
}

export class Activities {
  readonly #deps: ConversationActivityDeps;
  /** Conversations that were open, as they were last. */
  readonly #known = new Map<string, KnownConversation>();
  /** The outcome of the last turn that ended while the conversation was not shown. */
  readonly #ended = new Map<string, 'failed' | 'unread'>();

  constructor(deps: ConversationActivityDeps) {
    this.#deps = deps;
  }

  /** Call when the conversation, or what it asks, has changed. */
  changed(conversation: string, event?: LogEvent): void {
    const known = this.#deps.get(conversation);
    if (known !== undefined) this.#known.set(conversation, known);
    if (event?.type !== 'turn_ended' || this.#deps.isShown(conversation)) return;
    // The end of a subagent is reported to the agent that started it.
    if (known?.subagent !== undefined) return;
    if (event.outcome !== 'stopped') this.#ended.set(conversation, event.outcome === 'error' ? 'failed' : 'unread');
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
  runningBeside(shown: string | undefined): string[] {
    const running = this.othersThan(shown).filter(({ activity }) => activity !== 'failed' && activity !== 'unread');
    return [...new Set(running.flatMap(({ id }) => [id, this.#deps.get(id)?.subagent?.parent ?? id]))];
  }

  /** All conversations with an activity, except the shown one. */
  othersThan(shown: string | undefined): readonly OtherConversation[] {
    return [...this.#known].flatMap(([id, last]) => {
      const activity = id === shown ? undefined : this.activityOf(id);
      if (activity === undefined) return [];
      const open = this.#deps.get(id);
      const { title, subagent } = open ?? last;
      const model = open?.model;
      return [{ id, title, activity, ...defined({ model }), ...(subagent && { subagent: subagent.name }) }];
    });
  }
}

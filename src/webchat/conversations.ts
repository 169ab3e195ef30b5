// The conversations of the web chat: subscribes to each one that a page shows, and tracks the activity and the open
// requests of all.
import {
  type ConversationActivity,
  type ConversationView,
  type OtherConversation,
} from '../protocol/page/conversationsView.ts';
import { EVERY_CONVERSATION, type HostMessageOf } from '../protocol/plugin.ts';
import { type Result, failed, succeeded, describeError } from '../base/errors.ts';
import { belowParents } from '../core/frontend/belowParents.ts';
import { RemoteRequests } from '../core/client/remoteRequests.ts';
import { type PluginClient } from '../plugins/client/pluginClient.ts';
import { type ConversationFollower, FollowedConversation, type PluginEvent } from './followedConversation.ts';

const ALL = 'all';
/** Enough to derive the activity of a conversation. */
const WATCHED_EVENTS = ['turn_started', 'turn_ended', 'title_set'];

interface OtherState {
  running: boolean;
  ended?: 'failed' | 'unread';
}

export interface ConversationsDeps {
  readonly client: Pick<PluginClient, 'request' | 'log'>;
  /** Called when the activity of a conversation may have changed. */
  changed(): void;
}

export class Conversations {
  /** Comes with the subscription to all conversations, so a page that begins to follow one misses no request. */
  readonly requests: RemoteRequests;
  readonly #deps: ConversationsDeps;
  readonly #followed = new Map<string, { readonly conversation: FollowedConversation; ready: Promise<Result<void>> }>();
  readonly #others = new Map<string, OtherState>();
  readonly #titles = new Map<string, string>();
  /** Names of subagents by their conversations. */
  readonly #subagents = new Map<string, string>();

  constructor(deps: ConversationsDeps) {
    this.#deps = deps;
    this.requests = new RemoteRequests({
      respond: (fields) => deps.client.request('respond', fields),
      subscriptionOf: () => ALL,
      report: (error) => deps.client.log('error', describeError(error)),
    });
    this.requests.onDidChange(() => deps.changed());
  }

  async start(): Promise<void> {
    await this.#deps.client.request('subscribe', {
      sub_id: ALL,
      conversation: EVERY_CONVERSATION,
      events: WATCHED_EVENTS,
    });
    await this.list();
  }

  /** Resolves once all events of its log are folded. */
  async follow(id: string, follower: ConversationFollower): Promise<Result<FollowedConversation>> {
    const known = this.#followed.get(id) ?? this.#begin(id);
    known.conversation.followers.add(follower);
    const ready = await known.ready;
    if (!ready.ok) {
      this.leave(id, follower);
      return ready;
    }
    return succeeded(known.conversation);
  }

  leave(id: string, follower: ConversationFollower): void {
    const known = this.#followed.get(id);
    known?.conversation.followers.delete(follower);
    if (known === undefined || known.conversation.followers.size > 0) return;
    this.#followed.delete(id);
    this.#deps.client.request('unsubscribe', { sub_id: id }).catch(() => undefined);
  }

  receive(event: PluginEvent): void {
    if (event.sub_id === ALL) {
      this.requests.receive(event);
      this.#watch(event);
    } else this.#followed.get(event.sub_id)?.conversation.receive(event);
  }

  /** Subscribes again after a subscription ended: it was read too slowly, or its conversation was deleted. */
  ended({ sub_id: id, seq, message }: HostMessageOf<'error'>): void {
    this.#deps.client.log('warn', `a subscription ended: ${message}`);
    if (id === ALL) {
      this.requests.clear();
      this.start().catch((error: unknown) => this.#deps.client.log('error', describeError(error)));
      return;
    }
    const known = id === undefined ? undefined : this.#followed.get(id);
    if (known === undefined || id === undefined) return;
    known.ready = this.#subscribe(known.conversation, typeof seq === 'number' ? seq : known.conversation.lastSeq);
  }

  async list(): Promise<readonly ConversationView[]> {
    const { data } = await this.#deps.client.request('list_conversations', {});
    for (const { id, title, subagent } of data) {
      this.#titles.set(id, title ?? '');
      if (subagent !== undefined) this.#subagents.set(id, subagent.name);
    }
    return belowParents(data).map(({ item: { id, title, last_activated_at: at, subagent, choice }, nested }) => {
      const activity = this.#activityOf(id);
      return {
        id,
        title: title ?? '',
        lastActivity: Date.parse(at),
        ...(activity !== undefined && { activity }),
        ...(subagent && { subagent: { name: subagent.name, nested } }),
        ...(choice && { choice }),
      };
    });
  }

  /** Call when the user sees the conversation: its end no longer counts as unread. */
  seen(id: string): void {
    delete this.#others.get(id)?.ended;
  }

  /** The conversations, except the shown one, that are active, wait for the user or have unread results. */
  others(shown: string | undefined): readonly OtherConversation[] {
    const asking = this.requests.all.map(({ conversation }) => conversation);
    return [...new Set([...this.#others.keys(), ...asking])].flatMap((id) => {
      const activity = id === shown ? undefined : this.#activityOf(id);
      if (activity === undefined) return [];
      const subagent = this.#subagents.get(id);
      return [{ id, title: this.#titles.get(id) ?? '', activity, ...(subagent !== undefined && { subagent }) }];
    });
  }

  #activityOf(id: string): ConversationActivity | undefined {
    const state = this.#others.get(id);
    const open = this.requests.all.filter(({ conversation }) => conversation === id);
    const asked = open.find(({ type }) => type === 'approval') ?? open[0];
    return asked?.type ?? (state?.running === true ? 'running' : state?.ended);
  }

  #watch({ conversation, data }: PluginEvent): void {
    const state: OtherState = this.#others.get(conversation) ?? { running: false };
    this.#others.set(conversation, state);
    if (data.type === 'turn_started') state.running = true;
    else if (data.type === 'title_set' && typeof data['title'] === 'string')
      this.#titles.set(conversation, data['title']);
    else if (data.type === 'turn_ended') {
      state.running = false;
      const isShown = this.#followed.has(conversation);
      if (data['outcome'] !== 'stopped' && !isShown) state.ended = data['outcome'] === 'error' ? 'failed' : 'unread';
    } else return;
    this.#deps.changed();
  }

  #begin(id: string) {
    const conversation = new FollowedConversation(id);
    const known = { conversation, ready: this.#subscribe(conversation, 0) };
    this.#followed.set(id, known);
    return known;
  }

  async #subscribe(conversation: FollowedConversation, since: number): Promise<Result<void>> {
    const { client } = this.#deps;
    const { id } = conversation;
    try {
      const { seq } = await client.request('subscribe', { sub_id: id, conversation: id, since, output: true });
      await conversation.catchUp(typeof seq === 'number' ? seq : 0);
      if (conversation.running) await this.#checkRunning(conversation);
      return succeeded(undefined);
    } catch (error) {
      return failed('plugin', describeError(error));
    }
  }

  /** The window that ran a turn may have been killed, and its log does not say so. */
  async #checkRunning(conversation: FollowedConversation): Promise<void> {
    const { turn } = conversation.state.turn;
    const { lock } = await this.#deps.client.request('read_events', { conversation: conversation.id });
    if (lock === 'free' && conversation.state.turn.turn === turn) conversation.setNotRunning();
  }
}

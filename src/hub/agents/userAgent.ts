// The user of a window as an agent on the hub: lists agents, reads threads and messages, and sends messages.
import { ignore } from '../../base/async.ts';
import { type Disposable } from '../../base/disposable.ts';
import { type Event } from '../../base/emitter.ts';
import { type Pair } from '../../protocol/hub.ts';
import { type HubHealth, type HubMessage, type HubThread, type ListedHubAgent } from '../../protocol/hubMethods.ts';
import { HubAgent, type HubAgentDeps } from '../client/hubAgent.ts';
import { previewOf } from '../preview.ts';
import { claimIdleName, toAgentName } from './agentNames.ts';

/** Mentions of this role reach the users of all windows. */
export const USER_ROLE = 'user';
const PAGE = 100;
/** Prefix of message ids. A message without a thread is shown as its own thread, with the message id as thread id. */
const MESSAGE_ID = 'msg_';

/** The data of the Agents view. */
export interface UserOverview {
  readonly agents: readonly ListedHubAgent[];
  readonly threads: readonly HubThread[];
  readonly health: HubHealth;
}

export interface UserMessage {
  readonly content: string;
  /** Names of agents or roles. */
  readonly mentions: readonly string[];
  readonly scopes: readonly Pair[];
  /** Absent: starts a new thread with `title`. */
  readonly thread?: string | undefined;
  readonly title?: string | undefined;
}

export interface UserAgentDeps extends Pick<HubAgentDeps, 'files' | 'folder' | 'clock' | 'report' | 'onAbsent'> {
  /** The user's name in the operating system. */
  readonly userName: string;
  ulid(): string;
}

export class UserAgent implements Disposable {
  readonly #agent: HubAgent;
  readonly #deps: UserAgentDeps;

  constructor(deps: UserAgentDeps) {
    this.#deps = deps;
    const { userName } = deps;
    const wanted = toAgentName(userName) ?? 'me';
    this.#agent = new HubAgent({
      ...deps,
      agent: { role: USER_ROLE, module: '', display: userName.slice(0, 200) },
      name: (call) => claimIdleName(call, wanted === USER_ROLE ? 'me' : wanted),
      report: (message, error) => deps.report(`the user's agent: ${message}`, error),
    });
    this.#agent.subscribe({});
  }

  /** Undefined until it has joined the hub. */
  get name(): string | undefined {
    return this.#agent.name;
  }

  get isConnected(): boolean {
    return this.#agent.isConnected;
  }

  /** Fires when a message of another agent has arrived. */
  get onMessage(): Event<unknown> {
    return this.#agent.onMessage;
  }

  /** Fires when the connection is made or lost. */
  get onState(): Event<boolean> {
    return this.#agent.onState;
  }

  /** Rejects while the hub cannot be reached. */
  async overview(): Promise<UserOverview> {
    const [{ agents }, { threads }, { messages }, health] = await Promise.all([
      this.#agent.call('agent.list', {}),
      this.#agent.call('thread.list', { limit: PAGE }),
      this.#agent.call('message.list', { limit: PAGE }),
      this.#agent.call('health', {}),
    ]);
    const single = messages.filter(({ thread_id: thread, deleted }) => thread === null && !deleted);
    const all = [...threads, ...single.map((message) => this.#asThread(message))];
    const newestFirst = (one: HubThread, other: HubThread) =>
      Date.parse(other.last_activity) - Date.parse(one.last_activity);
    return { agents, threads: all.sort(newestFirst), health };
  }

  /** Returns the newest messages of a thread, oldest first, and marks them as read by the user. */
  async readThread(id: string): Promise<readonly HubMessage[]> {
    const messages = await this.#messagesOf(id);
    const unread = messages.filter((message) => !message.is_read && message.author.agent_id !== this.name);
    if (unread.length > 0) {
      await this.#agent.call('message.markRead', { message_ids: unread.map((message) => message.message_id) });
    }
    return messages;
  }

  /** The thread of a message that may have had none before: an answer starts one. */
  async threadOf(id: string): Promise<string> {
    if (!id.startsWith(MESSAGE_ID)) return id;
    const message = await this.#message(id).catch(ignore);
    return message?.thread_id ?? id;
  }

  /** Resolves to the thread once the message is stored. */
  async send({ content, mentions, scopes, thread, title }: UserMessage): Promise<string> {
    if (thread?.startsWith(MESSAGE_ID) === true) return this.#answer(thread, { content, mentions, scopes });
    const id = thread ?? (await this.#agent.call('thread.create', { title: title ?? '', scopes })).thread_id;
    const message = { content, thread_id: id, client_id: this.#deps.ulid(), mentions, scopes };
    return (await this.#agent.call('message.send', message)).thread_id ?? id;
  }

  dispose(): void {
    this.#agent.dispose();
  }

  /** Answers a message without a thread, which starts one. Mentions its author if no other agent is mentioned. */
  async #answer(id: string, { content, mentions, scopes }: UserMessage): Promise<string> {
    const { author } = await this.#message(id);
    const sent = await this.#agent.call('message.send', {
      content,
      reply_to: id,
      client_id: this.#deps.ulid(),
      mentions: mentions.length > 0 ? mentions : [author.agent_id],
      scopes,
    });
    return sent.thread_id ?? id;
  }

  async #messagesOf(id: string): Promise<readonly HubMessage[]> {
    if (id.startsWith(MESSAGE_ID)) return [await this.#message(id)];
    // Without `after` the hub returns the newest page.
    return (await this.#agent.call('message.list', { thread_id: id, limit: PAGE })).messages;
  }

  async #message(id: string): Promise<HubMessage> {
    return (await this.#agent.call('message.get', { message_id: id })).message;
  }

  /** Counts as unread only if it mentions the user; messages between agents are listed but not counted. */
  #asThread({ message_id: id, author, body, refs, is_read: isRead, created_at: at }: HubMessage): HubThread {
    const isForUser = refs.some(
      ({ type, value }) => type === 'mention' && (value === this.name || value === USER_ROLE),
    );
    const preview = previewOf(body.content);
    return {
      thread_id: id,
      title: preview,
      message_count: 1,
      unread_count: isForUser && !isRead ? 1 : 0,
      last_activity: at,
      last_sender: author.name,
      preview,
      created_by: author.agent_id,
      created_at: at,
    };
  }
}

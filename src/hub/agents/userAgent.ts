// The user of a window as an agent on the hub: reads who is there, threads and messages, and writes in them.
import * as z from 'zod';
import { type Clock } from '../../base/clock.ts';
import { type Disposable } from '../../base/disposable.ts';
import { type Event } from '../../base/emitter.ts';
import { type HubMessage, type HubThread, type Pair } from '../../protocol/hub.ts';
import { type FileSystem } from '../../node/fileSystem.ts';
import { HubAgent } from '../client/hubAgent.ts';
import { claimIdleName, toAgentName } from './agentNames.ts';

/** Mentions of this role reach the users of all windows. */
export const USER_ROLE = 'user';
const PAGE = 100;

const agentsSchema = z.object({
  agents: z.array(
    z.object({
      agent_id: z.string(),
      role: z.string(),
      module: z.string(),
      display: z.string(),
      machine: z.string().optional(),
      live: z.boolean(),
      last_seen_at: z.string(),
      unread: z.int().optional(),
    }),
  ),
});
const healthSchema = z.object({
  server: z.object({ state: z.string(), since: z.string(), error: z.string().optional() }).optional(),
  not_sent: z.int().optional(),
  stream_full: z.boolean().optional(),
});
const sentSchema = z.object({ message_id: z.string(), thread_id: z.string().nullish() });
const createdSchema = z.object({ thread_id: z.string() });

export type UserAgentRow = z.infer<typeof agentsSchema>['agents'][number];
type UserHealth = z.infer<typeof healthSchema>;

/** What the Agents view shows. */
export interface UserOverview {
  readonly agents: readonly UserAgentRow[];
  readonly threads: readonly HubThread[];
  readonly health: UserHealth;
}

export interface UserMessage {
  readonly content: string;
  /** Names of agents or roles. */
  readonly mentions: readonly string[];
  readonly scopes: readonly Pair[];
  /** Absent: a new thread with this title. */
  readonly thread?: string | undefined;
  readonly title?: string | undefined;
}

export interface UserAgentDeps {
  readonly files: FileSystem;
  /** The hub's folder. */
  readonly folder: string;
  readonly clock: Clock;
  /** What the operating system calls the user. */
  readonly userName: string;
  ulid(): string;
  report(message: string, error?: unknown): void;
  /** Nobody serves the hub. */
  onAbsent(): void;
}

export class UserAgent implements Disposable {
  readonly #agent: HubAgent;
  readonly #deps: UserAgentDeps;

  constructor(deps: UserAgentDeps) {
    this.#deps = deps;
    const { files, folder, clock, userName } = deps;
    const wanted = toAgentName(userName) ?? 'me';
    this.#agent = new HubAgent({
      files,
      folder,
      clock,
      agent: { role: USER_ROLE, module: '', display: userName.slice(0, 200) },
      name: (call) => claimIdleName(call, wanted === USER_ROLE ? 'me' : wanted),
      report: (message, error) => deps.report(`the user's agent: ${message}`, error),
      onAbsent: () => deps.onAbsent(),
    });
    this.#agent.subscribe({});
  }

  /** Undefined before it is on the hub. */
  get name(): string | undefined {
    return this.#agent.name;
  }

  get isConnected(): boolean {
    return this.#agent.isConnected;
  }

  /** A message of somebody else arrived. */
  get onMessage(): Event<unknown> {
    return this.#agent.onMessage;
  }

  /** The connection was made or lost. */
  get onState(): Event<boolean> {
    return this.#agent.onState;
  }

  /** Rejects while the hub cannot be reached. */
  async overview(): Promise<UserOverview> {
    const [listed, threads, health] = await Promise.all([
      this.#agent.call('agent.list'),
      this.#agent.call('thread.list', { limit: PAGE }),
      this.#agent.call('health'),
    ]);
    return {
      ...agentsSchema.parse(listed),
      threads: (threads as { threads: readonly HubThread[] }).threads,
      health: healthSchema.parse(health),
    };
  }

  /** The newest messages of a thread, oldest first; they count as read by the user from then on. */
  async readThread(id: string): Promise<readonly HubMessage[]> {
    // Without `after` the hub gives the newest page.
    const { messages } = (await this.#agent.call('message.list', { thread_id: id, limit: PAGE })) as {
      messages: readonly HubMessage[];
    };
    const unread = messages.filter((message) => !message.is_read && message.author.agent_id !== this.name);
    if (unread.length > 0) {
      await this.#agent.call('message.markRead', { message_ids: unread.map((message) => message.message_id) });
    }
    return messages;
  }

  /** Resolves to the thread once the message is stored. */
  async send({ content, mentions, scopes, thread, title }: UserMessage): Promise<string> {
    const id =
      thread ?? createdSchema.parse(await this.#agent.call('thread.create', { title: title ?? '', scopes })).thread_id;
    const sent = await this.#agent.call('message.send', {
      content,
      thread_id: id,
      client_id: this.#deps.ulid(),
      ...(mentions.length > 0 && { mentions }),
      ...(scopes.length > 0 && { scopes }),
    });
    return sentSchema.parse(sent).thread_id ?? id;
  }

  dispose(): void {
    this.#agent.dispose();
  }
}

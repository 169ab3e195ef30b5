// Makes the conversations of a window agents on one hub, each with a name, subscriptions and messages.
import { basename } from 'node:path';
import { type Clock } from '../../base/clock.ts';
import { type Disposable, DisposableStore, toDisposable } from '../../base/disposable.ts';
import { Emitter, type Event } from '../../base/emitter.ts';
import { failed, type Result, succeeded } from '../../base/errors.ts';
import { type HubCode } from '../../base/failureCodes.ts';
import {
  type AgentConversation,
  type IncomingMessage,
  type ListedAgent,
  type OutgoingMessage,
  type SentMessage,
} from '../../core/ports/agentHub.ts';
import { type FileSystem } from '../../node/files/fileSystem.ts';
import { type HubMessage } from '../../protocol/hub.ts';
import { HubAgent } from '../client/hubAgent.ts';
import { connectToHub, readAddress } from '../client/hubConnection.ts';
import { claimNewName } from './agentNames.ts';
import { HubMessages } from './hubMessages.ts';

/** The module that identifies conversations of Earshot among the agents. */
export const CONVERSATION_MODULE = 'earshot';

export interface ConversationAgentsDeps {
  readonly files: FileSystem;
  /** The hub's folder. */
  readonly folder: string;
  readonly clock: Clock;
  readonly role: string;
  ulid(): string;
  /** Converts a path of the workspace to the form that scopes on this hub use. */
  toScope(path: string): string;
  report(message: string, error?: unknown): void;
  /** Called when no process serves the hub. */
  onAbsent(): void;
}

interface Joined {
  readonly conversation: AgentConversation;
  readonly agent: HubAgent;
  readonly messages: HubMessages;
  readonly held: DisposableStore;
}

export class ConversationAgents implements Disposable {
  readonly #deps: ConversationAgentsDeps;
  readonly #hub: string;
  readonly #joined = new Map<string, Joined>();
  readonly #onDidReceive: Emitter<IncomingMessage>;
  readonly #onDidName: Emitter<void>;

  constructor(deps: ConversationAgentsDeps) {
    this.#deps = deps;
    this.#hub = basename(deps.folder);
    const report = (error: unknown) => deps.report('a listener failed', error);
    this.#onDidReceive = new Emitter(report);
    this.#onDidName = new Emitter(report);
  }

  get onDidReceive(): Event<IncomingMessage> {
    return this.#onDidReceive.event;
  }

  /** Fires when a conversation has got its name. */
  get onDidName(): Event<void> {
    return this.#onDidName.event;
  }

  join(conversation: AgentConversation): Disposable {
    const { files, folder, clock, role, ulid, report } = this.#deps;
    const place = conversation.place(this.#hub);
    const held = new DisposableStore();
    const agent = new HubAgent({
      files,
      folder,
      clock,
      agent: { role, module: CONVERSATION_MODULE, display: conversation.title() },
      name: place?.name ?? ((call) => claimNewName(call, conversation.name())),
      cursor: place?.cursor,
      report: (message, error) => report(`the agent of conversation ${conversation.id}: ${message}`, error),
      onAbsent: () => this.#deps.onAbsent(),
      onNamed: async (name, cursor) => {
        await conversation.remember(this.#hub, { name, cursor });
        agent.subscribe({ mentionRole: name });
        this.#onDidName.fire();
      },
    });
    if (place !== undefined) agent.subscribe({ mentionRole: place.name });
    const see = (paths: Iterable<string>) => {
      for (const path of paths) agent.subscribe({ scope: { type: 'file', value: this.#deps.toScope(path) } });
    };
    see(conversation.seenPaths());
    held.add(conversation.onDidSee(see));
    held.add(conversation.onDidChangeTitle(() => agent.setDisplay(conversation.title())));
    held.add(agent.onMessage((message) => this.#received(conversation, agent, message)));
    held.add(agent);
    const joined: Joined = { conversation, agent, held, messages: new HubMessages({ agent, clock, ulid }) };
    this.#joined.set(conversation.id, joined);
    return toDisposable(() => {
      if (this.#joined.get(conversation.id) === joined) this.#joined.delete(conversation.id);
      held.dispose();
    });
  }

  #received(
    conversation: AgentConversation,
    agent: HubAgent,
    message: Omit<IncomingMessage, 'conversation' | 'hub' | 'name'>,
  ): void {
    const { id, author, role, preview, scopes, match, edited, cursor, at } = message;
    const name = agent.name ?? '';
    const what = { id, author, role, preview, scopes, match, edited, cursor, at };
    this.#onDidReceive.fire({ conversation: conversation.id, hub: this.#hub, name, ...what });
  }

  nameOf(conversation: string): string | undefined {
    const joined = this.#joined.get(conversation);
    return joined?.conversation.place(this.#hub)?.name;
  }

  /** Stores the cursor in the log, unless a notification there has it already. */
  async stored({ conversation: id, hub, cursor }: IncomingMessage): Promise<void> {
    const conversation = this.#joined.get(id)?.conversation;
    const place = conversation?.place(hub);
    if (place !== undefined && place.cursor !== cursor) await conversation?.remember(hub, { ...place, cursor });
  }

  async send(id: string, message: OutgoingMessage, signal: AbortSignal): Promise<Result<SentMessage, HubCode>> {
    const joined = this.#joined.get(id);
    if (joined === undefined) return notJoined();
    const files = message.files.map((path) => this.#deps.toScope(path));
    return joined.messages.send({ ...message, files }, signal);
  }

  async read(id: string, message: string): Promise<Result<HubMessage, HubCode>> {
    return this.#joined.get(id)?.messages.read(message) ?? notJoined();
  }

  async unread(id: string): Promise<Result<readonly HubMessage[], HubCode>> {
    return this.#joined.get(id)?.messages.unread() ?? notJoined();
  }

  async agents(id: string): Promise<Result<readonly ListedAgent[], HubCode>> {
    const joined = this.#joined.get(id);
    const listed = await joined?.messages.agents();
    if (joined === undefined || listed === undefined) return notJoined();
    if (!listed.ok) return listed;
    return succeeded(
      listed.value.map(({ agent_id: name, last_seen_at: lastSeen, role, display, machine, live }) => ({
        name,
        role,
        display,
        machine,
        live,
        lastSeen,
        own: name === joined.agent.name,
      })),
    );
  }

  /** Uses a separate connection, since the conversation is already closed. */
  async forget(names: Iterable<string>): Promise<void> {
    const { files, folder, report } = this.#deps;
    const address = await readAddress(files, folder);
    if (address === undefined) return;
    const connection = await connectToHub(
      address,
      () => undefined,
      (error) => report('a push could not be read', error),
    );
    try {
      for (const name of names) await connection.call('agent.unregister', { agent_id: name });
    } finally {
      connection.close();
    }
  }

  dispose(): void {
    for (const { held } of this.#joined.values()) held.dispose();
    this.#joined.clear();
    this.#onDidReceive.dispose();
    this.#onDidName.dispose();
  }
}

function notJoined(): Result<never, HubCode> {
  return failed('hub_absent', 'This conversation is not on the hub yet.', 'Try again in a moment.');
}

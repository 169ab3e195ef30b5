// The hub of a window: joins the hub of the first folder if settings and trust allow it, and adds the conversations to it.
import { type Disposable, DisposableStore, toDisposable } from '../../base/disposable.ts';
import { Emitter, type Event } from '../../base/emitter.ts';
import { failed, type Result } from '../../base/errors.ts';
import { type HubCode } from '../../base/failureCodes.ts';
import {
  type AgentConversation,
  type AgentHub,
  type IncomingMessage,
  type ListedAgent,
  type OutgoingMessage,
  type SentMessage,
} from '../../core/ports/agentHub.ts';
import { type UserAgent } from '../../hub/agents/userAgent.ts';
import { type WindowMembership } from '../../hub/agents/windowMembership.ts';
import { type HubState } from '../../hub/client/hubState.ts';
import { type HubMessage, type LinkHealth } from '../../protocol/hub.ts';

/** Where and how this window joins. Two options are equal if their JSON is. */
export interface HubOptions {
  /** The folder of the workspace. */
  readonly folder: string;
  readonly role: string;
  readonly port: number;
  /** `name[:role[:module]]`; empty: none. */
  readonly identity: string;
  readonly allowedOrigins: readonly string[];
  /** The settings that join the hubs of several machines; absent: none. */
  readonly machines?: {
    readonly server: string;
    readonly name: string;
    readonly machine: string;
    readonly credentials: string;
  };
}

export interface WindowHubDeps {
  /** Undefined: no folder, not trusted, or turned off. */
  options(): HubOptions | undefined;
  /** Loads the hub's code, which nothing else needs, and joins. */
  join(options: HubOptions): Promise<WindowMembership>;
  report(message: string, error?: unknown): void;
}

/** A conversation of this window, and its agent while there is a hub. */
interface Member {
  readonly conversation: AgentConversation;
  agent?: Disposable;
}

export class WindowHub implements AgentHub, Disposable {
  readonly #deps: WindowHubDeps;
  readonly #members = new Set<Member>();
  readonly #onDidReceive: Emitter<IncomingMessage>;
  readonly #onDidChange: Emitter<void>;
  #joined: { readonly membership: WindowMembership; readonly held: DisposableStore } | undefined;
  /** The options of the hub that this window should be on, as JSON; empty: none. */
  #wanted = '';
  #changing: Promise<void> = Promise.resolve();
  #ended = false;

  constructor(deps: WindowHubDeps) {
    this.#deps = deps;
    const report = (error: unknown) => deps.report('a listener failed', error);
    this.#onDidReceive = new Emitter(report);
    this.#onDidChange = new Emitter(report);
  }

  /** Whether this window should be on a hub; it may still be joining. */
  get isOn(): boolean {
    return this.#wanted !== '';
  }

  /** The server that joins this hub with those of other machines; undefined: there is none. */
  get link(): LinkHealth | undefined {
    return this.#joined?.membership.link.health;
  }

  /** Fires when the hub is turned on or off, a conversation gets its name, or `link` changes visibly. */
  get onDidChange(): Event<void> {
    return this.#onDidChange.event;
  }

  get onDidReceive(): Event<IncomingMessage> {
    return this.#onDidReceive.event;
  }

  /** The current state of the hub. Undefined: there is no hub, or nobody serves it at this moment. */
  async readState(): Promise<HubState | undefined> {
    await this.#changing;
    return this.#joined?.membership.readState();
  }

  /** Call after settings, folders or trust changed. Resolves once this window has joined or left. */
  refresh(): Promise<void> {
    const options = this.#ended ? undefined : this.#deps.options();
    const wanted = options === undefined ? '' : JSON.stringify(options);
    if (wanted === this.#wanted) return this.#changing;
    this.#wanted = wanted;
    this.#onDidChange.fire();
    this.#changing = this.#changing
      .then(() => this.#leave())
      .then(() => (options === undefined || this.#wanted !== wanted ? undefined : this.#join(options)))
      .catch((error: unknown) => this.#deps.report('the hub could not be joined', error));
    return this.#changing;
  }

  join(conversation: AgentConversation): Disposable {
    const member: Member = { conversation };
    this.#members.add(member);
    this.#enter(member);
    return toDisposable(() => {
      this.#members.delete(member);
      member.agent?.dispose();
    });
  }

  /** Conversations of this window that are agents, or will be once the hub is joined. */
  get conversations(): readonly string[] {
    return [...this.#members].map(({ conversation }) => conversation.id);
  }

  /** The user as an agent; undefined while this window is not on a hub. */
  user(): UserAgent | undefined {
    return this.#joined?.membership.user;
  }

  nameOf(conversation: string): string | undefined {
    return this.#joined?.membership.agents.nameOf(conversation);
  }

  async stored(message: IncomingMessage): Promise<void> {
    await this.#joined?.membership.agents.stored(message);
  }

  async send(id: string, message: OutgoingMessage, signal: AbortSignal): Promise<Result<SentMessage, HubCode>> {
    return this.#joined?.membership.agents.send(id, message, signal) ?? this.#absent();
  }

  async read(id: string, message: string): Promise<Result<HubMessage, HubCode>> {
    return this.#joined?.membership.agents.read(id, message) ?? this.#absent();
  }

  async unread(id: string): Promise<Result<readonly HubMessage[], HubCode>> {
    return this.#joined?.membership.agents.unread(id) ?? this.#absent();
  }

  async agents(id: string): Promise<Result<readonly ListedAgent[], HubCode>> {
    return this.#joined?.membership.agents.agents(id) ?? this.#absent();
  }

  async forget(names: Iterable<string>): Promise<void> {
    await this.#joined?.membership.agents
      .forget(names)
      .catch((error: unknown) => this.#deps.report('a name could not be released', error));
  }

  /** Leaves the hub. Resolves once another window can take it over. */
  async close(): Promise<void> {
    this.#ended = true;
    await this.refresh();
    await this.#changing;
  }

  dispose(): void {
    void this.close().catch((error: unknown) => this.#deps.report('the hub could not be left', error));
    this.#onDidReceive.dispose();
    this.#onDidChange.dispose();
  }

  async #join(options: HubOptions): Promise<void> {
    const membership = await this.#deps.join(options);
    const held = new DisposableStore();
    held.add(membership.agents.onDidReceive((message) => this.#onDidReceive.fire(message)));
    held.add(membership.agents.onDidName(() => this.#onDidChange.fire()));
    let before = linkKey(membership.link.health);
    held.add(
      membership.link.onDidChange(() => {
        const now = linkKey(membership.link.health);
        if (now === before) return;
        before = now;
        this.#onDidChange.fire();
      }),
    );
    this.#joined = { membership, held };
    for (const member of this.#members) this.#enter(member);
    this.#onDidChange.fire();
  }

  #enter(member: Member): void {
    const agents = this.#joined?.membership.agents;
    if (agents !== undefined) member.agent = agents.join(member.conversation);
  }

  async #leave(): Promise<void> {
    const joined = this.#joined;
    if (joined === undefined) return;
    this.#joined = undefined;
    joined.held.dispose();
    for (const member of this.#members) {
      member.agent?.dispose();
      delete member.agent;
    }
    await joined.membership.close();
  }

  #absent(): Result<never, HubCode> {
    if (this.isOn) return failed('hub_absent', 'The hub is being joined.', 'Try again in a moment.');
    return failed('hub_off', 'There is no hub: it needs a trusted folder and the setting earshot.hub.enabled.');
  }
}

/** Changes when the user should see a new state. While messages flow, their number always changes and is left out. */
function linkKey(link: LinkHealth | undefined): string {
  if (link === undefined) return '';
  const { server, not_sent: count, stream_full: full } = link;
  const flows = server.state === 'connected' && !full;
  return JSON.stringify([server.state, server.error, full, flows ? 0 : count]);
}

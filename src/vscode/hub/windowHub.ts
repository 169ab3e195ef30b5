// The hub of a window: joins the hub of the first folder if settings and trust allow it, and adds the conversations to it.
import { Sequence } from '../../base/async.ts';
import { type Disposable, toDisposable } from '../../base/disposable.ts';
import { Emitter, type Event } from '../../base/emitter.ts';
import { failed, type Result, succeeded } from '../../base/errors.ts';
import { type HubCode } from '../../base/failureCodes.ts';
import {
  type AgentConversation,
  type AgentHub,
  type IncomingMessage,
  type MessagingAgent,
} from '../../core/ports/agentHub.ts';
import { type UserAgent } from '../../hub/agents/userAgent.ts';
import {
  type JoinedConversation,
  type WindowMembership,
  type WindowMembershipDeps,
} from '../../hub/agents/windowMembership.ts';
import { type HubState } from '../../hub/client/hubState.ts';
import { type LinkHealth } from '../../protocol/hub.ts';

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
  join(options: HubOptions, events: Pick<WindowMembershipDeps, 'received' | 'onNamed'>): Promise<WindowMembership>;
  report(message: string, error?: unknown): void;
}

/** A conversation of this window, and its agent while there is a hub. */
interface Member {
  readonly conversation: AgentConversation;
  joined?: JoinedConversation;
}

export class WindowHub implements AgentHub, Disposable {
  readonly #deps: WindowHubDeps;
  readonly #members = new Map<string, Member>();
  readonly #onDidReceive: Emitter<IncomingMessage>;
  readonly #onDidChange: Emitter<void>;
  #joined: { readonly membership: WindowMembership; readonly held: Disposable } | undefined;
  /** The options of the hub that this window should be on, as JSON; empty: none. */
  #wanted = '';
  readonly #changes = new Sequence();
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
    await this.#changes.settled();
    return this.#joined?.membership.readState();
  }

  /** Call after settings, folders or trust changed. Resolves once this window has joined or left. */
  refresh(): Promise<void> {
    const options = this.#ended ? undefined : this.#deps.options();
    const wanted = options === undefined ? '' : JSON.stringify(options);
    if (wanted === this.#wanted) return this.#changes.settled();
    this.#wanted = wanted;
    this.#onDidChange.fire();
    return this.#changes
      .run(async () => {
        await this.#leave();
        if (options !== undefined && this.#wanted === wanted) await this.#join(options);
      })
      .catch((error: unknown) => this.#deps.report('the hub could not be joined', error));
  }

  join(conversation: AgentConversation): Disposable {
    const { id } = conversation;
    const member: Member = { conversation };
    this.#members.set(id, member);
    this.#enter(member);
    return toDisposable(() => {
      if (this.#members.get(id) === member) this.#members.delete(id);
      member.joined?.dispose();
    });
  }

  /** Conversations of this window that are agents, or will be once the hub is joined. */
  get conversations(): readonly string[] {
    return [...this.#members.keys()];
  }

  /** The user as an agent; undefined while this window is not on a hub. */
  user(): UserAgent | undefined {
    return this.#joined?.membership.user;
  }

  nameOf(conversation: string): string | undefined {
    return this.#members.get(conversation)?.joined?.name;
  }

  /** Stores the cursor in the log, unless a notification there has it already. */
  async stored({ conversation: id, hub, cursor }: IncomingMessage): Promise<void> {
    const { conversation, joined } = this.#members.get(id) ?? {};
    const place = joined && conversation?.place(hub);
    if (place !== undefined && place.cursor !== cursor) await conversation?.remember(hub, { ...place, cursor });
  }

  agentOf(conversation: string): Result<MessagingAgent, HubCode> {
    const joined = this.#members.get(conversation)?.joined;
    if (joined !== undefined) return succeeded(joined.messages);
    if (this.#joined !== undefined)
      return failed('hub_absent', 'This conversation is not on the hub yet.', 'Try again in a moment.');
    if (this.isOn) return failed('hub_absent', 'The hub is being joined.', 'Try again in a moment.');
    return failed(
      'hub_off',
      'There is no hub: it needs a trusted folder on a disk and the setting earshot.hub.enabled.',
    );
  }

  async forget(names: Iterable<string>): Promise<void> {
    await this.#joined?.membership
      .forget(names)
      .catch((error: unknown) => this.#deps.report('a name could not be released', error));
  }

  /** Leaves the hub. Resolves once another window can take it over. */
  async close(): Promise<void> {
    this.#ended = true;
    await this.refresh();
    await this.#changes.settled();
  }

  dispose(): void {
    void this.close().catch((error: unknown) => this.#deps.report('the hub could not be left', error));
    this.#onDidReceive.dispose();
    this.#onDidChange.dispose();
  }

  async #join(options: HubOptions): Promise<void> {
    const onNamed = () => this.#onDidChange.fire();
    const membership = await this.#deps.join(options, { received: this.#onDidReceive, onNamed });
    let before = linkKey(membership.link.health);
    const held = membership.link.onDidChange(() => {
      const now = linkKey(membership.link.health);
      if (now === before) return;
      before = now;
      this.#onDidChange.fire();
    });
    this.#joined = { membership, held };
    for (const member of this.#members.values()) this.#enter(member);
    this.#onDidChange.fire();
  }

  #enter(member: Member): void {
    const { membership } = this.#joined ?? {};
    if (membership !== undefined) member.joined = membership.join(member.conversation);
  }

  async #leave(): Promise<void> {
    const joined = this.#joined;
    if (joined === undefined) return;
    this.#joined = undefined;
    joined.held.dispose();
    for (const member of this.#members.values()) {
      member.joined?.dispose();
      delete member.joined;
    }
    await joined.membership.close();
  }
}

/** Changes when the user should see a new state. While messages flow, their number always changes and is left out. */
function linkKey(link: LinkHealth | undefined): string {
  if (link === undefined) return '';
  const { server, not_sent: count, stream_full: full } = link;
  const flows = server.state === 'connected' && !full;
  return JSON.stringify([server.state, server.error, full, flows ? 0 : count]);
}

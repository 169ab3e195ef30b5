// Joins a hub with those of other machines through NATS JetStream (WIRE C). `createNatsLink` is the entry point, for
// `HubServerDeps.join`; this folder is loaded only where a server is configured.
//
// outbox.ts publishes the files of this machine's authors, inbox.ts receives the stream, claims.ts manages names,
// presence.ts sends and reads heartbeats, and streamCheck.ts finds records that the server has lost. session.ts runs
// them over one connection. This file has what outlives a connection: the state on disk, reconnecting, and `health`.
// Without the server, everything local continues.
import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { aborted, BackOff, ignore, pause } from '../../base/async.ts';
import { type KernelLock, type TryLock } from '../../node/kernelLock.ts';
import { type LinkHealth } from '../../protocol/hub.ts';
import { type ListedHubAgent } from '../../protocol/hubMethods.ts';
import { type HubLink, type HubSide } from '../hubLink.ts';
import { type StoredRecord } from '../hubWriter.ts';
import { Claims } from './claims.ts';
import { type JoinOptions } from './joinOptions.ts';
import { LinkState } from './linkState.ts';
import { connectNats, describeTrouble, RefusedError, type Trouble } from './natsConnection.ts';
import { Outbox } from './outbox.ts';
import { Presence } from './presence.ts';
import { NatsSession } from './natsSession.ts';
import { streamNames } from './streamNames.ts';

const STATE_FILE = 'nats.db';
const ID_FILE = 'hub-id';
const BEAT_EVERY = 15_000;
const LOOK_EVERY = 1000;
const RETRY_FIRST = 250;
const RETRY_LONGEST = 10_000;

export interface NatsLinkDeps {
  /** Locks the name and machine, so that only one hub of this machine joins under them. */
  readonly tryLock: TryLock;
  /** Milliseconds between two heartbeats; default 15 s, which tests shorten. */
  readonly beatEvery?: number | undefined;
  /** Milliseconds between two checks for changes of presence. */
  readonly lookEvery?: number | undefined;
}

export function createNatsLink(options: JoinOptions, deps: NatsLinkDeps): (side: HubSide) => HubLink {
  return (side) => new NatsLink(options, deps, side);
}

class NatsLink implements HubLink {
  readonly #options: JoinOptions;
  readonly #deps: NatsLinkDeps;
  readonly #side: HubSide;
  readonly #state: LinkState;
  readonly #outbox: Outbox;
  readonly #claims: Claims;
  readonly #presence: Presence;
  readonly #running: Promise<void>;
  #session: NatsSession | undefined;
  #server: LinkHealth['server'];
  #full = false;
  readonly #delay = new BackOff(RETRY_FIRST, RETRY_LONGEST);
  #lock: KernelLock | undefined;
  readonly #closing = new AbortController();
  readonly #closed = aborted(this.#closing.signal);

  constructor(options: JoinOptions, deps: NatsLinkDeps, side: HubSide) {
    this.#options = options;
    this.#deps = deps;
    this.#side = side;
    const { machine } = options;
    const hub = readId(join(side.folder, ID_FILE));
    this.#server = { state: 'connecting', since: this.#now() };
    this.#state = LinkState.open(join(side.folder, STATE_FILE), side);
    this.#outbox = new Outbox({
      folder: side.folder,
      state: this.#state,
      lengths: side.lengths,
      now: () => side.clock.now(),
      changed: () => side.healthChanged(),
      report: (message, error) => side.report(message, error),
    });
    this.#claims = new Claims({
      machine,
      hub,
      agents: () => side.agents(),
      agent: (name) => side.agent(name),
      hasWaiting: (agent) => this.#outbox.hasWaiting(agent),
      report: (message, error) => side.report(message, error),
    });
    this.#presence = new Presence({ machine, hub, now: () => side.clock.now(), agents: () => this.#liveAgents() });
    this.#running = this.#run();
  }

  stored(records: readonly StoredRecord[]): void {
    this.#outbox.stored(records);
    // Records change the unread counts of agents, here and on other machines.
    this.#session?.followPresence();
  }

  agentsChanged(): void {
    this.#session?.agentsChanged();
  }

  knownAs(agent: string): string | undefined {
    return this.#claims.knownAs(agent);
  }

  /** The agents at the last check; reading them schedules further checks. */
  agents(): readonly ListedHubAgent[] {
    this.#session?.followPresence();
    const agents: ListedHubAgent[] = [];
    for (const [name, { machine, role, module, display, since }] of this.#claims.others) {
      const unread = this.#presence.unread(machine, name);
      agents.push({
        agent_id: this.#claims.toLocal(name, machine),
        role,
        module,
        display,
        machine,
        live: unread !== undefined,
        last_seen_at: new Date(this.#presence.lastSeen(name) ?? since).toISOString(),
        unread,
      });
    }
    return agents;
  }

  health(): LinkHealth {
    const server = { ...this.#server, clock_ahead_ms: this.#presence.clockAhead };
    return { server, not_sent: this.#outbox.waiting, stream_full: this.#full };
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#session?.end();
    await this.#running;
    this.#lock?.release();
    try {
      this.#state.close();
    } catch (error) {
      this.#side.report('the publishing state cannot be written', error);
    }
  }

  /** Connects, and reconnects after each loss, until it is closed. Never rejects. */
  async #run(): Promise<void> {
    await this.#outbox.load().catch((error: unknown) => this.#side.report('the outbox cannot be read', error));
    while (!this.#isClosed()) {
      try {
        await this.#connect();
      } catch (error) {
        if (this.#isClosed()) return;
        this.#setTrouble(describeTrouble(error, this.#setUpCommand));
      }
      if (!this.#isClosed()) await this.#pause();
    }
  }

  /** A method, so that the compiler does not assume the same value after an `await`. */
  #isClosed(): boolean {
    return this.#closing.signal.aborted;
  }

  async #connect(): Promise<void> {
    this.#takeLock();
    const connecting = connectNats(this.#options);
    const connection = await Promise.race([connecting, this.#closed]);
    if (connection === undefined) {
      // Closed before the server answered. If it answers later, that connection is closed.
      connecting.then((late) => late.close()).catch(ignore);
      return;
    }
    const { name, machine } = this.#options;
    const session = new NatsSession(connection, {
      name,
      machine,
      names: streamNames(name),
      side: this.#side,
      clock: this.#side.clock,
      state: this.#state,
      claims: this.#claims,
      outbox: this.#outbox,
      presence: this.#presence,
      setUp: this.#setUpCommand,
      beatEvery: this.#deps.beatEvery ?? BEAT_EVERY,
      lookEvery: this.#deps.lookEvery ?? LOOK_EVERY,
      report: (message, error) => this.#side.report(message, error),
      onConnected: () => {
        this.#delay.reset();
        this.#server = { state: 'connected', since: this.#now() };
        this.#side.healthChanged();
      },
      onFull: (full) => {
        if (full && !this.#full) {
          this.#side.report(
            `the stream is full: messages stay on this machine until there is room. ${this.#setUpCommand} --max-bytes N makes it larger.`,
          );
        }
        const isNew = full !== this.#full;
        this.#full = full;
        if (isNew) this.#side.healthChanged();
      },
    });
    this.#session = session;
    if (this.#isClosed()) session.end();
    try {
      await session.run();
    } finally {
      this.#session = undefined;
    }
  }

  /** Two hubs of one machine would receive each other's messages through the same consumer. */
  #takeLock(): void {
    if (this.#lock !== undefined) return;
    const { name, machine } = this.#options;
    this.#lock = this.#deps.tryLock(join(dirname(this.#side.folder), `joined-${name}-${machine}.db`));
    if (this.#lock !== undefined) return;
    throw new RefusedError(
      `the hub of another folder has joined “${name}” as machine ${machine}. This hub joins when that one is closed.`,
    );
  }

  #setTrouble({ refused, text }: Trouble): void {
    const state = refused ? 'refused' : 'connecting';
    const isNew = this.#server.state !== state || this.#server.error !== text;
    this.#server = { state, since: isNew ? this.#now() : this.#server.since, error: text };
    if (!isNew) return;
    this.#side.report(text);
    this.#side.healthChanged();
  }

  #liveAgents(): { name: string; unread: number }[] {
    return this.#side
      .agents()
      .filter(({ name }) => this.#side.isLive(name))
      .map(({ name }) => ({ name: this.#claims.knownAs(name) ?? name, unread: this.#side.unread(name) }));
  }

  get #setUpCommand(): string {
    return `hub.js --set-up --server … --name ${this.#options.name}`;
  }

  #now(): string {
    return new Date(this.#side.clock.now()).toISOString();
  }

  async #pause(): Promise<void> {
    // Random, so that machines that lost the server at the same time do not reconnect at the same time.
    await pause(this.#side.clock, this.#delay.next() * (0.5 + Math.random()), this.#closing.signal);
  }
}

/** A random id of this hub, created once. */
function readId(path: string): string {
  try {
    const id = readFileSync(path, 'utf8').trim();
    if (/^[0-9a-f]{16}$/.test(id)) return id;
  } catch {
    // Created below.
  }
  const id = randomBytes(8).toString('hex');
  writeFileSync(path, `${id}\n`, { mode: 0o600 });
  return id;
}

// Manages the outside agents of a window: finds or creates the log of each, keeps it live for a while, and removes old
// ones.
import { Sequence } from '../base/async.ts';
import { type Disposable, DisposableStore } from '../base/disposable.ts';
import { Emitter } from '../base/emitter.ts';
import { describeError, failed, type Result, succeeded } from '../base/errors.ts';
import { storageFailure } from './conversation/liveConversation.ts';
import { ConversationLog } from './conversation/log.ts';
import { openElsewhere, openOrFollow } from './conversation/opening.ts';
import { notificationHistory } from './conversation/projections/history.ts';
import { type Earshot } from './earshot.ts';
import { Listener, type ListenerPorts } from './listener.ts';
import { type NotificationRecord } from './ports/notificationRecord.ts';
import { type Lock, type Store } from './ports/storage.ts';

const HOUR = 60 * 60 * 1000;
/** How long after its last request an agent without a connection gets notifications. */
const LIVE_FOR = HOUR;
/** If there are more, the ones with the oldest contact are closed. */
const MOST_LIVE = 50;
/** How long after its last event a log is kept. */
const KEPT_FOR = 7 * 24 * HOUR;

/** `session`: the agent's own name for its conversation. `client`: identifies the agent's process. */
export interface ListenerIdentity {
  readonly agent: string;
  readonly session?: string | undefined;
  readonly client?: string | undefined;
}

export interface ListenersDeps extends ListenerPorts {
  readonly earshot: Pick<Earshot, 'joinListener' | 'producers'>;
  /** Stores the logs of listeners. */
  readonly store: Store;
  readonly lock: Lock;
}

interface LiveListener {
  readonly listener: Listener;
  identity: ListenerIdentity;
  /** The number of connections that use it. */
  users: number;
  lastContact: number;
  /** Closes it when it fires. */
  timer?: Disposable;
  close(): Promise<void>;
}

export class Listeners {
  readonly #deps: ListenersDeps;
  readonly #live = new Map<string, LiveListener>();
  readonly #encoder = new TextEncoder();
  readonly #onDidJoin: Emitter<void>;
  readonly #changes = new Sequence();
  #contacts = 0;
  #closed = false;

  constructor(deps: ListenersDeps) {
    this.#deps = deps;
    this.#onDidJoin = new Emitter((error) => deps.logger.error('a listener failed', error));
  }

  /** Fires when an agent has become live, or its identity has changed: `find` may now return another listener. */
  get onDidJoin(): Emitter<void>['event'] {
    return this.#onDidJoin.event;
  }

  get live(): readonly Listener[] {
    return [...this.#live.values()].map(({ listener }) => listener);
  }

  /**
   * Removes old logs, and makes recently used ones live, so that notifications are queued for them: all at once, since
   * what waits for whoever is live, such as a line of a script, is given away only once.
   */
  start(): Promise<void> {
    return this.#changes.run(async () => {
      const { store, clock, logger } = this.#deps;
      const listed = await store.list();
      if (!listed.ok) {
        logger.warn(`listeners cannot be listed: ${listed.failure.message}`);
        return;
      }
      const joining: (() => void)[] = [];
      for (const { id, title, lastActivity } of listed.value) {
        const age = clock.now() - lastActivity;
        if (age > KEPT_FOR) await this.#remove(id);
        else if (age < LIVE_FOR) await this.#open(id, readTitle(title), (join) => joining.push(join));
      }
      for (const join of joining) join();
    });
  }

  /**
   * Finds the listener of this agent, or creates it. Each session has its own. Without a session it is that of the
   * newest session of the agent's process, so that everything that an agent runs shares one listener.
   */
  find(given: ListenerIdentity): Promise<Result<Listener>> {
    const identity = this.#shorten(given);
    return this.#changes.run(async () => {
      if (this.#closed) return failed('closed', 'The window is closing.');
      try {
        const found = await this.#findOrMake(identity);
        if (!found.ok) return found;
        const live = found.value;
        await this.#join(live, identity);
        this.#contacts += 1;
        live.lastContact = this.#contacts;
        this.#closeLater(live);
        await this.#closeOldest(live);
        return succeeded(live.listener);
      } catch (error) {
        return storageFailure(error);
      }
    });
  }

  /** Keeps the listener live until the result is disposed of. */
  use(listener: Listener): Disposable {
    const live = this.#live.get(listener.log.id);
    if (live !== undefined) live.users += 1;
    return {
      dispose: () => {
        if (live === undefined) return;
        live.users -= 1;
        this.#closeLater(live);
      },
    };
  }

  /** All its notifications, oldest first. */
  async records({ log }: Listener): Promise<Result<readonly NotificationRecord[]>> {
    const read = await this.#deps.store.read(log.id);
    return read.ok ? succeeded(notificationHistory(read.value.events)) : read;
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#changes.run(async () => {
      await Promise.all([...this.#live.values()].map((live) => live.close()));
    });
    this.#onDidJoin.dispose();
  }

  async #findOrMake(wanted: ListenerIdentity): Promise<Result<LiveListener>> {
    const byContact = [...this.#live.values()].sort((a, b) => b.lastContact - a.lastContact);
    const live = choose(byContact, ({ identity }) => identity, wanted);
    if (live !== undefined) return succeeded(live);
    const listed = await this.#deps.store.list();
    if (!listed.ok) return listed;
    const stored = choose(listed.value, ({ title }) => readTitle(title), wanted);
    return stored === undefined
      ? this.#open(this.#deps.ids.ulid(), wanted)
      : this.#open(stored.id, readTitle(stored.title));
  }

  /** Records what the newest request says about the agent. */
  async #join(live: LiveListener, { agent, session, client }: ListenerIdentity): Promise<void> {
    const before = live.identity;
    const identity = { agent, session: session ?? before.session, client: client ?? before.client };
    const title = printTitle(identity);
    if (title === live.listener.log.state.summary.title) return;
    live.identity = identity;
    await live.listener.log.append({ type: 'title_set', title });
    this.#onDidJoin.fire();
  }

  /** `when` gets the function that makes it live; absent: that is done at once. */
  async #open(
    id: string,
    identity: ListenerIdentity,
    when: (join: () => void) => void = (join) => join(),
  ): Promise<Result<LiveListener>> {
    const { store, lock, clock, ids, logger, earshot } = this.#deps;
    const opening = await openOrFollow({ store, lock }, id);
    if (!opening.ok) return opening;
    const { opened, lock: held } = opening.value;
    if (!('file' in opened)) {
      await opened.close();
      return openElsewhere(opening.value.owner);
    }
    const parts = new DisposableStore();
    try {
      const log = new ConversationLog({ id, opened, clock, ids, logger });
      if (log.state.turn.key === '') {
        await log.append({ type: 'conversation_started', key: ids.key() });
        await log.append({ type: 'listener_started', agent: identity.agent });
      }
      when(() => parts.add(earshot.joinListener(log)));
      const listener = parts.add(
        new Listener({ log, ports: this.#deps, sample: (point) => earshot.producers.sample(point) }),
      );
      const { title } = log.state.summary;
      const live: LiveListener = {
        listener,
        // Not the list's: after a kill that may be older than the log.
        identity: title === '' ? identity : readTitle(title),
        users: 0,
        lastContact: 0,
        close: async () => {
          live.timer?.dispose();
          this.#live.delete(id);
          parts.dispose();
          await log.close();
          await held?.release();
        },
      };
      if (held !== undefined) {
        parts.add(held.onDidLose(() => void live.close().catch((error: unknown) => this.#report(error))));
      }
      this.#live.set(id, live);
      this.#closeLater(live);
      return succeeded(live);
    } catch (error) {
      parts.dispose();
      await opened.file.close();
      await held?.release();
      return storageFailure(error);
    }
  }

  #closeLater(live: LiveListener): void {
    live.timer?.dispose();
    delete live.timer;
    if (live.users > 0 || this.#live.get(live.listener.log.id) !== live) return;
    live.timer = this.#deps.clock.after(LIVE_FOR, () => {
      void this.#changes
        .run(async () => (live.users > 0 ? undefined : live.close()))
        .catch((error: unknown) => this.#report(error));
    });
  }

  /** Bounds the number of live listeners, since each has open files. */
  async #closeOldest(but: LiveListener): Promise<void> {
    if (this.#live.size <= MOST_LIVE) return;
    const [oldest] = [...this.#live.values()]
      .filter((one) => one !== but && one.users === 0)
      .sort((a, b) => a.lastContact - b.lastContact);
    await oldest?.close();
  }

  async #remove(id: string): Promise<void> {
    const { store, lock, logger } = this.#deps;
    const held = await lock.acquire(id);
    if (held === undefined) return;
    const removed = await store.remove(id);
    await held.release();
    if (!removed.ok) logger.warn(`an old listener could not be removed: ${removed.failure.message}`);
  }

  #report(error: unknown): void {
    this.#deps.logger.warn(`a listener could not be closed: ${describeError(error)}`);
  }

  /** Replaces names of sessions and processes, which may be long, by short hashes. */
  #shorten({ agent, session, client }: ListenerIdentity): ListenerIdentity {
    const short = (name: string | undefined) =>
      name === undefined ? undefined : this.#deps.snapshots.hash(this.#encoder.encode(name)).slice(0, 16);
    return { agent, session: short(session), client: short(client) };
  }
}

/** The newest listener that fits the wanted identity. */
function choose<T>(
  newestFirst: readonly T[],
  of: (one: T) => ListenerIdentity,
  wanted: ListenerIdentity,
): T | undefined {
  const ofAgent = newestFirst.filter((one) => of(one).agent === wanted.agent);
  // Unknown processes count as the same process.
  const ofClient = ofAgent.filter((one) => of(one).client === wanted.client);
  if (wanted.session === undefined) return ofClient[0];
  const own = ofAgent.find((one) => of(one).session === wanted.session);
  // The agent's MCP server may have connected first, without knowing the session.
  return own ?? ofClient.find((one) => of(one).session === undefined);
}

/** The title of the listener's log, by which it is found again. */
function printTitle({ agent, session, client }: ListenerIdentity): string {
  return [agent, ...(session ? [`session:${session}`] : []), ...(client ? [`client:${client}`] : [])].join(' ');
}

function readTitle(title: string): ListenerIdentity {
  const [agent = '', ...rest] = title.split(' ');
  const field = (name: string) => rest.find((one) => one.startsWith(`${name}:`))?.slice(name.length + 1);
  return { agent, session: field('session'), client: field('client') };
}

// The hub: stores the messages that agents send to each other, then pushes them to subscribed sessions (WIRE B).
import { join } from 'node:path';
import type * as sqliteModule from 'node:sqlite';
import { Coalescer } from '../base/async.ts';
import { type Clock } from '../base/clock.ts';
import { type Disposable, DisposableStore } from '../base/disposable.ts';
import { type FileSystem } from '../node/files/fileSystem.ts';
import { type HubRecord, type LinkHealth, type MessageCreate, type MessageRecord } from '../protocol/hub.ts';
import { Connection, type ConnectionDeps, Pushes, type Transport } from './connection.ts';
import { Directory } from './directory.ts';
import { HealthWatchers } from './healthWatchers.ts';
import { type HubContext, type HubIdentity } from './hubContext.ts';
import { type HubLink, type HubSide } from './hubLink.ts';
import { HubWriter, type StoredRecord } from './hubWriter.ts';
import { endExpired } from './identity.ts';
import { LiveIndex, type LiveIndexDeps } from './index/liveIndex.ts';
import { printCursor } from './index/messageRows.ts';
import { openIndex, type OpenedIndex } from './index/openIndex.ts';
import { Messaging } from './messaging.ts';
import { createMethods } from './methods.ts';
import { authorOf, HUB_FILE, MESSAGES_FOLDER, readHubFiles, RECEIVED_FOLDER, receivedFile } from './readRecords.ts';
import { type Announced, describePush } from './subscriptions.ts';

const INDEX_FILE = 'index.db';
/** Milliseconds between two updates of one thread. */
const THREAD_INTERVAL = 100;
/** If a start has to read more bytes of `hub.jsonl` than this, it stores a snapshot of the directory. */
const SNAPSHOT_AFTER = 64 * 1024;
/** Milliseconds between two searches for expired sessions. */
const EXPIRY_INTERVAL = 3600_000;
/** Unread messages are counted up to this number for other machines. */
const MOST_UNREAD = 1000;

export interface HubDeps {
  readonly files: FileSystem;
  readonly folder: string;
  readonly clock: Clock;
  readonly sqlite: typeof sqliteModule;
  readonly version: string;
  readonly identity?: HubIdentity | undefined;
  /** Joins this hub with those of other machines (`hub/nats/natsLink.ts`). */
  readonly join?: ((side: HubSide) => HubLink) | undefined;
  /** Called when the health of the link has changed. */
  readonly linkChanged?: ((health: LinkHealth | undefined) => void) | undefined;
  ulid(): string;
  report(message: string, error?: unknown): void;
}

export class Hub implements Disposable {
  readonly #deps: HubDeps;
  readonly #connections = new Set<Connection>();
  readonly #held = new DisposableStore();
  readonly #context: HubContext;
  readonly #call: ConnectionDeps['handle'];
  readonly #link: HubLink | undefined;
  readonly #index: LiveIndex;
  #next: number;
  #last: number;

  private constructor(deps: HubDeps, { index, found: { records, lengths }, known, last }: OpenedIndex) {
    this.#deps = deps;
    this.#index = new LiveIndex(indexDeps(deps), index, () => writer);
    const directory = new Directory();
    if (known !== undefined) directory.restore(known);
    for (const { file, end, record } of records)
      if (file === HUB_FILE && end > (known?.length ?? 0)) directory.replay(record as HubRecord);
    const unknown = (lengths.get(HUB_FILE) ?? 0) - (known?.length ?? 0);
    // The hub was killed, so it is not known which sessions were connected: none of them expires now.
    if (unknown > 0) for (const session of directory.sessions.values()) session.lastSeen = deps.clock.now();
    if (unknown > SNAPSHOT_AFTER) this.#storeDirectory(directory, lengths);
    this.#last = last;
    this.#next = last + 1;
    const updates = this.#held.add(new Coalescer<string>(deps.clock, THREAD_INTERVAL, (key) => this.#pushThread(key)));
    const healthWatchers = this.#held.add(new HealthWatchers(deps.clock, () => this.#link?.health(), deps.linkChanged));
    const writer = new HubWriter({
      files: deps.files,
      folder: deps.folder,
      lengths,
      clock: deps.clock,
      apply: (stored) => this.#apply(stored),
    });
    this.#context = {
      clock: deps.clock,
      directory,
      pushes: new Pushes(),
      writer,
      updates,
      healthWatchers,
      version: deps.version,
      startedAt: deps.clock.now(),
      identity: deps.identity,
      index: this.#index,
      link: () => this.#link,
      ulid: () => deps.ulid(),
      nextNumber: () => this.#next++,
      lastNumber: () => this.#last,
    };
    this.#call = createMethods(this.#context, new Messaging(this.#context).methods);
    this.#link = deps.join?.(this.#sideOf(lengths));
    healthWatchers.changed();
    this.#expire();
  }

  /** The process must hold the folder's lock. */
  static async open(deps: HubDeps): Promise<Hub> {
    const { files, folder } = deps;
    for (const inner of [MESSAGES_FOLDER, RECEIVED_FOLDER]) await files.makeFolder(join(folder, inner));
    const live = indexDeps(deps);
    return new Hub(deps, await openIndex(live, (from) => readHubFiles(live, from)));
  }

  connect(transport: Transport): Connection {
    const connection = new Connection(transport, {
      handle: this.#call,
      report: (error) => this.#deps.report('a request failed unexpectedly', error),
      onGone: (gone) => {
        this.#context.pushes.unbind(gone);
        this.#context.healthWatchers.set(gone, false);
        this.#connections.delete(gone);
      },
    });
    this.#connections.add(connection);
    return connection;
  }

  dispose(): void {
    this.#held.dispose();
    for (const connection of this.#connections) connection.drop();
  }

  /** Resolves once everything is on disk and closed. */
  async close(): Promise<void> {
    this.#touchLive();
    this.dispose();
    await this.#link?.close();
    await this.#context.writer.close();
    // Changes whose records could not be written are undone by then.
    await new Promise((resolve) => setImmediate(resolve));
    this.#storeDirectory(this.#context.directory, this.#context.writer.lengths);
    this.#index.close();
  }

  /** Updates when connected sessions were last seen. */
  #touchLive(): void {
    const { directory, pushes, clock } = this.#context;
    for (const session of directory.sessions.values()) if (pushes.isLive(session.id)) session.lastSeen = clock.now();
  }

  /** Call it only while no records are being written: the directory must match the file. */
  #storeDirectory(directory: Directory, lengths: ReadonlyMap<string, number>): void {
    try {
      const printed = JSON.stringify(directory.snapshot(lengths.get(HUB_FILE) ?? 0));
      this.#index.peek((index) => index.setDirectory(printed));
    } catch (error) {
      // Without it, the next start only takes longer.
      this.#deps.report('the state of the hub could not be stored', error);
    }
  }

  async #apply(stored: readonly StoredRecord[]): Promise<void> {
    let changed = stored.map(({ record }) => record);
    try {
      changed = await this.#index.apply(stored);
    } catch (error) {
      // They are on disk: every later request waits until the index can be made again from the files.
      this.#deps.report('the index is lost until the files can be read', error);
    }
    // Not before: a cursor must not be ahead of the index.
    this.#last = stored.reduce((highest, { record }) => Math.max(highest, record.n), this.#last);
    try {
      this.#link?.stored(stored);
      // In the order of arrival: clients assume that later pushes are newer.
      for (const record of changed) {
        if (record.type === 'message.create') this.#announceCreate(record);
        else if (record.type === 'message.edit' || record.type === 'message.delete') this.#announceChange(record);
      }
    } catch (error) {
      this.#deps.report('stored messages could not be pushed', error);
    }
  }

  #sideOf(lengths: ReadonlyMap<string, number>): HubSide {
    const { clock, directory, pushes, writer, nextNumber, healthWatchers } = this.#context;
    const own = [...lengths].map(([file, length]) => [authorOf(file), length] as const);
    return {
      folder: this.#deps.folder,
      clock,
      sqlite: this.#deps.sqlite,
      lengths: new Map(own.flatMap(([author, length]) => (author === undefined ? [] : [[author, length]]))),
      report: (message, error) => this.#deps.report(message, error),
      agents: () => [...directory.agents.values()],
      agent: (name) => directory.agents.get(name),
      isLive: (agent) => directory.sessionsOf(agent).some(({ id }) => pushes.isLive(id)),
      unread: (agent) => this.#index.peek((index) => index.unreadMentions(agent, MOST_UNREAD)) ?? 0,
      has: (event) => this.#index.use((index) => index.has(event)),
      lastMachineOf: (author) => this.#index.use((index) => index.lastMachineOf(author)),
      receive: (machine, record) => writer.append(receivedFile(machine), { ...record, n: nextNumber() }),
      healthChanged: () => healthWatchers.changed(),
    };
  }

  /** Uses the record itself: the index need not be read for a new message. */
  #announceCreate(record: MessageCreate): void {
    const { n, message_id, author, machine, thread, content, scopes, refs, timestamp } = record;
    const thread_id = thread?.thread_id ?? null;
    this.#announce({
      message_id,
      thread_id,
      author: { ...author, machine },
      body: { content },
      scopes,
      refs,
      created_at: timestamp,
      cursor: printCursor(n),
    });
    if (thread_id !== null) this.#context.updates.changed(thread_id);
  }

  #announceChange({ message_id: id, type }: Exclude<MessageRecord, MessageCreate>): void {
    const message = this.#index.peek((index) => index.get(id, ''));
    if (message === undefined) return;
    if (type === 'message.edit') this.#announce(message, true);
    if (message.thread_id !== null) this.#context.updates.changed(message.thread_id);
  }

  #announce(message: Announced, edited = false): void {
    const { directory, pushes } = this.#context;
    const { author, scopes, refs } = message;
    const matches = directory.subscriptions.match({ author: author.agent_id, scopes, refs });
    if (matches.size === 0) return;
    const common = JSON.stringify(describePush(message, edited)).slice(0, -1);
    for (const [session, { subscription, type }] of matches) {
      const matched = `"matched_subscription":{"subscription_id":${subscription.id},"match_type":"${type}"}`;
      pushes.push(session, `{"jsonrpc":"2.0","method":"notification.message","params":${common},${matched}}}`);
    }
  }

  /** `key` is a thread, or a thread and the one agent whose unread count changed. */
  #pushThread(key: string): void {
    const { directory, pushes, clock } = this.#context;
    const [thread = '', only] = key.split(' ');
    const frames = new Map<string, string | undefined>();
    for (const session of directory.subscriptions.sessions) {
      const agent = directory.sessions.get(session)?.agent;
      if (agent === undefined || !pushes.isLive(session) || (only !== undefined && agent !== only)) continue;
      if (!frames.has(agent)) frames.set(agent, this.#threadFrame(thread, agent, clock.now()));
      const frame = frames.get(agent);
      if (frame !== undefined) pushes.push(session, frame);
    }
  }

  #threadFrame(thread: string, agent: string, at: number): string | undefined {
    const summary = this.#index.peek((index) => index.summary(thread, agent));
    if (summary === undefined) return undefined;
    const { thread_id, message_count, unread_count, last_activity, last_sender, preview } = summary;
    const timestamp = new Date(at).toISOString();
    const params = { thread_id, message_count, unread_count, last_activity, last_sender, preview, timestamp };
    return JSON.stringify({ jsonrpc: '2.0', method: 'notification.thread.updated', params });
  }

  #expire(): void {
    endExpired(this.#context).catch((error: unknown) => this.#deps.report('old sessions could not be ended', error));
    this.#held.add(this.#deps.clock.after(EXPIRY_INTERVAL, () => this.#expire()));
  }
}

function indexDeps({ files, folder, clock, sqlite, report }: HubDeps): LiveIndexDeps {
  return { files, folder, clock, sqlite, path: join(folder, INDEX_FILE), report: (message) => report(message) };
}

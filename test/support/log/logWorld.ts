// Runs any sequence of steps on two windows, their conversations and a faulty disk, and checks that acknowledged events
// are kept.
import { expect } from 'vitest';
import { collect } from '../../../src/core/agent/delivery.ts';
import { compactionDraft, safeCompactionPoint } from '../../../src/core/conversation/compact.ts';
import { forkEvents, forkPoints } from '../../../src/core/conversation/fork.ts';
import { ConversationLog } from '../../../src/core/conversation/log.ts';
import { openOrFollow } from '../../../src/core/conversation/opening.ts';
import { enqueue, withdraw } from '../../../src/core/notify/queue.ts';
import { type Ids } from '../../../src/core/ports/ports.ts';
import { type HeldLock } from '../../../src/core/ports/storage.ts';
import { type LogEvent } from '../../../src/protocol/event.ts';
import { type Level } from '../../../src/protocol/notification.ts';
import { readSettings, type Settings } from '../../../src/protocol/settings.ts';
import { type Storage } from '../../../src/storage/storage.ts';
import { createManualClock } from '../manualClock.ts';
import { FaultyFileSystem } from './faultyFileSystem.ts';
import { checkConversation } from './logOracle.ts';
import { countingIds, draftOf, memoryLocks, memoryWindow, silentLogger, stillClock } from './memoryStorage.ts';

export interface KeptConversation {
  log: ConversationLog;
  lock: HeldLock | undefined;
  /** The log in the other window, which follows this one. */
  follower: ConversationLog | undefined;
  /** Unique marks in the messages of the notifications that were acknowledged. */
  readonly acknowledged: Set<string>;
}

const KINDS = [
  ['file', 'changed'],
  ['file', 'deleted'],
  ['task', 'ended'],
  ['diagnostics', 'introduced'],
] as const;

export class LogWorld {
  files = new FaultyFileSystem();
  readonly ids: Ids = countingIds();
  readonly #clock = createManualClock();
  settings: Settings = readSettings(() => undefined).settings;
  readonly conversations = new Map<string, KeptConversation>();
  #windows: Storage[] = [];
  #current = '';
  #number = 0;
  #running: Promise<unknown>[] = [];

  async start(): Promise<void> {
    this.#openWindows();
    await this.#add(this.ids.ulid());
  }

  get #kept(): KeptConversation {
    const kept = this.conversations.get(this.#current);
    if (kept === undefined) throw new Error('no conversation');
    return kept;
  }

  get #log(): ConversationLog {
    return this.#kept.log;
  }

  /** Does not wait: the next step runs while this one is being written. */
  publish(kind: number, subject: number, level: Level): void {
    const { acknowledged } = this.#kept;
    const mark = `mark-${this.#number++};`;
    const [source, name] = KINDS[kind % KINDS.length] ?? KINDS[0];
    const draft = draftOf(`s${subject}`, { kind: { source, name }, level, message: `${mark} s${subject}` });
    const queued = enqueue(this.#log, this.ids, draft).then(() => acknowledged.add(mark));
    this.#track(queued);
  }

  withdraw(kind: number, subject: number): void {
    const [source, name] = KINDS[kind % KINDS.length] ?? KINDS[0];
    this.#track(withdraw(this.#log, { source, name }, `file:s${subject}`, 'no longer so'));
  }

  queueMessage(content: string): void {
    this.#track(this.#log.append({ type: 'user_text_queued', content }));
  }

  /** Appends a request of the user that delivers everything pending. */
  request(content: string): void {
    if (this.#log.isBroken || this.#log.state.turn.unanswered.length > 0) return;
    if (!this.#log.state.turn.isOpen) this.#track(this.#log.append({ type: 'turn_started', source: 'user' }));
    this.#track(this.#log.append({ type: 'chat_request', content, source: 'user', ...this.#carrying() }));
  }

  /** Appends an answer of the model: a final one without calls, or one with calls. */
  answer(calls: number): void {
    const { turn } = this.#log.state;
    if (!turn.isOpen || turn.unanswered.length > 0) return;
    this.#track(this.#log.append({ type: 'chat_response', message: 'hm' }));
    for (let call = 0; call < calls; call++) {
      const id = `call-${this.#number++}`;
      this.#track(this.#log.append({ type: 'tool_call_request', id, name: 'read_file', arguments: {} }));
    }
    this.#track(this.#log.append({ type: 'model_call', model: 'm', outcome: 'succeeded' }));
    if (calls === 0) this.#track(this.#log.append({ type: 'turn_ended', outcome: 'done' }));
  }

  abortedRequest(): void {
    this.#track(this.#log.append({ type: 'model_call', model: 'm', outcome: 'aborted' }));
  }

  /** Appends a tool result; the last of a batch is a carrier. */
  respond(read: number): void {
    const { unanswered } = this.#log.state.turn;
    const id = unanswered[0]?.request.id;
    if (id === undefined) return;
    const carrying = unanswered.length === 1 ? this.#carrying() : undefined;
    const seen = [
      ...(read > 0 ? [{ path: `s${read}`, hash: `hash-${this.#number++}` }] : []),
      ...(carrying?.seen ?? []),
    ];
    const response = { type: 'tool_call_response', id, content: 'done', is_error: false } as const;
    this.#track(this.#log.append({ ...response, ...carrying, ...(seen.length > 0 && { seen }) }));
  }

  compact(keep: number): void {
    const { state } = this.#log;
    const through = safeCompactionPoint(state, keep);
    if (through !== undefined) this.#track(this.#log.append(compactionDraft(state, 'What happened.', through)));
  }

  async fork(which: number): Promise<void> {
    await this.settle();
    const read = await this.#store.read(this.#current);
    if (!read.ok) throw new Error(read.failure.message);
    const { events } = read.value;
    const points = forkPoints(events);
    const through = points[which % Math.max(1, points.length)];
    if (through === undefined || this.conversations.size > 3) return;
    const now = new Date(stillClock.now()).toISOString();
    const forked = forkEvents({ id: this.#current, events, through, now, ulid: this.ids.ulid });
    if (!forked.ok) throw new Error(forked.failure.message);
    const id = this.ids.ulid();
    await this.#store.create(id, forked.value);
    const shared = marksIn(forked.value);
    const before = [...this.#kept.acknowledged].filter((mark) => shared.has(mark));
    await this.#add(id, before);
  }

  /** Swaps owner and follower. */
  async changeOwner(): Promise<void> {
    await this.settle();
    const kept = this.#kept;
    await kept.log.close();
    await kept.follower?.close();
    await kept.lock?.release();
    this.#windows.reverse();
    Object.assign(kept, await this.#open(this.#current));
  }

  /** Faults two consecutive points of the disk, starting `calls` points from now; later calls succeed. */
  async failDisk(calls: number, code: 'EIO' | 'ENOSPC'): Promise<void> {
    const at = this.files.points.length + calls;
    this.files.faults.at = (point) => (point.number >= at && point.number < at + 2 ? code : undefined);
    await this.settle();
    this.files.faults = {};
    // The first repair may still fail because of a call that was running while the disk failed.
    for (const { log } of this.conversations.values()) await log.repair().catch(() => log.repair());
  }

  /** Loses some unsynced bytes. The windows start again from the disk. */
  async losePower(choose: (most: number) => number, settled: boolean): Promise<void> {
    if (settled) await this.settle();
    for (const { log, follower } of this.conversations.values()) {
      log.dispose();
      follower?.dispose();
    }
    this.#running = [];
    this.files = this.files.losePower(choose);
    this.#openWindows();
    for (const id of this.conversations.keys()) {
      Object.assign(this.conversations.get(id) ?? {}, await this.#open(id));
    }
  }

  choose(which: number): void {
    const ids = [...this.conversations.keys()];
    this.#current = ids[which % ids.length] ?? this.#current;
  }

  async settle(): Promise<void> {
    await Promise.allSettled(this.#running);
    this.#running = [];
  }

  /** Checks all invariants and closes everything. */
  async check(): Promise<void> {
    await this.settle();
    // A follower retries a failed read after a delay.
    this.#clock.advance(5000);
    for (const [id, kept] of this.conversations) await checkConversation(this.#store, this.files, id, kept);
    for (const { log, follower, lock } of this.conversations.values()) {
      await log.close();
      await follower?.close();
      await lock?.release();
    }
    expect(this.conversations.size).toBeGreaterThan(0);
  }

  #carrying() {
    return collect(this.#log, {
      settings: () => this.settings,
      model: () => ({ contextWindow: 32_000 }),
      clock: { now: () => 0 },
      snapshots: { hash: () => '' },
    });
  }

  get #store() {
    const storage = this.#windows[0];
    if (storage === undefined) throw new Error('no window');
    return storage.store;
  }

  #openWindows(): void {
    const tryLock = memoryLocks();
    const options = { tryLock, clock: this.#clock };
    this.#windows = ['one', 'two'].map((window) => memoryWindow(this.files, this.ids, { ...options, window }).storage);
  }

  async #add(id: string, acknowledged: readonly string[] = []): Promise<void> {
    this.conversations.set(id, { ...(await this.#open(id)), acknowledged: new Set(acknowledged) });
    this.#current = id;
    if (this.#log.state.turn.key === '') {
      await this.#log.append({ type: 'conversation_started', key: this.ids.key() });
    }
  }

  async #open(id: string): Promise<Omit<KeptConversation, 'acknowledged'>> {
    const [owner, other] = this.#windows;
    if (owner === undefined || other === undefined) throw new Error('fewer than two windows');
    const opening = await openOrFollow(owner, id);
    const following = await openOrFollow(other, id);
    if (!opening.ok || !following.ok) throw new Error('the conversation could not be opened');
    const deps = { id, clock: stillClock, ids: this.ids, logger: silentLogger };
    const log = new ConversationLog({ ...deps, opened: opening.value.opened });
    const follower = new ConversationLog({ ...deps, opened: following.value.opened });
    expect([log.owned, follower.owned]).toEqual([true, false]);
    return { log, lock: opening.value.lock, follower };
  }

  #track(step: Promise<unknown>): void {
    this.#running.push(step.catch(() => undefined));
  }
}

function marksIn(events: readonly LogEvent[]): ReadonlySet<string> {
  return new Set(events.flatMap((event) => (event.type === 'notification_queued' ? [markOf(event)] : [])));
}

export function markOf(event: Extract<LogEvent, { type: 'notification_queued' }>): string {
  return event.notification.message.split(' ')[0] ?? '';
}

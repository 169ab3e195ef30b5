// The events of one conversation in order, each once, whichever window writes them: from this window's log, or from the
// file that another window writes.
import { Sequence } from '../../base/async.ts';
import { type Disposable, DisposableStore } from '../../base/disposable.ts';
import { Emitter } from '../../base/emitter.ts';
import { describeFailure, failed, type Result, succeeded } from '../../base/errors.ts';
import { type Earshot } from '../../core/earshot.ts';
import { type Logger } from '../../core/ports/ports.ts';
import { type FollowedLog, type ReadLog, type Store } from '../../core/ports/storage.ts';
import { type LogEvent } from '../../protocol/event.ts';

export interface FeedDeps {
  readonly earshot: Earshot;
  readonly store: Store;
  readonly logger: Logger;
}

/** The source of the events; `starting` while it is being changed. */
type Source = 'live' | 'file' | 'starting';

/**
 * While the conversation is live in this window, its log announces events; otherwise the file is followed. When the
 * source changes, the file is read from the last event on, and events that the new source announces meanwhile are held.
 */
export class Feed implements Disposable {
  readonly conversation: string;
  readonly #deps: FeedDeps;
  readonly #held = new DisposableStore();
  readonly #onEvent: Emitter<LogEvent>;
  readonly #onLost: Emitter<string>;
  #source: Source = 'starting';
  /** Events that the live log announced while the file was being read. */
  #early: LogEvent[] = [];
  #followed: { readonly log: FollowedLog; readonly listening: Disposable } | undefined;
  readonly #switches = new Sequence();
  /** The number of requested switches of the source; an older switch stops when a newer one is requested. */
  #wanted = 0;
  /** The last request that was carried out. */
  #made = 0;
  #lastSeq = 0;
  #lastId = '';
  #key = '';
  #ended = false;

  constructor(conversation: string, deps: FeedDeps) {
    this.conversation = conversation;
    this.#deps = deps;
    const report = (error: unknown) => deps.logger.error('a subscription of a plugin failed', error);
    this.#onEvent = this.#held.add(new Emitter(report));
    this.#onLost = this.#held.add(new Emitter(report));
    const { earshot } = deps;
    this.#held.add(
      earshot.onDidChange(({ conversation: id, folded, reset }) => {
        if (id !== conversation) return;
        if (folded !== undefined) this.#announced(folded.event);
        if (reset === true) this.#restart();
      }),
    );
    this.#held.add(earshot.onDidChangeLive((id) => id === conversation && this.#restart()));
  }

  /** Fires for each new event, after `lastSeq` was set to its number. */
  get onEvent(): Emitter<LogEvent>['event'] {
    return this.#onEvent.event;
  }

  /** Fires with the reason when events that were announced are no longer in the log. */
  get onLost(): Emitter<string>['event'] {
    return this.#onLost.event;
  }

  get lastSeq(): number {
    return this.#lastSeq;
  }

  get key(): string {
    return this.#key || (this.#deps.earshot.get(this.conversation)?.log.state.turn.key ?? '');
  }

  /** Resolves once `lastSeq` is known and nothing after it can be missed. */
  async start(): Promise<Result<void>> {
    const end = await this.#deps.store.end(this.conversation);
    if (!end.ok) return end;
    if (end.value.lastSeq === 0) return failed('no_conversation', 'There is no such conversation.');
    this.#lastSeq = end.value.lastSeq;
    this.#key = end.value.key;
    this.#restart();
    await this.#switches.settled();
    return succeeded(undefined);
  }

  /** The events after this number, each parsed when it is reached. */
  scan(after: number): Promise<Result<ReadLog>> {
    return this.#deps.store.scan(this.conversation, after);
  }

  dispose(): void {
    this.#ended = true;
    this.#held.dispose();
    this.#unfollow();
  }

  #announced(event: LogEvent): void {
    if (this.#source === 'live') this.#offer(event);
    else if (this.#source === 'starting') this.#early.push(event);
  }

  #offer(event: LogEvent): void {
    if (event.seq <= this.#lastSeq || this.#ended) return;
    this.#lastSeq = event.seq;
    this.#lastId = event.event_id;
    this.#onEvent.fire(event);
  }

  /** Chooses the source again: it may have changed, or the log was rebuilt. */
  #restart(): void {
    this.#source = 'starting';
    this.#wanted += 1;
    const report = (error: unknown) => {
      this.#deps.logger.error('a conversation cannot be followed for a plugin', error);
      this.#lose('its log cannot be read');
    };
    void this.#switches.run(() => this.#switch()).catch(report);
  }

  async #switch(): Promise<void> {
    const wanted = this.#wanted;
    if (this.#ended || this.#made === wanted) return;
    this.#made = wanted;
    this.#unfollow();
    if (this.#deps.earshot.get(this.conversation) === undefined) await this.#follow(wanted);
    else await this.#catchUp(wanted);
  }

  async #catchUp(wanted: number): Promise<void> {
    this.#early = [];
    const read = await this.scan(this.#lastSeq - 1);
    if (this.#ended || this.#wanted !== wanted) return;
    if (!read.ok) {
      this.#lose(describeFailure(read.failure));
      return;
    }
    this.#readAll(read.value);
    this.#source = 'live';
    for (const event of this.#early.splice(0)) this.#offer(event);
  }

  async #follow(wanted: number): Promise<void> {
    const followed = await this.#deps.store.follow(this.conversation);
    if (!followed.ok) {
      this.#lose(describeFailure(followed.failure));
      return;
    }
    const log = followed.value;
    if (this.#ended || this.#wanted !== wanted) {
      this.#close(log);
      return;
    }
    this.#source = 'file';
    const listening = log.onDidGrow((more) => this.#source === 'file' && this.#readAll(more, more.whole));
    this.#followed = { log, listening };
    this.#readAll(log);
  }

  /** `whole`: it includes the events up to `lastSeq`, so that removed or replaced events are detected. */
  #readAll(read: ReadLog, whole = true): void {
    if (whole && read.nextSeq <= this.#lastSeq) return this.#lose('events were removed from its log');
    for (const event of read.events) {
      if (whole && event.seq === this.#lastSeq) {
        if (this.#lastId !== '' && event.event_id !== this.#lastId)
          return this.#lose('events of its log were replaced');
        this.#lastId = event.event_id;
      }
      this.#offer(event);
    }
  }

  #lose(reason: string): void {
    if (!this.#ended) this.#onLost.fire(reason);
  }

  #unfollow(): void {
    const { log, listening } = this.#followed ?? {};
    this.#followed = undefined;
    listening?.dispose();
    if (log !== undefined) this.#close(log);
  }

  #close(log: FollowedLog): void {
    void log.close().catch((error: unknown) => this.#deps.logger.error('a followed log could not be closed', error));
  }
}

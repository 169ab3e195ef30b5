// The event log of a conversation: numbers each event, folds it at once and announces it once it is on disk.
import { type Disposable } from '../../base/disposable.ts';
import { Emitter } from '../../base/emitter.ts';
import { describeError, type Failure, FailureError } from '../../base/errors.ts';
import { EVENT_VERSION, type EventDraft, findFault, type LogEvent } from '../../protocol/event.ts';
import { type Clock, type Ids, type Logger } from '../ports/ports.ts';
import {
  type EventFile,
  type FollowedLog,
  type OpenedLog,
  type PartialAnswers,
  type ReadLog,
} from '../ports/storage.ts';
import { type KnownTools } from '../ports/toolTraits.ts';
import { type Folded, Projections } from './projections/project.ts';

export interface ConversationLogDeps {
  readonly id: string;
  /** With a `file` this window owns the conversation; otherwise it follows the one that does. */
  readonly opened: OpenedLog | FollowedLog;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly logger: Logger;
  /** Absent: calls have no meaning beyond their results. */
  readonly tools?: KnownTools | undefined;
}

/** Events that change what lists show, besides the title and the review. */
const LISTED: ReadonlySet<LogEvent['type']> = new Set(['forked', 'choice_made']);

interface Drafted {
  readonly draft: EventDraft;
  /** Given if parts of the event were already shown under it. */
  readonly id?: string | undefined;
}

interface Appended {
  readonly events: readonly LogEvent[];
  readonly onDisk: Promise<void>;
}

export class ConversationLog implements Disposable {
  readonly id: string;
  readonly tools: KnownTools | undefined;
  readonly #clock: Clock;
  readonly #ids: Ids;
  readonly #logger: Logger;
  readonly #onDidAppend: Emitter<Folded>;
  readonly #onDidReset: Emitter<void>;
  /** Undefined in a follower. */
  #file: EventFile | undefined;
  #closeFile: () => Promise<void> = () => Promise.resolve();
  #closing = false;
  #following: Disposable | undefined;
  #state: Projections;
  #nextSeq = 1;
  #damage: readonly Failure[] = [];
  /** Set from a failed write until the projections agree with the file again. */
  #broken: FailureError | undefined;
  #repairing: Promise<void> | undefined;
  #lastTimestamp = { time: Number.NaN, text: '' };

  constructor(deps: ConversationLogDeps) {
    this.id = deps.id;
    this.tools = deps.tools;
    this.#state = new Projections(deps.tools);
    this.#clock = deps.clock;
    this.#ids = deps.ids;
    this.#logger = deps.logger;
    const report = (error: unknown) => deps.logger.error('a listener of the log failed', error);
    this.#onDidAppend = new Emitter(report);
    this.#onDidReset = new Emitter(report);
    this.#attach(deps.opened);
  }

  /** A reset replaces this object: do not keep a reference to it. */
  get state(): Projections {
    return this.#state;
  }

  /** Whether this window is the owner. */
  get owned(): boolean {
    return this.#file !== undefined;
  }

  /** Whether this window is the owner and has not begun to close or release the log. */
  get isWritable(): boolean {
    return this.owned && !this.#closing;
  }

  /** A write failed, and nothing can be appended until the log is repaired. */
  get isBroken(): boolean {
    return this.#broken !== undefined;
  }

  /** Undefined in a follower. */
  get partial(): PartialAnswers | undefined {
    return this.#file?.partial;
  }

  /** Damage found when the log was read. */
  get damage(): readonly Failure[] {
    return this.#damage;
  }

  /** Fires in the order of the events, each once it is on disk. */
  get onDidAppend(): Emitter<Folded>['event'] {
    return this.#onDidAppend.event;
  }

  /** Fires when the projections were rebuilt: after a failed write, or when the owner changed. */
  get onDidReset(): Emitter<void>['event'] {
    return this.#onDidReset.event;
  }

  /**
   * Numbers and folds the event before it returns, so that the next decision already takes it into account. The file
   * has the same order: an event on disk has all earlier ones before it. Resolves once the event is on disk. `id` is
   * given if parts of the event were already shown under it.
   */
  async append(draft: EventDraft, id = this.#ids.ulid()): Promise<LogEvent> {
    const file = this.#writable();
    const event = this.#envelop(draft, this.#nextSeq, id);
    checkEvent(event);
    await this.#write(file, event);
    return event;
  }

  /**
   * Appends several events with nothing between them. It checks all of them before it writes the first: if one could
   * not be read again, it throws and changes nothing.
   */
  appendTogether(drafts: readonly Drafted[]): Appended {
    const file = this.#writable();
    const events = drafts.map(({ draft, id }, index) => this.#envelop(draft, this.#nextSeq + index, id));
    events.forEach(checkEvent);
    const kept = events.map((event) => this.#write(file, event));
    return { events, onDisk: Promise.all(kept).then(() => undefined) };
  }

  /**
   * After a failed write: resolves once the file is repaired and the projections agree with it; rejects with the
   * failure while the disk refuses. Wait for it before a decision based on `state`, which contains the events that
   * failed.
   */
  async repair(): Promise<void> {
    if (this.#broken === undefined) return;
    this.#repairing ??= this.#repairNow().finally(() => {
      this.#repairing = undefined;
    });
    await this.#repairing;
  }

  /** Continues as owner or as follower. The previous file must be closed or closing. */
  become(opened: OpenedLog | FollowedLog): void {
    this.#broken = undefined;
    this.#attach(opened);
    this.#onDidReset.fire();
  }

  /** Stops writing; `state` can still be read. Resolves once the file is closed. */
  async closeFile(): Promise<void> {
    this.#following?.dispose();
    this.#closing = true;
    await this.#closeFile();
  }

  async close(): Promise<void> {
    this.dispose();
    await this.closeFile();
  }

  dispose(): void {
    this.#following?.dispose();
    this.#onDidAppend.dispose();
    this.#onDidReset.dispose();
  }

  /**
   * `append` throws for an event it cannot write, before its number is used: a number without a line would be a
   * permanent gap.
   */
  #write(file: EventFile, event: LogEvent): Promise<void> {
    const written = file.append(event);
    this.#nextSeq += 1;
    return this.#announce(file, this.#state.fold(event), written);
  }

  async #announce(file: EventFile, folded: Folded, written: Promise<void>): Promise<void> {
    try {
      await written;
    } catch (error) {
      this.#failed(error);
      throw error;
    }
    if (folded.titleChanged || folded.reviewChanged || LISTED.has(folded.event.type)) this.#list(file);
    this.#onDidAppend.fire(folded);
  }

  #list(file: EventFile): void {
    const { summary, changes, choice } = this.#state;
    const { title, subagent, forkedFrom } = summary;
    file.titled?.(title, { subagent, forkedFrom, unreviewed: changes.open.size, choice: choice.current });
  }

  #envelop(draft: EventDraft, seq: number, id = this.#ids.ulid()): LogEvent {
    return { v: EVENT_VERSION, seq, event_id: id, timestamp: this.#timestamp(), ...draft };
  }

  /** Cached, because many events of a burst share a millisecond. */
  #timestamp(): string {
    const now = this.#clock.now();
    if (now !== this.#lastTimestamp.time) this.#lastTimestamp = { time: now, text: new Date(now).toISOString() };
    return this.#lastTimestamp.text;
  }

  #writable(): EventFile {
    if (this.#broken !== undefined) throw this.#broken;
    if (this.#file !== undefined) return this.#file;
    throw new FailureError({
      code: 'not_owner',
      message: 'This conversation is open in another window, which writes it.',
      nextStep: 'Choose “Continue here” to use it in this one.',
    });
  }

  #attach(opened: OpenedLog | FollowedLog): void {
    this.#following?.dispose();
    this.#following = undefined;
    this.#closing = false;
    this.#rebuild(opened);
    // The closures must not keep `opened` alive, since it has every event.
    if ('file' in opened) {
      const { file } = opened;
      this.#file = file;
      this.#list(file);
      this.#closeFile = () => file.close();
    } else {
      this.#file = undefined;
      this.#closeFile = opened.close;
      this.#following = opened.onDidGrow((more) => this.#followed(more, more.whole));
    }
  }

  #rebuild(read: ReadLog): void {
    const state = new Projections(this.tools);
    for (const event of read.events) state.fold(event);
    if (read.endLost === true || state.turn.lastSeq !== read.nextSeq - 1) state.turn.lostEvents();
    this.#state = state;
    this.#nextSeq = read.nextSeq;
    this.#damage = read.damage;
  }

  #followed(more: ReadLog, whole: boolean): void {
    if (whole) {
      this.#rebuild(more);
      this.#onDidReset.fire();
      return;
    }
    this.#nextSeq = more.nextSeq;
    for (const event of more.events) this.#onDidAppend.fire(this.#state.fold(event));
    if (more.damage.length > 0) this.#damage = [...this.#damage, ...more.damage];
  }

  #failed(error: unknown): void {
    if (!(error instanceof FailureError) || error.failure.code !== 'storage' || this.#broken !== undefined) return;
    this.#broken = error;
    void this.repair().catch((again: unknown) => this.#logger.warn(`not repaired yet: ${describeError(again)}`));
  }

  async #repairNow(): Promise<void> {
    if (this.#file === undefined) return;
    const read = await this.#file.repair();
    this.#rebuild(read);
    this.#broken = undefined;
    this.#onDidReset.fire();
  }
}

/** An event is validated before it is written, because it is trusted afterwards. */
function checkEvent(event: LogEvent): void {
  const fault = findFault(event);
  if (fault !== undefined) throw new Error(`an event that could not be read again was not written: ${fault}`);
}

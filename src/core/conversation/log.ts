// Decides the order of a conversation's events: each gets its number, is folded at once and is announced once it is on disk.
import { type Disposable } from '../../base/disposable.ts';
import { Emitter } from '../../base/emitter.ts';
import { describeError, type Failure, FailureError } from '../../base/errors.ts';
import { EVENT_VERSION, type EventDraft, findFault, type LogEvent } from '../../protocol/event.ts';
import { type Clock, type Ids, type Logger } from '../ports/ports.ts';
import { type EventFile, type FollowedLog, type OpenedLog, type ReadLog } from '../ports/storage.ts';
import { type KnownTools } from '../ports/toolTraits.ts';
import { type Folded, Projections } from './projections/project.ts';

export interface ConversationLogDeps {
  readonly id: string;
  /** With a `file` this window owns the conversation; otherwise it follows the one that does. */
  readonly opened: OpenedLog | FollowedLog;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly logger: Logger;
  /** Absent: no call means anything besides its result. */
  readonly tools?: KnownTools | undefined;
}

interface Drafted {
  readonly draft: EventDraft;
  /** Given where parts of the event were drawn under it before. */
  readonly id?: string | undefined;
}

interface Appended {
  readonly events: readonly LogEvent[];
  readonly kept: Promise<void>;
}

export class ConversationLog implements Disposable {
  readonly id: string;
  readonly tools: KnownTools | undefined;
  readonly #clock: Clock;
  readonly #ids: Ids;
  readonly #output: Logger;
  readonly #onDidAppend: Emitter<Folded>;
  readonly #onDidReset: Emitter<void>;
  /** Absent in a window that follows. */
  #file: EventFile | undefined;
  #closeFile: () => Promise<void> = () => Promise.resolve();
  #closing = false;
  #following: Disposable | undefined;
  #state: Projections;
  #nextSeq = 1;
  #damage: readonly Failure[] = [];
  /** Set from a failed write until the projections say again what the file says. */
  #broken: FailureError | undefined;
  #mending: Promise<void> | undefined;
  #printed = { time: Number.NaN, text: '' };

  constructor(deps: ConversationLogDeps) {
    this.id = deps.id;
    this.tools = deps.tools;
    this.#state = new Projections(deps.tools);
    this.#clock = deps.clock;
    this.#ids = deps.ids;
    this.#output = deps.logger;
    const report = (error: unknown) => deps.logger.error('a listener of the log failed', error);
    this.#onDidAppend = new Emitter(report);
    this.#onDidReset = new Emitter(report);
    this.#take(deps.opened);
  }

  /** Everything that is known of the conversation. Replaced whole by a reset: ask for it anew each time. */
  get state(): Projections {
    return this.#state;
  }

  /** This window writes it. */
  get owned(): boolean {
    return this.#file !== undefined;
  }

  /** This window writes it and has not begun to close or release it. */
  get isWritable(): boolean {
    return this.owned && !this.#closing;
  }

  /** A write failed and nothing can be appended until it is mended. */
  get isBroken(): boolean {
    return this.#broken !== undefined;
  }

  /** What was found damaged when it was read. */
  get damage(): readonly Failure[] {
    return this.#damage;
  }

  /** Fires in the order of the events, each once it is on disk. */
  get onDidAppend(): Emitter<Folded>['event'] {
    return this.#onDidAppend.event;
  }

  /** The projections were built anew: after a failed write, or when the owner changed. */
  get onDidReset(): Emitter<void>['event'] {
    return this.#onDidReset.event;
  }

  /**
   * Numbers and folds the event before it returns, so that whoever decides next decides with it; the file keeps the same
   * order, so whatever is on disk is on disk with everything before it. Resolves once it is there. `id` is given where
   * parts of the event were drawn under it before.
   */
  async append(draft: EventDraft, id = this.#ids.ulid()): Promise<LogEvent> {
    const file = this.#writable();
    const event = this.#envelop(draft, this.#nextSeq, id);
    checkEvent(event);
    await this.#write(file, event);
    return event;
  }

  /**
   * The same for several events that nothing may stand between. All of them are checked before the first is written: it
   * throws, and changes nothing, if one could not be read again. `kept` resolves once they are on disk.
   */
  appendTogether(drafts: readonly Drafted[]): Appended {
    const file = this.#writable();
    const events = drafts.map(({ draft, id }, index) => this.#envelop(draft, this.#nextSeq + index, id));
    events.forEach(checkEvent);
    const kept = events.map((event) => this.#write(file, event));
    return { events, kept: Promise.all(kept).then(() => undefined) };
  }

  /**
   * After a failed write: resolves once the file is whole again and the projections say what it says; rejects with the
   * failure while the disk refuses. Whoever decides by the state waits for this first, since what was folded before a
   * failed write is not true.
   */
  async repair(): Promise<void> {
    if (this.#broken === undefined) return;
    this.#mending ??= this.#mendNow().finally(() => {
      this.#mending = undefined;
    });
    await this.#mending;
  }

  /** Goes on as owner or as follower. The one before is closed, or was. */
  become(opened: OpenedLog | FollowedLog): void {
    this.#broken = undefined;
    this.#take(opened);
    this.#onDidReset.fire();
  }

  /** Nothing is written from here on; the state can still be read. Resolves once the file is closed. */
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

  /** The line is known to be writable before its number is taken: a number without a line is a hole for good. */
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
    if (folded.titleChanged) file.titled?.(this.#state.summary.title);
    this.#onDidAppend.fire(folded);
  }

  #envelop(draft: EventDraft, seq: number, id = this.#ids.ulid()): LogEvent {
    return { v: EVENT_VERSION, seq, event_id: id, timestamp: this.#timestamp(), ...draft };
  }

  /** Many events of a storm fall into one millisecond, and printing it is not free. */
  #timestamp(): string {
    const now = this.#clock.now();
    if (now !== this.#printed.time) this.#printed = { time: now, text: new Date(now).toISOString() };
    return this.#printed.text;
  }

  #writable(): EventFile {
    if (this.#broken !== undefined) throw this.#broken;
    if (this.#file !== undefined) return this.#file;
    throw new FailureError({
      code: 'not_owner',
      message: 'This conversation is open in another window, which writes it.',
      nextStep: 'Say “Continue here” to go on in this one.',
    });
  }

  #take(opened: OpenedLog | FollowedLog): void {
    this.#following?.dispose();
    this.#following = undefined;
    this.#closing = false;
    this.#rebuild(opened);
    // Not `opened` itself: it has every event.
    if ('file' in opened) {
      const { file } = opened;
      this.#file = file;
      file.titled?.(this.#state.summary.title);
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
    void this.repair().catch((again: unknown) => this.#output.warn(`not mended yet: ${describeError(again)}`));
  }

  async #mendNow(): Promise<void> {
    if (this.#file === undefined) return;
    const read = await this.#file.repair();
    this.#rebuild(read);
    this.#broken = undefined;
    this.#onDidReset.fire();
  }
}

/** Once written it is believed for good, so this is the place to look. */
function checkEvent(event: LogEvent): void {
  const fault = findFault(event);
  if (fault !== undefined) throw new Error(`an event that nobody could read was not written: ${fault}`);
}

// Follows the lines of one source for one conversation: searches what is new, reports matches in batches and silences
// once. How far it searched is stored with each report, so that a killed editor continues at the same line.
import { pause } from '../../base/async.ts';
import { type Clock } from '../../base/clock.ts';
import { type Disposable } from '../../base/disposable.ts';
import { defined } from '../../base/json/defined.ts';
import { type FoundLine, LineSearch } from '../../core/notify/lines/lineSearch.ts';
import { type LineWatch, type LiveConversations } from '../../core/ports/producers.ts';
import { type Publisher } from '../../core/ports/ports.ts';
import { type LinePosition } from '../../protocol/lines/lineWatch.ts';
import { draftMatches, draftQuiet, type LineBatch, type LineSourceWords, MOST_LINES } from './lineReports.ts';
import { type ReportPace } from './reportPace.ts';

const READ_BYTES = 256 * 1024;
/** Searched this far without a report, the position is stored, so that little is searched again. */
const STORE_EVERY = 4 * 1024 * 1024;
/** A line without an end is searched after this time. */
const REST_MILLISECONDS = 1000;
/** How long the first match waits for others. */
const FIRST_MILLISECONDS = 200;
const BETWEEN_MILLISECONDS = 2000;
/** Lets other work go on between two pieces of much output. */
const PAUSE_MILLISECONDS = 1;

/** Bytes from a position. `skipped` bytes before them are gone. */
export interface LinePiece {
  readonly bytes: Uint8Array;
  readonly from: number;
  /** The file that has them. */
  readonly file?: FileState;
  /** Another file begins with them, or the same one after it was emptied. */
  readonly begins?: boolean;
  readonly skipped: number;
  /** What was written before this file began could not be found. */
  readonly lost?: boolean;
}

/** What a position says about its file. */
export type FileState = Pick<LinePosition, 'file' | 'modified' | 'born'>;

export interface LineSource {
  readonly words: LineSourceWords;
  /** Undefined: there is nothing new. */
  read(position: LinePosition, limit: number): Promise<LinePiece | undefined>;
}

export interface FollowerDeps {
  readonly clock: Clock;
  readonly publisher: Publisher;
  readonly live: LiveConversations;
  readonly pace: ReportPace;
  readonly source: LineSource;
  readonly conversation: string;
  readonly target: string;
  report(error: unknown): void;
}

export class LineFollower implements Disposable {
  readonly #deps: FollowerDeps;
  readonly #id: string;
  #search: LineSearch;
  #file: FileState;
  /** The last position that is in the log; undefined: that is of another file. */
  #stored: number | undefined;
  /** A loss was reported by itself; the next one goes with other lines. */
  #hasToldLoss = false;
  #batch = emptyBatch();
  #running: Promise<void> | undefined;
  #isPoked = false;
  #publishing: Promise<void> | undefined;
  #due: Disposable | undefined;
  #rest: Disposable | undefined;
  #silence: Disposable | undefined;
  #lastReport = Number.NEGATIVE_INFINITY;
  #isDisposed = false;
  #hasEnded = false;
  #finishing: Promise<LineWatch | undefined> | undefined;

  constructor(deps: FollowerDeps, watch: LineWatch) {
    this.#deps = deps;
    this.#id = watch.id;
    this.#search = new LineSearch(watch);
    this.#file = fileOf(watch.position);
    this.#stored = watch.position.through;
    this.#listen();
    this.poke();
  }

  /** Undefined: the conversation no longer waits for these lines. */
  get watch(): LineWatch | undefined {
    const watch = this.#deps.live.lines(this.#deps.conversation).get(this.#deps.target);
    return watch?.id === this.#id ? watch : undefined;
  }

  /** There may be more. */
  poke(): void {
    this.#isPoked = true;
    if (this.#running !== undefined || this.#isDisposed) return;
    this.#running = this.#runAll()
      .catch(this.#deps.report)
      .finally(() => {
        this.#running = undefined;
        if (this.#isPoked) this.poke();
      });
  }

  /** There will be no more lines: searches what is left and reports it. Resolves to the watch as it is then. */
  finish(): Promise<LineWatch | undefined> {
    this.#finishing ??= this.#finish();
    return this.#finishing;
  }

  async #finish(): Promise<LineWatch | undefined> {
    this.#hasEnded = true;
    this.#silence?.dispose();
    this.poke();
    while (this.#running !== undefined) await this.#running;
    this.#add(this.#search.takeRest());
    this.#due?.dispose();
    while (this.#batch.count > 0 || this.#publishing !== undefined) await this.#publish();
    const { watch } = this;
    if (watch !== undefined && !this.#isDisposed) {
      await this.#deps.live.linesSearched(this.#deps.conversation, {
        watch: this.#id,
        position: this.#position,
        done: true,
      });
    }
    return watch;
  }

  dispose(): void {
    this.#isDisposed = true;
    for (const timer of [this.#due, this.#rest, this.#silence]) timer?.dispose();
  }

  get #position(): LinePosition {
    return { ...this.#search.position, ...this.#fileAt(this.#search.mark) };
  }

  #fileAt(mark: string | undefined): Partial<LinePosition> {
    return this.#file.file === undefined || mark === undefined ? this.#file : { ...this.#file, mark };
  }

  async #runAll(): Promise<void> {
    while (this.#isPoked && !this.#isDisposed) {
      this.#isPoked = false;
      await this.#readNew();
    }
    if (this.#search.hasRest) this.#searchRestLater();
  }

  async #readNew(): Promise<void> {
    const { clock, source } = this.#deps;
    for (;;) {
      const next = { through: this.#search.next, ...this.#fileAt(this.#search.nextMark) };
      const piece = await source.read(next, READ_BYTES);
      if (piece === undefined || this.#isDisposed) return;
      this.#take(piece);
      if (isEmpty(this.#batch) && this.#publishing === undefined) await this.#store();
      await pause(clock, PAUSE_MILLISECONDS);
    }
  }

  #take({ bytes, from, file = {}, begins = false, skipped, lost = false }: LinePiece): void {
    if (begins || from !== this.#search.next) {
      // Nothing follows the line at which another file began.
      this.#add(this.#search.takeRest());
      this.#search.skipTo(from);
      this.#stored = undefined;
    }
    this.#file = file;
    this.#batch.lost ||= lost;
    if (skipped > 0 || (lost && !this.#hasToldLoss)) {
      this.#batch.skipped += skipped;
      this.#reportLater();
    }
    this.#rest?.dispose();
    this.#rest = undefined;
    this.#add(this.#search.take(bytes));
    this.#listen();
  }

  #add(found: readonly FoundLine[]): void {
    if (found.length === 0) return;
    for (const line of found) {
      // One more than is shown: the others are read from there.
      if (this.#batch.lines.length <= MOST_LINES) this.#batch.lines.push(line);
      for (const index of line.patterns) this.#batch.matches.set(index, (this.#batch.matches.get(index) ?? 0) + 1);
    }
    this.#batch.count += found.length;
    this.#reportLater();
  }

  /** So that what was searched without a match is not searched again after a restart. */
  async #store(): Promise<void> {
    const { conversation, live } = this.#deps;
    const { through } = this.#search.position;
    if (this.watch === undefined) return;
    if (this.#stored !== undefined && through - this.#stored < STORE_EVERY) return;
    this.#stored = through;
    await live.linesSearched(conversation, { watch: this.#id, position: this.#position });
  }

  #searchRestLater(): void {
    this.#rest ??= this.#deps.clock.after(REST_MILLISECONDS, () => {
      this.#rest = undefined;
      // Not while more is read, which may be the end of this line.
      if (this.#running === undefined) this.#add(this.#search.takeRest());
    });
  }

  #reportLater(): void {
    if (this.#due !== undefined || this.#publishing !== undefined || this.#isDisposed) return;
    const { clock, pace } = this.#deps;
    const next = this.#lastReport + BETWEEN_MILLISECONDS - clock.monotonic();
    this.#due = clock.after(Math.max(FIRST_MILLISECONDS, next, pace.take()), () => {
      this.#due = undefined;
      void this.#publish().catch(this.#deps.report);
    });
  }

  #publish(): Promise<void> {
    this.#publishing ??= this.#publishBatch().finally(() => {
      this.#publishing = undefined;
      this.#lastReport = this.#deps.clock.monotonic();
      const { count, skipped, lost } = this.#batch;
      if (count > 0 || skipped > 0 || (lost && !this.#hasToldLoss)) this.#reportLater();
    });
    return this.#publishing;
  }

  /** The lines and the position after them are one event. */
  async #publishBatch(): Promise<void> {
    const { conversation, publisher, source } = this.#deps;
    const { watch } = this;
    const batch = this.#batch;
    const position = this.#position;
    this.#batch = emptyBatch();
    if (watch === undefined || isEmpty(batch)) return;
    const matches = Object.fromEntries(batch.matches);
    const about = { conversation, watch, words: source.words, at: this.#now() };
    try {
      await publisher.publish(draftMatches(about, batch, { watch: this.#id, position, matches }), conversation);
      // Unless another file has begun meanwhile.
      if (position.file === this.#file.file) this.#stored = position.through;
      this.#hasToldLoss = batch.lost && batch.count === 0;
    } finally {
      // Nobody got it, as while the conversation changes its owner: it is searched again from what the log says.
      if (this.watch !== undefined && !isSame(this.watch.position, position)) this.#startAgain(this.watch);
    }
  }

  #startAgain(watch: LineWatch): void {
    this.#search = new LineSearch(watch);
    this.#file = fileOf(watch.position);
    this.#stored = watch.position.through;
    this.#batch = emptyBatch();
    this.poke();
  }

  /** Each silence is reported once: again only after more was printed. */
  #listen(): void {
    this.#silence?.dispose();
    const seconds = this.watch?.quietAfterSeconds;
    if (seconds === undefined || this.#hasEnded || this.#isDisposed) return;
    this.#silence = this.#deps.clock.after(seconds * 1000, () => void this.#reportQuiet().catch(this.#deps.report));
  }

  async #reportQuiet(): Promise<void> {
    const { conversation, publisher, source } = this.#deps;
    const { watch } = this;
    const size = this.#search.next;
    if (watch === undefined || watch.quiet === size || this.#hasEnded || this.#batch.count > 0) return;
    const about = { conversation, watch, words: source.words, at: this.#now() };
    // Not further than the log: what is found and not reported yet must not be skipped.
    const isReported = this.#publishing === undefined && isEmpty(this.#batch);
    const searched = { watch: this.#id, position: isReported ? this.#position : watch.position };
    await publisher.publish(draftQuiet(about, size, { ...searched, quiet: size }), conversation);
  }

  #now(): string {
    return new Date(this.#deps.clock.now()).toISOString();
  }
}

interface OpenBatch extends LineBatch {
  lines: FoundLine[];
  count: number;
  matches: Map<number, number>;
  skipped: number;
  lost: boolean;
}

function emptyBatch(): OpenBatch {
  return { lines: [], count: 0, matches: new Map(), skipped: 0, lost: false };
}

function isEmpty({ count, skipped, lost }: OpenBatch): boolean {
  return count === 0 && skipped === 0 && !lost;
}

function fileOf({ file, modified, born }: LinePosition): FileState {
  return defined({ file, modified, born });
}

function isSame(one: LinePosition, other: LinePosition): boolean {
  return one.through === other.through && one.file === other.file && one.reported === other.reported;
}

// Follows one subscription to a server's events, by polling or over a stream, until it is disposed of or the server ends
// it. What was delivered is on disk before more is requested, and each connection continues after that.
import { BackOff, nextEvent, pause, Sequence } from '../../base/async.ts';
import { type Clock } from '../../base/clock.ts';
import { type Disposable } from '../../base/disposable.ts';
import { type Event } from '../../base/emitter.ts';
import { describeError } from '../../base/errors.ts';
import { type EventSink, type EventSubscription, type ReceivedEvent } from '../../core/ports/mcp.ts';
import { EVENT_ERRORS, type McpOccurrence } from '../../protocol/outside/mcpEvents.ts';
import { type McpServer } from '../server.ts';
import { EventFailure, type EventFrame, type EventRequest, type McpEvents } from '../session/sessionPort.ts';

export interface EventFollowerDeps {
  readonly clock: Clock;
  /** The server as it is configured now. */
  server(): McpServer | undefined;
  /** Fires when servers were added, removed or connected. */
  readonly onDidChange: Event<void>;
  /** Whether the server still lists the event. */
  isListed(events: McpEvents): Promise<boolean>;
  report(error: unknown): void;
}

const SECOND = 1000;
const MINUTE = 60 * SECOND;
/** Servers send a heartbeat every 30 s. */
const DEAD_AFTER = 75 * SECOND;
const POLL_HELD = 25 * SECOND;
const SHORTEST_POLL = 2 * SECOND;
const LONGEST_POLL = 60 * MINUTE;
const AFTER_EXHAUSTED = 5 * MINUTE;
const BATCH_EVERY = 2 * SECOND;
const BATCH = 10;
const MOST_IN_BATCH = 100;
/** A server that delivers faster than events can be stored is read again from the stored position. */
const MOST_WAITING = 1000;
/** Of events that are delivered late, more are skipped. */
const MOST_LATE = 500;
/** So many pages are requested one after the other. */
const MOST_PAGES = 50;
const MAX_AGE = 7 * 24 * 60 * MINUTE;
/** An interruption that is shorter than this is none. */
const NO_GAP = MINUTE;

const KEEPS_NOTHING = 'the server does not keep events, and the connection was interrupted';
const TOO_MANY = `more than ${MOST_LATE} were waiting`;
const SKIPPED = 'the server has skipped some';
const REFUSED_POSITION = 'the server refused to continue where the last connection ended';

/** Errors after which trying again is useless. */
const FINAL: ReadonlySet<number | undefined> = new Set([
  EVENT_ERRORS.badParams,
  EVENT_ERRORS.noMethod,
  EVENT_ERRORS.forbidden,
  EVENT_ERRORS.unsupported,
]);

export class EventFollower implements Disposable {
  readonly #deps: EventFollowerDeps;
  readonly #subscription: EventSubscription;
  readonly #sink: EventSink;
  readonly #over = new AbortController();
  readonly #backOff = new BackOff(SECOND, 5 * MINUTE);
  /** Set while the next request must begin now instead of where the last one ended: why. */
  #skip: string | undefined;
  #isListedStill = false;
  /** The server does not hold polls. */
  #isImpatient = false;

  constructor(deps: EventFollowerDeps, subscription: EventSubscription, sink: EventSink) {
    this.#deps = deps;
    this.#subscription = subscription;
    this.#sink = sink;
    void this.#run().catch((error: unknown) => deps.report(error));
  }

  dispose(): void {
    this.#over.abort();
  }

  async #run(): Promise<void> {
    const { clock } = this.#deps;
    const { signal } = this.#over;
    const isOver = () => signal.aborted;
    let last = this.#subscription.at;
    while (!isOver()) {
      const server = await this.#whenReady();
      const events = server?.session?.events;
      if (server === undefined || isOver()) return;
      if (server.configured.identity !== this.#subscription.identity) {
        return this.#end('the configuration of the server has changed: subscribe again if it is still meant');
      }
      if (events === undefined) return this.#end('the server has no events any more');
      if (this.#sink.cursor() === null && clock.now() - last > NO_GAP) this.#skip ??= KEEPS_NOTHING;
      const since = clock.monotonic();
      const failure = await this.#follow(events, clock.now());
      if (isOver()) return;
      last = clock.now();
      if (clock.monotonic() - since > MINUTE) this.#backOff.reset();
      if (failure?.kind === 'sign_in') {
        const { session } = server;
        if (session !== undefined) server.wantSignIn(session, failure.message);
      }
      const wait = failure === undefined ? this.#delay() : await this.#classify(failure, events);
      if (wait === undefined) return this.#end(failure?.message ?? '');
      await pause(clock, wait, signal);
    }
  }

  /** Waits until the server is connected, whatever happens to it meanwhile. */
  async #whenReady(): Promise<McpServer | undefined> {
    const { signal } = this.#over;
    while (!signal.aborted) {
      const server = this.#deps.server();
      if (server?.session !== undefined) return server;
      this.#sink.state(server === undefined ? 'the server is not configured' : server.absence);
      await nextEvent(this.#deps.onDidChange, signal);
    }
    return undefined;
  }

  /** Resolves once the connection is over: to its failure, or undefined if the server has closed it. */
  async #follow(events: McpEvents, connected: number): Promise<EventFailure | undefined> {
    try {
      if (this.#subscription.mode === 'push') await this.#stream(events, connected);
      else await this.#poll(events, connected);
      return undefined;
    } catch (error) {
      return error instanceof EventFailure ? error : new EventFailure('lost', describeError(error));
    }
  }

  /** Milliseconds until the next attempt; undefined: there is none. */
  async #classify(failure: EventFailure, events: McpEvents): Promise<number | undefined> {
    const { kind, code, message } = failure;
    this.#sink.state(message);
    if (kind === 'sign_in' || kind === 'lost') return this.#delay();
    if (code === EVENT_ERRORS.exhausted) return AFTER_EXHAUSTED;
    if (kind === 'invalid') return undefined;
    if (code === EVENT_ERRORS.notFound && kind === 'refused' && !this.#isListedStill) {
      this.#isListedStill = await this.#deps.isListed(events).catch(() => false);
      return this.#isListedStill ? this.#delay() : undefined;
    }
    if (kind === 'ended' || code === EVENT_ERRORS.notFound) return undefined;
    if (code === EVENT_ERRORS.badParams && this.#skip === undefined && this.#sink.cursor() !== null) {
      this.#skip = REFUSED_POSITION;
      return 0;
    }
    return FINAL.has(code) ? undefined : this.#delay();
  }

  /** Spread, so that all subscriptions of a server do not return at the same moment. */
  #delay(): number {
    return this.#backOff.next() * (0.75 + Math.random() / 2);
  }

  #works(): void {
    this.#skip = undefined;
    this.#isListedStill = false;
    this.#sink.state(undefined);
  }

  async #end(reason: string): Promise<void> {
    if (this.#over.signal.aborted) return;
    await this.#sink.ended(reason);
  }

  #request(): EventRequest {
    const { event: name, arguments: args } = this.#subscription;
    const cursor = this.#skip === undefined ? this.#sink.cursor() : null;
    return {
      name,
      ...(args !== undefined && { arguments: args }),
      cursor,
      ...(cursor !== null && { maxAgeMs: MAX_AGE }),
    };
  }

  async #poll(events: McpEvents, connected: number): Promise<void> {
    const { signal } = this.#over;
    let [late, pages] = [0, 0];
    while (!signal.aborted) {
      const request = { ...this.#request(), maxEvents: MOST_IN_BATCH };
      const page = await this.#page(events, request);
      const missed = this.#skip ?? (page.truncated ? SKIPPED : undefined);
      this.#works();
      const received = page.events.map(receivedOf);
      await this.#sink.accept({
        events: received,
        cursor: page.cursor,
        connected,
        ...(missed !== undefined && { missed }),
      });
      const goesOn = page.hasMore && received.length > 0;
      [late, pages] = goesOn ? [late + received.length, pages + 1] : [0, 0];
      if (late >= MOST_LATE) {
        [late, this.#skip] = [0, TOO_MANY];
        await pause(this.#deps.clock, this.#delay(), signal);
      } else if (!goesOn || pages % MOST_PAGES === 0) {
        const wanted = goesOn ? 0 : (page.nextPollMs ?? 0);
        await pause(this.#deps.clock, Math.min(LONGEST_POLL, Math.max(SHORTEST_POLL, wanted)), signal);
      }
    }
  }

  /** Servers of the earlier draft refuse the time for which an answer may be held. */
  async #page(events: McpEvents, request: EventRequest): Promise<Awaited<ReturnType<McpEvents['poll']>>> {
    const { signal } = this.#over;
    if (this.#isImpatient) return events.poll(request, signal);
    try {
      return await events.poll({ ...request, timeoutMs: POLL_HELD }, signal);
    } catch (error) {
      if (!(error instanceof EventFailure) || error.code !== EVENT_ERRORS.badParams) throw error;
      const page = await events.poll(request, signal);
      this.#isImpatient = true;
      return page;
    }
  }

  async #stream(events: McpEvents, connected: number): Promise<void> {
    const { clock } = this.#deps;
    const broken = new AbortController();
    const signal = AbortSignal.any([this.#over.signal, broken.signal]);
    const batches = new Batches(clock, connected, this.#sink, (error) => broken.abort(error));
    const tooLate = () => {
      this.#skip = TOO_MANY;
      broken.abort(new EventFailure('lost', TOO_MANY));
    };
    let dead: Disposable | undefined;
    const alive = () => {
      dead?.dispose();
      dead = clock.after(DEAD_AFTER, () => broken.abort(new EventFailure('lost', 'it sent no heartbeat for 75 s')));
    };
    alive();
    try {
      const skipped = this.#skip;
      const request = this.#request();
      await events.stream(
        request,
        (frame) => {
          alive();
          if (frame.type === 'position' && frame.isFirst) this.#works();
          batches.add(frame, request.cursor !== null, skipped);
          if (batches.late > MOST_LATE) tooLate();
        },
        signal,
      );
    } catch (error) {
      const reason: unknown = broken.signal.aborted ? broken.signal.reason : error;
      throw reason;
    } finally {
      dead?.dispose();
      await batches.end();
    }
  }
}

interface Position {
  readonly cursor: string | null;
}

/** Collects the frames of one stream: the first event is passed on at once, then what came within 2 s. */
class Batches {
  readonly #clock: Clock;
  readonly #connected: number;
  readonly #sink: EventSink;
  readonly #broke: (error: unknown) => void;
  readonly #accepting = new Sequence();
  readonly #frames: (McpOccurrence | Position)[] = [];
  /** How many events happened before the stream began. */
  late = 0;
  #missed: string | undefined;
  #timer: Disposable | undefined;
  #hasEnded = false;

  constructor(clock: Clock, connected: number, sink: EventSink, broke: (error: unknown) => void) {
    this.#clock = clock;
    this.#connected = connected;
    this.#sink = sink;
    this.#broke = broke;
  }

  /** `continues`: the stream was asked to continue at a position. */
  add(frame: EventFrame, continues: boolean, skipped: string | undefined): void {
    if (this.#hasEnded) return;
    if (frame.type === 'position') {
      const missed = frame.isFirst ? (skipped ?? (frame.truncated ? SKIPPED : undefined)) : undefined;
      this.#missed ??= missed;
      // What follows the first position may be before it: the stored one counts until an event or a heartbeat.
      if (!frame.isFirst || !continues || missed !== undefined) this.#frames.push({ cursor: frame.cursor });
    } else {
      this.#frames.push(frame.occurrence);
      if (Date.parse(frame.occurrence.timestamp) < this.#connected) this.late += 1;
    }
    if (this.#frames.length > MOST_WAITING) return this.#broke(new EventFailure('lost', 'it sends too fast'));
    if (this.#timer === undefined || this.#frames.length >= BATCH) this.#flush();
  }

  /** Passes on what came until now. */
  async end(): Promise<void> {
    this.#flush();
    this.#hasEnded = true;
    this.#timer?.dispose();
    await this.#accepting.settled();
  }

  #flush(): void {
    this.#timer?.dispose();
    this.#timer = this.#clock.after(BATCH_EVERY, () => {
      this.#timer = undefined;
      if (this.#frames.length > 0) this.#flush();
    });
    void this.#accepting.run(() => this.#pass()).catch((error: unknown) => this.#failed(error));
  }

  /** What comes after events that could not be stored must not be stored either: the next stream delivers both. */
  #failed(error: unknown): void {
    this.#hasEnded = true;
    this.#frames.length = 0;
    this.#missed = undefined;
    this.#broke(error);
  }

  async #pass(): Promise<void> {
    while (this.#frames.length > 0 || this.#missed !== undefined) {
      const frames = this.#frames.splice(0, MOST_IN_BATCH);
      const events = frames.flatMap((frame) => ('eventId' in frame ? [receivedOf(frame)] : []));
      // An event without a position says nothing about it.
      const at = frames.findLast((frame) => !('eventId' in frame) || frame.cursor !== null);
      const missed = this.#missed;
      this.#missed = undefined;
      const more = { ...(at !== undefined && { cursor: at.cursor }), ...(missed !== undefined && { missed }) };
      await this.#sink.accept({ events, connected: this.#connected, ...more });
    }
  }
}

function receivedOf({ eventId: id, timestamp: at, data }: McpOccurrence): ReceivedEvent {
  return { id, at, data };
}

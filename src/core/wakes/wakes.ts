// Sets, follows and fires the timers and conditions of the conversations that this window owns.
import { type Disposable, DisposableStore, toDisposable } from '../../base/disposable.ts';
import { Emitter } from '../../base/emitter.ts';
import { failed, type Failure, type Result, succeeded } from '../../base/errors.ts';
import { type LogEvent } from '../../protocol/event.ts';
import { type Atom, type Condition, MOST_WAKES } from '../../protocol/wakes.ts';
import { atomsOf, printAtom } from '../conversation/conditions.ts';
import { draftGrant } from '../conversation/grants.ts';
import { type ConversationLog } from '../conversation/log.ts';
import { type SetWake } from '../conversation/wakes.ts';
import { type Ids, type Logger } from '../ports/ports.ts';
import { type DueIndex } from '../ports/storage.ts';
import { type Fact } from './fact.ts';
import { anchorOf, type FactDeps, handleIn, whyNotFollowed } from './facts.ts';
import { FollowedCondition, printFacts } from './followedCondition.ts';
import { FollowedWake } from './followedWake.ts';
import { isTimer } from './wakeTexts.ts';
import { whyNotAwaited } from './whyNotAwaited.ts';

export interface WakesDeps extends FactDeps {
  readonly ids: Ids;
  readonly logger: Logger;
  /** Absent: nothing is found after a restart unless its conversation is opened. */
  readonly due?: DueIndex | undefined;
}

export interface WakeRequest {
  readonly name: string;
  /** Absent: a timer that is repeated. */
  readonly when?: Condition;
  readonly every?: number;
  /** Milliseconds since 1970. */
  readonly until: number;
  readonly most: number;
  readonly note: string;
  /** The call that the user approved. */
  readonly call: string;
}

export interface ListedWake {
  readonly wake: SetWake;
  /** When it is due, or its deadline. */
  readonly next: number;
  readonly facts: readonly Fact[];
}

/** The time of day is compared at least this often: timers of the system do not count the time that it slept. */
const LONGEST_STEP = 30_000;
const TRY_AGAIN_AFTER = 1000;

interface Joined {
  readonly log: ConversationLog;
  readonly due: DueIndex | undefined;
  /** By name. */
  readonly followed: Map<string, FollowedWake>;
  /** `WakeStates.progress` when the conditions were last looked at because of a notification. */
  progress: number;
}

export class Wakes implements Disposable {
  readonly #deps: WakesDeps;
  readonly #joined = new Map<string, Joined>();
  readonly #marked = new Set<string>();
  readonly #onDidChange: Emitter<string>;
  #running = false;
  #timer: Disposable | undefined;
  #scheduling: Promise<void> | undefined;

  constructor(deps: WakesDeps) {
    this.#deps = deps;
    this.#onDidChange = new Emitter((error) => deps.logger.error('a listener of timers failed', error));
  }

  /** Fires with the conversation whose timers, conditions or their facts have changed. */
  get onDidChange(): Emitter<string>['event'] {
    return this.#onDidChange.event;
  }

  /**
   * Call once this window owns the conversation and has reattached its commands. `isIndexed`: whether the index names it
   * while something is due; not for the log of an outside agent, which is opened when the agent comes back.
   */
  join(log: ConversationLog, { isIndexed = true }: { readonly isIndexed?: boolean } = {}): Disposable {
    const held = new DisposableStore();
    const due = isIndexed ? this.#deps.due : undefined;
    const joined: Joined = { log, due, followed: new Map(), progress: log.state.wakes.progress };
    this.#joined.set(log.id, joined);
    held.add(
      toDisposable(() => {
        this.#joined.delete(log.id);
        for (const one of joined.followed.values()) one.dispose();
      }),
    );
    held.add(log.onDidAppend(({ event }) => this.#appended(joined, event)));
    held.add(log.onDidReset(() => this.#sync(joined)));
    this.#sync(joined);
    return held;
  }

  /** Timers and conditions fire until the result is disposed of. */
  start(): Disposable {
    this.#running = true;
    this.#checkAll();
    return toDisposable(() => {
      this.#running = false;
      this.#timer?.dispose();
    });
  }

  /** Lines and events that may wake the model count too. */
  hasAny(conversation: string): boolean {
    const log = this.#joined.get(conversation)?.log;
    return log !== undefined && hasDue(log, this.#deps.clock.now());
  }

  /** Conversations that had something due when they were last written. */
  async due(): Promise<ReadonlySet<string>> {
    const listed = (await this.#deps.due?.list()) ?? [];
    for (const id of listed) this.#marked.add(id);
    return new Set(listed);
  }

  list(conversation: string): readonly ListedWake[] {
    const joined = this.#joined.get(conversation);
    return (joined?.log.state.wakes.all ?? []).map((wake) => {
      const followed = joined?.followed.get(wake.name);
      const next = this.#deps.clock.now() + (followed?.timeLeft() ?? 0);
      return { wake, next: followed === undefined ? wake.until : next, facts: followed?.facts ?? [] };
    });
  }

  /** Sets a timer or a condition. If the condition holds already, nothing is set and the evidence is returned. */
  async set(conversation: string, request: WakeRequest): Promise<Result<{ readonly met?: readonly string[] }>> {
    const { ids } = this.#deps;
    const { name, when, every, until, most, note, call } = request;
    const joined = this.#joined.get(conversation);
    if (joined === undefined) return failed('not_open', 'Timers and conditions cannot be set in this conversation.');
    const { log, due } = joined;
    const atoms = when === undefined ? [] : atomsOf(when);
    const refused = await this.whyNot(conversation, atoms);
    if (refused !== undefined) return { ok: false, failure: refused };
    const anchors = await this.#anchors(conversation, atoms);
    if (when !== undefined) {
      const met = await this.#readNow(log, when, anchors);
      if (met !== undefined) return succeeded({ met });
    }
    this.#marked.add(conversation);
    await due?.mark(conversation);
    // Right before it is set: calls of the same answer run at the same time.
    if (log.state.wakes.count >= MOST_WAKES && log.state.wakes.get(name) === undefined) {
      return failed('too_many', `name: ${MOST_WAKES} timers and conditions are set already. Cancel one first.`);
    }
    const source = isTimer(request) ? 'timer' : 'condition';
    const grant = draftGrant(log, ids, { source, name, most, until, call });
    const set = {
      type: 'wake_set' as const,
      ...{ name, note, grant: grant.id },
      until: new Date(until).toISOString(),
      ...(when && { when: { ...when } }),
      ...(every !== undefined && { every }),
      ...(Object.keys(anchors).length > 0 && { anchors }),
    };
    await log.appendTogether([{ draft: grant.draft }, { draft: set }]).onDisk;
    return succeeded({});
  }

  /** Returns whether there was one. */
  async cancel(conversation: string, name: string, by: 'model' | 'user'): Promise<boolean> {
    const log = this.#joined.get(conversation)?.log;
    if (log?.state.wakes.get(name) === undefined) return false;
    await log.append({ type: 'wake_cancelled', name, by });
    return true;
  }

  /** Fires it at once, at the request of the user. Returns whether there was one. */
  async fireNow(conversation: string, name: string): Promise<boolean> {
    return (await this.#joined.get(conversation)?.followed.get(name)?.fireNow()) ?? false;
  }

  /** Waits inside a turn until the condition holds or cannot hold any more, or until the signal is aborted. */
  async until(conversation: string, condition: Condition, signal: AbortSignal): Promise<Result<WaitedFor>> {
    const joined = this.#joined.get(conversation);
    if (joined === undefined) return failed('not_open', 'Conditions cannot be awaited in this conversation.');
    const { clock } = this.#deps;
    const atoms = atomsOf(condition);
    const refused = await this.whyNot(conversation, atoms);
    if (refused !== undefined) return { ok: false, failure: refused };
    const anchors = await this.#anchors(conversation, atoms);
    let wake: () => void = () => undefined;
    const options = { log: joined.log, condition, since: clock.now(), anchors, changed: () => wake() };
    const followed = new FollowedCondition(this.#deps, options);
    try {
      for (;;) {
        const { promise, resolve } = Promise.withResolvers<void>();
        wake = resolve;
        const { truth, facts } = await followed.read();
        const isOver = truth === 'yes' || truth === 'never';
        if (isOver || signal.aborted) return succeeded({ truth, lines: printFacts(condition, facts, clock.now()) });
        const next = Math.min(LONGEST_STEP, (followed.nextTime() ?? Number.POSITIVE_INFINITY) - clock.now());
        const timer = clock.after(Math.max(1, next), resolve);
        signal.addEventListener('abort', () => resolve(), { once: true });
        await promise;
        timer.dispose();
      }
    } finally {
      followed.dispose();
    }
  }

  dispose(): void {
    this.#running = false;
    this.#timer?.dispose();
    this.#onDidChange.dispose();
  }

  /** Why these cannot be followed in the conversation now. */
  async whyNot(conversation: string, atoms: readonly Atom[]): Promise<Failure | undefined> {
    for (const atom of atoms) {
      const events = this.#joined.get(conversation)?.log.state.events;
      const why = (events && whyNotAwaited(atom, events)) ?? (await whyNotFollowed(this.#deps, atom, conversation));
      if (why === undefined) continue;
      const message = `when: “${printAtom(atom, this.#deps.clock.now())}”: ${why}`;
      return { code: handleIn(atom) === undefined ? 'not_followed' : 'no_handle', message };
    }
    return undefined;
  }

  async #anchors(conversation: string, atoms: readonly Atom[]): Promise<Record<string, string>> {
    const anchors: Record<string, string> = {};
    for (const [index, atom] of atoms.entries()) {
      const anchor = await anchorOf(this.#deps, atom, conversation);
      if (anchor !== undefined) anchors[String(index)] = anchor;
    }
    return anchors;
  }

  async #readNow(
    log: ConversationLog,
    condition: Condition,
    anchors: Readonly<Record<string, string>>,
  ): Promise<readonly string[] | undefined> {
    const now = this.#deps.clock.now();
    const options = { log, condition, since: now, anchors, changed: () => undefined };
    const followed = new FollowedCondition(this.#deps, options);
    try {
      const { truth, facts } = await followed.read();
      return truth === 'yes' ? printFacts(condition, facts, now) : undefined;
    } finally {
      followed.dispose();
    }
  }

  /** Most events are notifications, which cost nothing unless a condition waits for them. */
  #appended(joined: Joined, event: LogEvent): void {
    // Whoever wrote it has marked the conversation.
    if (event.type === 'wake_granted') this.#marked.add(joined.log.id);
    if (event.type === 'notification_queued') {
      if (event.notification.grant !== undefined) this.#sync(joined);
      else this.#checkIfNotified(joined);
    } else if (EVENTS.has(event.type)) this.#sync(joined);
    // The last fire of a repeated timer may have been delivered or dismissed, so that the next one is due.
    else if ('notifications' in event || event.type === 'notification_withdrawn') {
      const repeated = [...joined.followed.values()].filter((one) => one.isRepeated);
      for (const one of repeated) one.check();
      // Looks at all that is due anywhere, so not for every delivery.
      if (repeated.length > 0) this.#schedule();
    }
  }

  #checkIfNotified(joined: Joined): void {
    const { progress } = joined.log.state.wakes;
    if (progress === joined.progress) return;
    joined.progress = progress;
    for (const one of joined.followed.values()) one.check();
  }

  /** Follows what the log has. */
  #sync(joined: Joined): void {
    const { log, followed, due } = joined;
    const { wakes } = log.state;
    for (const [name, one] of [...followed]) {
      if (one.seq === wakes.get(name)?.seq) continue;
      followed.delete(name);
      one.dispose();
    }
    for (const wake of wakes.all) {
      if (followed.has(wake.name)) continue;
      const one = new FollowedWake(
        { ...this.#deps, isRunning: () => this.#running, changed: () => this.#changed(log.id) },
        log,
        wake,
      );
      followed.set(wake.name, one);
    }
    for (const one of followed.values()) one.check();
    if (!hasDue(log, this.#deps.clock.now()) && this.#marked.delete(log.id)) {
      const report = (error: unknown) => this.#deps.logger.error('the index of timers could not be written', error);
      const unmarked = due?.unmark(log.id) ?? Promise.resolve();
      void unmarked.catch(report);
    }
    this.#changed(log.id);
  }

  #changed(conversation: string): void {
    this.#schedule();
    this.#onDidChange.fire(conversation);
  }

  #checkAll(): void {
    for (const { followed } of this.#joined.values()) for (const one of followed.values()) one.check();
    this.#schedule();
  }

  /** Once for all changes of the same moment. */
  #schedule(): void {
    this.#scheduling ??= Promise.resolve().then(() => {
      this.#scheduling = undefined;
      this.#scheduleNow();
    });
  }

  #scheduleNow(): void {
    this.#timer?.dispose();
    this.#timer = undefined;
    if (!this.#running) return;
    let next = Number.POSITIVE_INFINITY;
    for (const { followed } of this.#joined.values()) {
      for (const one of followed.values()) next = Math.min(next, one.timeLeft());
    }
    if (next === Number.POSITIVE_INFINITY) return;
    // What is due was looked at; if it could not fire, for example because the disk is full, it is tried again.
    const wait = next <= 0 ? TRY_AGAIN_AFTER : Math.min(LONGEST_STEP, next);
    this.#timer = this.#deps.clock.after(wait, () => this.#tick());
  }

  /** Only what is due is looked at: facts announce their changes themselves. */
  #tick(): void {
    for (const { followed } of this.#joined.values()) {
      for (const one of followed.values()) if (one.timeLeft() <= 0) one.check();
    }
    this.#scheduleNow();
  }
}

export interface WaitedFor {
  readonly truth: 'yes' | 'no' | 'unknown' | 'never';
  readonly lines: readonly string[];
}

const EVENTS: ReadonlySet<LogEvent['type']> = new Set([
  'wake_set',
  'wake_cancelled',
  'wake_progress',
  'wake_revoked',
  'events_unsubscribed',
  // They are listed with timers and conditions.
  'events_subscribed',
  'lines_watched',
]);

function hasDue({ state }: ConversationLog, now: number): boolean {
  return state.wakes.count > 0 || state.lines.mayWake || state.events.mayWake(now);
}

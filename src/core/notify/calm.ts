// Decides how fast a producer is heard: the first at once, then one a subject every 2 s, and above 50 a minute one summary.
import { type Disposable, DisposableStore } from '../../base/disposable.ts';
import { type Kind, LEVELS, type Level, type NotificationDraft, printKind } from '../../protocol/notification.ts';
import { type Clock, type Publisher } from '../ports.ts';
import { type Addressed } from './dispatcher.ts';

export const SUBJECT_MILLISECONDS = 2000;
export const MINUTE_MILLISECONDS = 60_000;
export const MOST_A_MINUTE = 50;
const SUBJECTS_NAMED = 30;
const NAME_LIMIT = 50;

/** What stands behind: it delivers at once whatever it is given. */
export interface Outlet extends Publisher {
  listeners(draft: NotificationDraft, addressed: Addressed): Iterable<string>;
  /** Queues for this listener whatever it subscribed to. */
  deliver(draft: NotificationDraft, listener: string): Promise<unknown>;
}

export interface CalmDeps {
  readonly clock: Clock;
  readonly outlet: Outlet;
}

interface Held {
  readonly draft: NotificationDraft;
  readonly addressed: Addressed;
  readonly settle: Settle;
}

/** Answers a caller of `publish` once its notification, or what stands for it, is on disk. */
interface Settle {
  readonly promise: Promise<void>;
  follow(delivered: Promise<unknown>): void;
}

/**
 * A subject between two of its words. Held by kind, in the order in which they came: a newer one replaces its own kind
 * only, since a file that is deleted is another fact than a file that is unsaved.
 */
interface Resting {
  readonly timer: Disposable;
  readonly held: Map<string, Held>;
}

/** What was too much, as one listener would have heard it. */
interface Excess {
  readonly listener: string;
  readonly kind: Kind;
  readonly origin: NotificationDraft['origin'];
  level: Level;
  count: number;
  readonly subjects: Set<string>;
  readonly first: string;
  last: string;
}

/** One for each producer. What was taken is delivered, replaced by a newer one of its subject, or counted in a summary. */
export class CalmPublisher implements Publisher, Disposable {
  readonly #deps: CalmDeps;
  /** Subjects that spoke within the last 2 s, with what they have said since. */
  readonly #subjects = new Map<string, Resting>();
  /** When the last ones were let through, oldest first; at most 50. */
  #passed: number[] = [];
  readonly #excess = new Map<string, Excess>();
  #excessSettle: Settle | undefined;
  #summaryTimer: Disposable | undefined;
  #lastSummary = Number.NEGATIVE_INFINITY;
  #ended = false;

  constructor(deps: CalmDeps) {
    this.#deps = deps;
  }

  /** Resolves once it, or what replaced or counted it, is on disk. */
  async publish(draft: NotificationDraft, to?: string, sender?: string): Promise<unknown> {
    const addressed = { to, sender };
    if (draft.subject === undefined || this.#ended) return this.#pass(draft, addressed);
    const key = JSON.stringify([draft.subject, to, sender]);
    const subject = this.#subjects.get(key);
    if (subject === undefined) {
      this.#rest(key);
      return this.#pass(draft, addressed);
    }
    const settle = createSettle();
    const kind = printKind(draft.kind);
    subject.held.get(kind)?.settle.follow(settle.promise);
    subject.held.delete(kind);
    subject.held.set(kind, { draft, addressed, settle });
    return settle.promise;
  }

  /** Also takes back what was held. */
  async withdraw(kind: Kind, subject: string, reason: string, to?: string): Promise<boolean> {
    let taken = false;
    for (const { held } of this.#subjects.values()) {
      const one = held.get(printKind(kind));
      if (one?.draft.subject !== subject || (to !== undefined && one.addressed.to !== to)) continue;
      held.delete(printKind(kind));
      one.settle.follow(Promise.resolve());
      taken = true;
    }
    return (await this.#deps.outlet.withdraw(kind, subject, reason, to)) || taken;
  }

  /** Everything held goes out now; what is published later goes straight through. */
  dispose(): void {
    if (this.#ended) return;
    this.#ended = true;
    const timers = new DisposableStore();
    const held: Held[] = [];
    for (const subject of this.#subjects.values()) {
      timers.add(subject.timer);
      held.push(...subject.held.values());
    }
    this.#subjects.clear();
    timers.dispose();
    for (const one of held) one.settle.follow(this.#pass(one.draft, one.addressed));
    this.#summarize();
  }

  /** For 2 s the subject is quiet; if it has spoken meanwhile, its newest word goes out and it rests again. */
  #rest(key: string): void {
    const timer = this.#deps.clock.after(SUBJECT_MILLISECONDS, () => {
      const held = [...(this.#subjects.get(key)?.held.values() ?? [])];
      this.#subjects.delete(key);
      if (held.length === 0) return;
      this.#rest(key);
      for (const one of held) one.settle.follow(this.#pass(one.draft, one.addressed));
    });
    this.#subjects.set(key, { timer, held: new Map() });
  }

  #pass(draft: NotificationDraft, addressed: Addressed): Promise<unknown> {
    const now = this.#deps.clock.now();
    this.#passed = this.#passed.filter((at) => now - at < MINUTE_MILLISECONDS);
    if (this.#ended || this.#passed.length < MOST_A_MINUTE) {
      this.#passed.push(now);
      return this.#deps.outlet.publish(draft, addressed.to, addressed.sender);
    }
    return this.#exceed(draft, addressed, now);
  }

  #exceed(draft: NotificationDraft, addressed: Addressed, now: number): Promise<unknown> {
    for (const listener of this.#deps.outlet.listeners(draft, addressed)) this.#count(draft, listener);
    if (this.#excess.size === 0) return Promise.resolve();
    const due = Math.max(now + SUBJECT_MILLISECONDS, this.#lastSummary + MINUTE_MILLISECONDS);
    this.#summaryTimer ??= this.#deps.clock.after(due - now, () => this.#summarize());
    this.#excessSettle ??= createSettle();
    return this.#excessSettle.promise;
  }

  #count(draft: NotificationDraft, listener: string): void {
    const key = JSON.stringify([listener, draft.kind.source, draft.kind.name]);
    const { kind, origin, level, at, subject } = draft;
    let excess = this.#excess.get(key);
    if (excess === undefined) {
      excess = { listener, kind, origin, level, count: 0, subjects: new Set(), first: at, last: at };
      this.#excess.set(key, excess);
    }
    excess.count += 1;
    excess.last = at;
    if (LEVELS.indexOf(level) > LEVELS.indexOf(excess.level)) excess.level = level;
    if (subject !== undefined && excess.subjects.size < SUBJECTS_NAMED) excess.subjects.add(subject);
  }

  #summarize(): void {
    this.#summaryTimer?.dispose();
    this.#summaryTimer = undefined;
    const all = [...this.#excess.values()];
    this.#excess.clear();
    if (all.length === 0) return;
    this.#lastSummary = this.#deps.clock.now();
    const settle = this.#excessSettle;
    this.#excessSettle = undefined;
    settle?.follow(Promise.all(all.map((excess) => this.#deps.outlet.deliver(summaryOf(excess), excess.listener))));
  }
}

/** Without a subject: two summaries must not merge, each has counts of its own. */
function summaryOf({ kind, level, origin, count, subjects, first, last }: Excess): NotificationDraft {
  const names = [...subjects].map((subject) => subject.slice(subject.indexOf(':') + 1, NAME_LIMIT + 10));
  const among = names.length === 0 ? '' : ` Among them: ${names.join(', ')}.`;
  const message = `${count} more ${printKind(kind)} came too fast to be told one by one.${among} Look again at what matters to you.`;
  return { kind, level, origin, at: last, message, data: { summary: true, count, first } };
}

function createSettle(): Settle {
  const { promise, resolve } = Promise.withResolvers<unknown>();
  const settled = promise.then(() => undefined);
  // Whoever published hears of a failure; when nobody waits any more it is no unhandled one.
  settled.catch(() => undefined);
  return { promise: settled, follow: (delivered) => resolve(delivered) };
}

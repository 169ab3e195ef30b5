// Throttles the publications of a producer: the first of a subject at once, then one every 2 s; a summary above 50 a
// minute.
import { ignore } from '../../base/async.ts';
import { type Disposable, DisposableStore } from '../../base/disposable.ts';
import { type Kind, type NotificationDraft, printKind } from '../../protocol/notification.ts';
import { type Clock, type Publisher } from '../ports/ports.ts';
import { type Addressed } from './outlet.ts';
import { Excess } from './excess.ts';
import { type Outlet } from './outlet.ts';

export const SUBJECT_MILLISECONDS = 2000;
export const MINUTE_MILLISECONDS = 60_000;
export const MOST_A_MINUTE = 50;

export interface ThrottleDeps {
  readonly clock: Clock;
  readonly outlet: Outlet;
}

interface HeldDraft {
  readonly draft: NotificationDraft;
  readonly addressed: Addressed;
  readonly settle: Settle;
}

/** Resolves a call of `publish` once its notification, or its replacement, is on disk. */
interface Settle {
  readonly promise: Promise<void>;
  follow(delivered: Promise<unknown>): void;
}

/**
 * A subject within 2 s of its last publication. Drafts are held by kind, in order: a newer draft replaces only a draft
 * of its own kind, since a deleted file is a different fact from an unsaved one.
 */
interface RestingSubject {
  readonly to: string | undefined;
  readonly timer: Disposable;
  readonly held: Map<string, HeldDraft>;
}

/** Each producer has one. Every draft is delivered, replaced by a newer one of its subject, or counted in a summary. */
export class ThrottledPublisher implements Publisher, Disposable {
  readonly #deps: ThrottleDeps;
  /** Subjects that were published within the last 2 s, with the drafts held since. */
  readonly #subjects = new Map<string, RestingSubject>();
  /** The times of publications in the last minute, oldest first; at most 50. */
  #passed: number[] = [];
  readonly #excess: Excess;
  #summaryTimer: Disposable | undefined;
  #lastSummary = Number.NEGATIVE_INFINITY;
  #ended = false;

  constructor(deps: ThrottleDeps) {
    this.#deps = deps;
    this.#excess = new Excess(deps.outlet);
  }

  /** Resolves once the draft, or the notification that replaced or counted it, is on disk. */
  async publish(draft: NotificationDraft, to?: string, sender?: string): Promise<unknown> {
    const addressed = { to, sender };
    if (draft.subject === undefined || this.#ended) return this.#pass(draft, addressed);
    const key = JSON.stringify([draft.subject, to, sender]);
    const subject = this.#subjects.get(key);
    if (subject === undefined) {
      this.#rest(key, to);
      return this.#pass(draft, addressed);
    }
    const settle = createSettle();
    const kind = printKind(draft.kind);
    subject.held.get(kind)?.settle.follow(settle.promise);
    subject.held.delete(kind);
    subject.held.set(kind, { draft, addressed, settle });
    return settle.promise;
  }

  /** Also removes held drafts. */
  async withdraw(kind: Kind, subject: string, reason: string, to?: string): Promise<boolean> {
    let removed = false;
    for (const { held } of this.#subjects.values()) {
      const one = held.get(printKind(kind));
      if (one?.draft.subject !== subject || (to !== undefined && one.addressed.to !== to)) continue;
      held.delete(printKind(kind));
      one.settle.follow(Promise.resolve());
      removed = true;
    }
    if (this.#excess.remove(kind, subject, to)) {
      removed = true;
      if (!this.#excess.isEmpty) this.#summarizeLater();
    }
    return (await this.#deps.outlet.withdraw(kind, subject, reason, to)) || removed;
  }

  /** Queues the summary of this listener, at a delivery point. */
  async flush(listener: string): Promise<void> {
    if (!this.#excess.isEmpty) await this.#excess.deliver(listener);
  }

  /** Drops the drafts held only for this conversation, which was closed: nobody would get them. */
  forget(conversation: string): void {
    for (const [key, { to, timer, held }] of [...this.#subjects]) {
      if (to !== conversation) continue;
      this.#subjects.delete(key);
      timer.dispose();
      for (const { settle } of held.values()) settle.follow(Promise.resolve());
    }
  }

  /** Publishes everything held. Later publications are not throttled. */
  dispose(): void {
    if (this.#ended) return;
    this.#ended = true;
    const timers = new DisposableStore();
    const held: HeldDraft[] = [];
    for (const subject of this.#subjects.values()) {
      timers.add(subject.timer);
      held.push(...subject.held.values());
    }
    this.#subjects.clear();
    timers.dispose();
    for (const one of held) one.settle.follow(this.#pass(one.draft, one.addressed));
    this.#summarize();
  }

  /** After 2 s, publishes the drafts held for the subject and starts the next 2 s. */
  #rest(key: string, to: string | undefined): void {
    const timer = this.#deps.clock.after(SUBJECT_MILLISECONDS, () => {
      const held = [...(this.#subjects.get(key)?.held.values() ?? [])];
      this.#subjects.delete(key);
      if (held.length === 0) return;
      this.#rest(key, to);
      for (const one of held) one.settle.follow(this.#pass(one.draft, one.addressed));
    });
    this.#subjects.set(key, { to, timer, held: new Map() });
  }

  #pass(draft: NotificationDraft, addressed: Addressed): Promise<unknown> {
    const now = this.#deps.clock.monotonic();
    this.#passed = this.#passed.filter((at) => now - at < MINUTE_MILLISECONDS);
    if (this.#ended || this.#passed.length < MOST_A_MINUTE) {
      this.#passed.push(now);
      return this.#deps.outlet.publish(draft, addressed.to, addressed.sender);
    }
    return this.#exceed(draft, addressed);
  }

  #exceed(draft: NotificationDraft, addressed: Addressed): Promise<unknown> {
    const listeners = [...this.#deps.outlet.listeners(draft, addressed)];
    if (listeners.length === 0) return Promise.resolve();
    this.#summarizeLater();
    return Promise.all(listeners.map((listener) => this.#excess.add(draft, listener)));
  }

  #summarizeLater(): void {
    const now = this.#deps.clock.monotonic();
    const due = Math.max(now + SUBJECT_MILLISECONDS, this.#lastSummary + MINUTE_MILLISECONDS);
    this.#summaryTimer ??= this.#deps.clock.after(due - now, () => this.#summarize());
  }

  #summarize(): void {
    this.#summaryTimer?.dispose();
    this.#summaryTimer = undefined;
    if (this.#excess.isEmpty) return;
    this.#lastSummary = this.#deps.clock.monotonic();
    // The publisher gets the failure.
    void this.#excess.deliver().catch(ignore);
  }
}

function createSettle(): Settle {
  const { promise, resolve } = Promise.withResolvers<unknown>();
  const settled = promise.then(() => undefined);
  // The publisher gets the failure; if nobody awaits the promise, that must not be an unhandled rejection.
  settled.catch(ignore);
  return { promise: settled, follow: (delivered) => resolve(delivered) };
}

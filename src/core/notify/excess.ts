// Gathers what a producer publishes above its limit, by listener and kind, as one notification that names every subject and grows in place.
import { type Kind, type Level, type NotificationDraft, printKind, worseLevel } from '../../protocol/notification.ts';
import { nameOfSubject } from '../../protocol/scopes.ts';
import { type FileState, fileStatesOf } from '../files/fileState.ts';
import { listNames, printName } from './nameList.ts';
import { type Outlet } from './outlet.ts';

/** What one listener would have been told one by one. */
interface Gathered {
  readonly listener: string;
  readonly kind: Kind;
  readonly origin: NotificationDraft['origin'];
  readonly first: string;
  level: Level;
  last: string;
  /** How many were published, also of the same subject. */
  count: number;
  /** How many of them have no subject. */
  nameless: number;
  /** With the states of files that the newest of each told of. */
  readonly subjects: Map<string, readonly FileState[]>;
  /** The newest of them; alone it is delivered as it is. */
  newest: NotificationDraft;
  readonly settled: PromiseWithResolvers<void>;
}

export class Excess {
  readonly #outlet: Outlet;
  /** By listener and kind: not delivered yet, and delivered last. */
  readonly #gathered = new Map<string, Gathered>();
  readonly #delivered = new Map<string, Gathered>();

  constructor(outlet: Outlet) {
    this.#outlet = outlet;
  }

  get isEmpty(): boolean {
    return this.#gathered.size === 0;
  }

  /** Resolves once it is on disk. */
  add(draft: NotificationDraft, listener: string): Promise<void> {
    const { kind, origin, level, at, subject } = draft;
    const key = keyOf(listener, kind);
    const gathered =
      this.#gathered.get(key) ?? begin({ listener, kind, origin, level, first: at, last: at, newest: draft });
    this.#gathered.set(key, gathered);
    gathered.newest = draft;
    gathered.count += 1;
    gathered.last = at;
    gathered.level = worseLevel(gathered.level, level);
    if (subject === undefined) gathered.nameless += 1;
    else {
      gathered.subjects.delete(subject);
      gathered.subjects.set(subject, fileStatesOf(draft));
    }
    return gathered.settled.promise;
  }

  /** Takes a subject back, also out of what was delivered and is pending. Returns whether it was in there. */
  remove(kind: Kind, subject: string, to?: string): boolean {
    let removed = false;
    for (const [key, gathered] of [...this.#gathered]) {
      if (!isMeant(gathered, kind, to) || !gathered.subjects.delete(subject)) continue;
      removed = true;
      gathered.count -= 1;
      if (!isVoid(gathered)) continue;
      this.#gathered.delete(key);
      gathered.settled.resolve();
    }
    for (const [key, delivered] of [...this.#delivered]) {
      if (!isMeant(delivered, kind, to) || !delivered.subjects.has(subject)) continue;
      const takenBack = this.#takeBack(key, delivered, 'one of its subjects is as it was');
      delivered.subjects.delete(subject);
      if (!takenBack) continue;
      removed = true;
      if (!isVoid(delivered)) this.#join(key, delivered);
    }
    return removed;
  }

  /** What was gathered, for everybody or for one listener; what is pending of it grows. Resolves once it is on disk. */
  async deliver(listener?: string): Promise<void> {
    const settled = [];
    for (const [key, { listener: of }] of [...this.#gathered]) {
      if (listener !== undefined && of !== listener) continue;
      const before = this.#delivered.get(key);
      if (before !== undefined && this.#takeBack(key, before, 'it has grown')) this.#join(key, before);
      const gathered = this.#gathered.get(key);
      if (gathered === undefined) continue;
      this.#gathered.delete(key);
      this.#delivered.set(key, gathered);
      gathered.settled.resolve(this.#outlet.deliver(draftOf(gathered), of).then(() => undefined));
      settled.push(gathered.settled.promise);
    }
    await Promise.all(settled);
  }

  /** In one breath with what is said instead. */
  #takeBack(key: string, delivered: Gathered, reason: string): boolean {
    const { listener, kind } = delivered;
    const subject = subjectOf(delivered);
    this.#delivered.delete(key);
    if (!this.#outlet.isPending(kind, subject, listener)) return false;
    // Whoever reads the log finds what was said instead; a failure is that one's too.
    void this.#outlet.withdraw(kind, subject, reason, listener).catch(() => undefined);
    return true;
  }

  /** What was taken back is delivered again with what came since. */
  #join(key: string, before: Gathered): void {
    const now = this.#gathered.get(key);
    if (now === undefined) {
      this.#gathered.set(key, { ...before, settled: createSettled() });
      return;
    }
    const { listener, kind, origin, first } = before;
    const { last, newest } = now;
    const joined = begin({ listener, kind, origin, first, level: worseLevel(before.level, now.level), last, newest });
    for (const [subject, states] of [...before.subjects, ...now.subjects]) {
      joined.subjects.delete(subject);
      joined.subjects.set(subject, states);
    }
    joined.count = before.count + now.count;
    joined.nameless = before.nameless + now.nameless;
    now.settled.resolve(joined.settled.promise);
    this.#gathered.set(key, joined);
  }
}

function begin(more: Omit<Gathered, 'count' | 'nameless' | 'subjects' | 'settled'>): Gathered {
  return { ...more, count: 0, nameless: 0, subjects: new Map(), settled: createSettled() };
}

function createSettled(): PromiseWithResolvers<void> {
  const settled = Promise.withResolvers<void>();
  // Whoever published learns of a failure; when nobody waits any more it is no unhandled one.
  settled.promise.catch(() => undefined);
  return settled;
}

function isAlone({ subjects, nameless, newest }: Gathered): boolean {
  return nameless === 0 && subjects.size === 1 && newest.subject !== undefined && subjects.has(newest.subject);
}

function draftOf(gathered: Gathered): NotificationDraft {
  const { kind, level, origin, count, nameless, subjects, first, last } = gathered;
  if (isAlone(gathered)) return { ...gathered.newest, data: { ...gathered.newest.data, count } };
  const files = [...subjects.values()].flat().map((state) => ({ ...state, complete: false }));
  const names = [...subjects.keys()].map((subject) => printName(nameOfSubject(subject)));
  const what = `${subjects.size + nameless} of ${printKind(kind)}`;
  const message = names.length === 0 ? `${what} came too fast to be told one by one.` : listNames(what, names);
  return {
    kind,
    level,
    origin,
    at: last,
    message,
    subject: subjectOf(gathered),
    scopes: [...subjects.keys()],
    data: { summary: true, count, first, ...(files.length > 0 && { files }) },
  };
}

/** Under which it is queued. */
function subjectOf(gathered: Gathered): string {
  const { subject } = gathered.newest;
  return isAlone(gathered) && subject !== undefined ? subject : `many:${printKind(gathered.kind)}`;
}

function isVoid({ subjects, nameless }: Gathered): boolean {
  return subjects.size === 0 && nameless === 0;
}

function isMeant({ listener, kind }: Gathered, meant: Kind, to: string | undefined): boolean {
  return (to === undefined || listener === to) && printKind(kind) === printKind(meant);
}

function keyOf(listener: string, { source, name }: Kind): string {
  return JSON.stringify([listener, source, name]);
}

// Summarizes a producer's notifications above its limit: one summary for each listener and kind names every subject and
// is replaced as it grows.
import { ignore } from '../../base/async.ts';
import { defined } from '../../base/json/defined.ts';
import { type Kind, type Level, type NotificationDraft, printKind, worseLevel } from '../../protocol/notification.ts';
import { nameOfSubject } from '../../protocol/scopes.ts';
import { type FileState, fileStatesOf } from '../files/fileState.ts';
import { listNames, printName } from './nameList.ts';
import { type Outlet } from './outlet.ts';

/** The notifications that one summary replaces. */
interface Gathered {
  readonly listener: string;
  readonly kind: Kind;
  readonly origin: NotificationDraft['origin'];
  readonly first: string;
  level: Level;
  /** The newest one that wakes the model, by its own grant. */
  waking: Pick<NotificationDraft, 'wake' | 'grant'> | undefined;
  last: string;
  /** The number of publications without a subject. */
  nameless: number;
  readonly subjects: Map<string, GatheredSubject>;
  /** The newest notification; if it is the only one, it is delivered instead of a summary. */
  newest: NotificationDraft;
  readonly settled: PromiseWithResolvers<void>;
}

interface GatheredSubject {
  /** The number of its publications. */
  readonly count: number;
  /** The file states of its newest notification. */
  readonly states: readonly FileState[];
}

export class Excess {
  readonly #outlet: Outlet;
  /** Both by listener and kind: summaries not delivered yet, and those delivered last. */
  readonly #gathered = new Map<string, Gathered>();
  readonly #delivered = new Map<string, Gathered>();

  constructor(outlet: Outlet) {
    this.#outlet = outlet;
  }

  get isEmpty(): boolean {
    return this.#gathered.size === 0;
  }

  /** Resolves once the summary is on disk. */
  add(draft: NotificationDraft, listener: string): Promise<void> {
    const { kind, origin, level, at, subject } = draft;
    const key = gatheredKey(listener, kind);
    const gathered =
      this.#gathered.get(key) ??
      createGathered({ listener, kind, origin, level, waking: undefined, first: at, last: at, newest: draft });
    this.#gathered.set(key, gathered);
    gathered.newest = draft;
    gathered.last = at;
    gathered.level = worseLevel(gathered.level, level);
    if (draft.wake === true) gathered.waking = defined({ wake: draft.wake, grant: draft.grant });
    if (subject === undefined) gathered.nameless += 1;
    else addSubject(gathered, subject, { count: 1, states: fileStatesOf(draft) });
    return gathered.settled.promise;
  }

  /** Removes a subject, also from a pending summary. Returns whether it was in one. */
  remove(kind: Kind, subject: string, to?: string): boolean {
    let removed = false;
    for (const [key, gathered] of [...this.#gathered]) {
      if (!isFor(gathered, kind, to) || !gathered.subjects.delete(subject)) continue;
      removed = true;
      if (!hasNothing(gathered)) continue;
      this.#gathered.delete(key);
      gathered.settled.resolve();
    }
    for (const [key, delivered] of [...this.#delivered]) {
      if (!isFor(delivered, kind, to) || !delivered.subjects.has(subject)) continue;
      const withdrawn = this.#withdraw(key, delivered, 'one of its subjects is as it was');
      delivered.subjects.delete(subject);
      if (!withdrawn) continue;
      removed = true;
      if (!hasNothing(delivered)) this.#join(key, delivered);
    }
    return removed;
  }

  /** Delivers the summaries of one listener or of all; a pending one is replaced. Resolves once they are on disk. */
  async deliver(listener?: string): Promise<void> {
    const settled = [];
    for (const [key, { listener: of }] of [...this.#gathered]) {
      if (listener !== undefined && of !== listener) continue;
      const before = this.#delivered.get(key);
      if (before !== undefined && this.#withdraw(key, before, 'it has grown')) this.#join(key, before);
      const gathered = this.#gathered.get(key);
      if (gathered === undefined) continue;
      this.#gathered.delete(key);
      this.#delivered.set(key, gathered);
      gathered.settled.resolve(this.#outlet.deliver(summaryDraft(gathered), of).then(() => undefined));
      settled.push(gathered.settled.promise);
    }
    await Promise.all(settled);
  }

  /** Must happen in the same step in which the replacement is delivered. */
  #withdraw(key: string, delivered: Gathered, reason: string): boolean {
    const { listener, kind } = delivered;
    const subject = summarySubject(delivered);
    this.#delivered.delete(key);
    if (!this.#outlet.isPending(kind, subject, listener)) return false;
    // If this fails, the delivery of the replacement fails too and is reported.
    void this.#outlet.withdraw(kind, subject, reason, listener).catch(ignore);
    return true;
  }

  /** Merges a withdrawn summary with the notifications gathered since, to be delivered again. */
  #join(key: string, before: Gathered): void {
    const now = this.#gathered.get(key);
    if (now === undefined) {
      this.#gathered.set(key, { ...before, settled: createSettled() });
      return;
    }
    const { listener, kind, origin, first } = before;
    const { last, newest } = now;
    const joined = createGathered({
      listener,
      kind,
      origin,
      first,
      level: worseLevel(before.level, now.level),
      waking: now.waking ?? before.waking,
      last,
      newest,
    });
    for (const [subject, one] of [...before.subjects, ...now.subjects]) addSubject(joined, subject, one);
    joined.nameless = before.nameless + now.nameless;
    now.settled.resolve(joined.settled.promise);
    this.#gathered.set(key, joined);
  }
}

function createGathered(more: Omit<Gathered, 'nameless' | 'subjects' | 'settled'>): Gathered {
  return { ...more, nameless: 0, subjects: new Map(), settled: createSettled() };
}

/** Adds to the publications of a subject, which becomes the newest one. */
function addSubject({ subjects }: Gathered, subject: string, { count, states }: GatheredSubject): void {
  const before = subjects.get(subject)?.count ?? 0;
  subjects.delete(subject);
  subjects.set(subject, { count: before + count, states });
}

/** The number of publications, including several of the same subject. */
function countOf({ subjects, nameless }: Gathered): number {
  return [...subjects.values()].reduce((sum, { count }) => sum + count, nameless);
}

function createSettled(): PromiseWithResolvers<void> {
  const settled = Promise.withResolvers<void>();
  // The publisher gets the failure; if nobody awaits the promise, that must not be an unhandled rejection.
  settled.promise.catch(ignore);
  return settled;
}

function isAlone({ subjects, nameless, newest }: Gathered): boolean {
  return nameless === 0 && subjects.size === 1 && newest.subject !== undefined && subjects.has(newest.subject);
}

function summaryDraft(gathered: Gathered): NotificationDraft {
  const { kind, level, origin, nameless, subjects, first, last, newest } = gathered;
  const count = countOf(gathered);
  if (isAlone(gathered)) {
    const { wake: _, grant: __, ...plain } = newest;
    return { ...plain, ...gathered.waking, data: { ...newest.data, count } };
  }
  const files = [...subjects.values()].flatMap(({ states }) => states).map((state) => ({ ...state, complete: false }));
  const names = [...subjects.keys()].map((subject) => printName(nameOfSubject(subject)));
  const what = `${subjects.size + nameless} of ${printKind(kind)}`;
  const message = names.length === 0 ? `${what} came too fast to be reported one by one.` : listNames(what, names);
  return {
    kind,
    level,
    origin,
    at: last,
    message,
    subject: summarySubject(gathered),
    scopes: [...subjects.keys()],
    data: { summary: true, count, first, ...(files.length > 0 && { files }) },
    ...gathered.waking,
  };
}

/** The subject under which the summary is queued. */
function summarySubject(gathered: Gathered): string {
  const { subject } = gathered.newest;
  return isAlone(gathered) && subject !== undefined ? subject : `many:${printKind(gathered.kind)}`;
}

function hasNothing({ subjects, nameless }: Gathered): boolean {
  return subjects.size === 0 && nameless === 0;
}

function isFor({ listener, kind }: Gathered, meant: Kind, to: string | undefined): boolean {
  return (to === undefined || listener === to) && printKind(kind) === printKind(meant);
}

function gatheredKey(listener: string, { source, name }: Kind): string {
  return JSON.stringify([listener, source, name]);
}

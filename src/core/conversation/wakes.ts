// Projects the timers and conditions of a conversation, and the standing wakes that the user granted.
import { firstLine, wholeCharacters } from '../../base/text.ts';
import { type EventOf, type LogEvent } from '../../protocol/event.ts';
import { type Notification, printKind } from '../../protocol/notification.ts';
import { handleInScope } from '../../protocol/scopes.ts';
import { type Atom, type AtomOf, type Condition } from '../../protocol/wakes.ts';
import { atomsOf, readCondition } from './conditions.ts';

/** What made an atom count. */
export interface Observed {
  /** RFC 3339. */
  readonly at: string;
  readonly evidence: string;
}

/** A timer or a condition that has not fired yet, or is repeated. */
export interface SetWake {
  readonly name: string;
  /** The number of the event that set it. */
  readonly seq: number;
  /** When it was set, in milliseconds since 1970, like all times here. */
  readonly since: number;
  /** Absent: a timer that is repeated. */
  readonly when?: Condition;
  readonly atoms: readonly Atom[];
  readonly every?: number;
  readonly until: number;
  readonly note: string;
  readonly grant: string;
  readonly most: number;
  readonly anchors: Readonly<Record<string, string>>;
  /** Atoms that count, by their number. */
  readonly latched: ReadonlyMap<number, Observed>;
  readonly fires: number;
  /** The last due time of a repeated timer that was reported. */
  readonly last: number;
}

interface Grant {
  readonly most: number;
  readonly until: number;
  readonly used: number;
}

/** The kinds by which a timer or a condition fires. */
const FIRES: ReadonlySet<string> = new Set(['time.due', 'wake.met', 'wake.expired']);

/** Whether timers and conditions report by this kind, which no other condition waits for. */
export function isFire(kind: string): boolean {
  return FIRES.has(kind);
}

/** The kinds of notification that say what an atom about a handle waits for. */
const HANDLE_KINDS: Readonly<Record<AtomOf<'handle'>['is'], readonly string[]>> = {
  ok: ['stopped'],
  failed: ['failed', 'lost'],
  ended: ['stopped', 'failed', 'lost'],
  waiting: ['waiting'],
};

export class WakeStates {
  readonly #set = new Map<string, SetWake>();
  readonly #grants = new Map<string, Grant>();
  /** Ids of notifications that their grant allows to wake the model. */
  readonly #granted = new Set<string>();
  /** The atoms about notifications, by kind; undefined once the set of conditions has changed. */
  #awaited: Map<string, AwaitedAtom[]> | undefined;
  #progress = 0;

  /** In the order in which they were set. */
  get all(): readonly SetWake[] {
    return [...this.#set.values()];
  }

  /** Another number than before: an atom counts that did not. */
  get progress(): number {
    return this.#progress;
  }

  get count(): number {
    return this.#set.size;
  }

  get(name: string): SetWake | undefined {
    return this.#set.get(name);
  }

  /** Whether a notification with a grant may wake the model: it was within the number and the time of the grant. */
  isGranted({ id }: Pick<Notification, 'id'>): boolean {
    return this.#granted.has(id);
  }

  /** A grant that was given: how often it may still be used, and its end in milliseconds since 1970. */
  grant(id: string): { readonly left: number; readonly until: number } | undefined {
    const grant = this.#grants.get(id);
    return grant && { left: this.left(id), until: grant.until };
  }

  /** How often the grant may still be used, whatever its end. */
  left(grant: string): number {
    const { most, used } = this.#grants.get(grant) ?? { most: 0, used: 0 };
    return Math.max(0, most - used);
  }

  /** A condition waits for exactly this, so the condition wakes the model and the notification does not. */
  covers({ kind, subject = '' }: Pick<Notification, 'kind' | 'subject'>): boolean {
    if (this.#set.size === 0) return false;
    if (printKind(kind) === 'ci.failed') return this.#coversCommit(subject.slice(subject.lastIndexOf('@') + 1));
    if (kind.source !== 'tool') return false;
    const handle = handleInScope(subject);
    return this.all.some(({ atoms }) =>
      atoms.some((atom) => 'handle' in atom && atom.handle === handle && HANDLE_KINDS[atom.is].includes(kind.name)),
    );
  }

  /** The anchor of a condition on CI has the whole hash. */
  #coversCommit(sha: string): boolean {
    return this.all.some(({ atoms, anchors }) =>
      atoms.some((atom, index) => 'ci' in atom && atom.is !== 'green' && anchors[index]?.includes(sha) === true),
    );
  }

  fold(event: LogEvent): void {
    switch (event.type) {
      case 'wake_granted': {
        const { id, most, until } = event;
        // A grant is given once: an event that repeats its id does not renew it.
        if (!this.#grants.has(id)) this.#grants.set(id, { most, until: Date.parse(until), used: 0 });
        return;
      }
      case 'wake_revoked':
        this.#revoke(event.id);
        return;
      case 'wake_set':
        this.#add(event);
        return;
      case 'wake_progress': {
        const { name, atom, at, evidence } = event;
        this.#latch(name, atom, { at, evidence });
        return;
      }
      case 'wake_cancelled':
        this.#remove(event.name);
        return;
      case 'notification_queued':
        this.#queued(event.notification);
        return;
      case 'forked':
        // Timers, conditions and grants stay with the original.
        this.#set.clear();
        this.#awaited = undefined;
        this.#grants.clear();
        this.#granted.clear();
        return;
      default:
        return;
    }
  }

  #add(event: EventOf<'wake_set'>): void {
    const { name, seq, timestamp, every, until, note, grant, anchors = {} } = event;
    const when = event.when === undefined ? undefined : readCondition(event.when);
    this.#remove(name);
    if ((when === undefined) === (every === undefined)) return;
    const since = Date.parse(timestamp);
    this.#awaited = undefined;
    this.#set.set(name, {
      ...{ name, seq, since, until: Date.parse(until), note, grant, anchors },
      ...(when && { when }),
      atoms: when === undefined ? [] : atomsOf(when),
      ...(every !== undefined && { every }),
      most: this.#grants.get(grant)?.most ?? 1,
      latched: new Map(),
      fires: 0,
      last: since,
    });
  }

  #remove(name: string): void {
    const wake = this.#set.get(name);
    this.#set.delete(name);
    this.#awaited = undefined;
    if (wake !== undefined) this.#revoke(wake.grant);
  }

  #revoke(grant: string): void {
    const known = this.#grants.get(grant);
    if (known !== undefined) this.#grants.set(grant, { ...known, most: known.used });
  }

  #latch(name: string, atom: number, observed: Observed): void {
    const wake = this.#set.get(name);
    if (wake === undefined || wake.latched.has(atom) || atom >= wake.atoms.length) return;
    this.#progress += 1;
    this.#set.set(name, { ...wake, latched: new Map([...wake.latched, [atom, observed]]) });
  }

  #queued(notification: Notification): void {
    const { grant, wake: wakes, id, at, kind, data } = notification;
    if (!FIRES.has(printKind(kind))) this.#latchNotified(notification);
    if (grant === undefined) return;
    const known = this.#grants.get(grant);
    if (known !== undefined) {
      this.#grants.set(grant, { ...known, used: known.used + 1 });
      if (wakes === true && known.used < known.most && Date.parse(at) <= known.until) this.#granted.add(id);
    }
    const name = data?.['wake'];
    const fired = typeof name === 'string' ? this.#set.get(name) : undefined;
    if (fired === undefined || fired.grant !== grant || !FIRES.has(printKind(kind))) return;
    const fires = fired.fires + 1;
    const isOver = printKind(kind) !== 'time.due' || fired.every === undefined || fires >= fired.most;
    if (isOver) this.#remove(fired.name);
    else this.#set.set(fired.name, { ...fired, fires, last: Date.parse(at) });
  }

  /** Conditions on notifications count from the log alone, so that none is missed by a restart. */
  #latchNotified(notification: Notification): void {
    if (this.#set.size === 0) return;
    this.#awaited ??= awaitedAtoms(this.#set.values());
    const awaited = this.#awaited.get(printKind(notification.kind));
    if (awaited === undefined) return;
    const text = notification.message.toLowerCase();
    for (const { name, index, atom } of awaited) {
      if (!isNotifiedBy(atom, notification, text)) continue;
      this.#latch(name, index, { at: notification.at, evidence: describeNotified(notification) });
    }
  }
}

/** An atom about notifications, and where it is. */
interface AwaitedAtom {
  readonly name: string;
  readonly index: number;
  readonly atom: Atom;
}

function awaitedAtoms(wakes: Iterable<SetWake>): Map<string, AwaitedAtom[]> {
  const awaited = new Map<string, AwaitedAtom[]>();
  for (const { name, atoms } of wakes) {
    for (const [index, atom] of atoms.entries()) {
      const kind = awaitedKind(atom);
      if (kind !== undefined) awaited.set(kind, [...(awaited.get(kind) ?? []), { name, index, atom }]);
    }
  }
  return awaited;
}

/** The kind of notification that an atom waits for; undefined: it is about something else. */
function awaitedKind(atom: Atom): string | undefined {
  if ('notified' in atom) return atom.notified;
  if ('notify' in atom) return `script.${atom.notify}`;
  return 'event' in atom ? 'mcp.event' : undefined;
}

/** `text`: the message in lower case. */
export function isNotifiedBy(
  atom: Atom,
  { kind, message, scopes = [] }: Notification,
  text = message.toLowerCase(),
): boolean {
  if (awaitedKind(atom) !== printKind(kind)) return false;
  if ('event' in atom) return scopes.includes(`mcp:${atom.event}`) && has(text, atom);
  // Other sources may have a dot in their name.
  if ('notify' in atom) return kind.source === 'script';
  return !('notified' in atom) || has(text, atom);
}

function has(text: string, { has: wanted }: { readonly has?: string | undefined }): boolean {
  return wanted === undefined || text.includes(wanted.toLowerCase());
}

const LONGEST_EVIDENCE = 200;

/** What a notification said, for the evidence of a condition. */
export function describeNotified({ message }: Pick<Notification, 'message'>): string {
  const line = firstLine(message);
  return line.length > LONGEST_EVIDENCE ? `${wholeCharacters(line, LONGEST_EVIDENCE)}…` : line;
}

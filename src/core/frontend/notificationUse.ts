// Counts, for each kind of notification, what was delivered and whether the model's next two cycles touched its subject.
import { RUNNING_TOOLS } from '../../base/toolLabels.ts';
import { type Carried, type LogEvent } from '../../protocol/event.ts';
import { type Notification, printKind } from '../../protocol/notification.ts';
import { type KindUse } from '../../protocol/page/overviewView.ts';
import { nameInScope, nameOfSubject } from '../../protocol/scopes.ts';
import { estimateTokens } from '../conversation/tokens.ts';
import { STALE } from '../ports/workspace.ts';
import { FRAME_TOKENS } from './pendingView.ts';

/** A use later than this has other reasons. */
const CYCLES = 2;
/** Of a call's arguments and of an answer; a file that is written as a whole is not searched to its end. */
const MOST_SEARCHED = 20_000;
const MOST_NAMES = 50;
/** Shorter names occur anywhere. */
const SHORTEST_NAME = 3;

type Touch = 'read' | 'edited' | 'ran' | 'answered';
type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** A delivered notification whose two cycles are not over. */
interface Delivered {
  readonly row: Mutable<KindUse>;
  readonly names: Names;
  cycles: number;
  readonly seen: Set<Touch | 'used' | 'refused'>;
}

interface Names {
  readonly paths: ReadonlySet<string>;
  /** As texts contain them. */
  readonly texts: readonly RegExp[];
}

interface Call {
  readonly name: string;
  readonly text: string;
  readonly path: unknown;
}

export class NotificationUse {
  readonly #rows = new Map<string, Mutable<KindUse>>();
  readonly #pending = new Map<string, Notification>();
  readonly #calls = new Map<string, Call>();
  #delivered: Delivered[] = [];

  fold(event: LogEvent): void {
    switch (event.type) {
      case 'notification_queued':
        this.#pending.set(event.notification.id, event.notification);
        break;
      case 'notification_withdrawn':
        for (const id of event.ids) this.#pending.delete(id);
        break;
      case 'chat_request':
        this.#deliver(event.notifications);
        break;
      case 'chat_response':
        this.#nextCycle();
        if (event.message !== undefined) this.#touch('answered', (names) => isNamed(names, event.message ?? ''));
        break;
      case 'tool_call_request':
        this.#nextCycle();
        if (this.#delivered.length > 0) this.#calls.set(event.id, callOf(event.name, event.arguments));
        break;
      case 'tool_call_response':
        this.#foldResult(event);
        this.#calls.delete(event.id);
        this.#deliver(event.notifications);
        break;
      case 'model_call':
        if (event.outcome !== 'succeeded' || event.purpose !== undefined) break;
        for (const one of this.#delivered) {
          if (one.cycles === 0) one.row.followed += 1;
          one.cycles += 1;
        }
        break;
      case 'forked':
        // What came before is counted in the conversation that was forked.
        this.#rows.clear();
        this.#delivered = [];
        break;
      default:
    }
  }

  /** Most tokens first. */
  get kinds(): readonly KindUse[] {
    return [...this.#rows.values()].sort((one, other) => other.tokens - one.tokens);
  }

  #deliver(carried: Carried | undefined) {
    if (carried === undefined) return;
    for (const id of carried.shown) {
      const notification = this.#pending.get(id);
      if (notification === undefined) continue;
      const row = this.#rowOf(notification);
      row.delivered += 1;
      row.tokens += estimateTokens(notification.message) + FRAME_TOKENS;
      this.#delivered.push({ row, names: namesOf(notification), cycles: 0, seen: new Set() });
    }
    for (const id of [...carried.shown, ...carried.merged, ...carried.counted]) this.#pending.delete(id);
  }

  #rowOf({ kind }: Notification): Mutable<KindUse> {
    const key = printKind(kind);
    const known = this.#rows.get(key);
    if (known !== undefined) return known;
    const none = { delivered: 0, tokens: 0, followed: 0, used: 0 };
    const row = { ...kind, ...none, read: 0, edited: 0, ran: 0, answered: 0, refused: 0 };
    this.#rows.set(key, row);
    return row;
  }

  /** An answer after the second cycle belongs to the third. */
  #nextCycle(): void {
    if (this.#delivered.some(({ cycles }) => cycles >= CYCLES))
      this.#delivered = this.#delivered.filter(({ cycles }) => cycles < CYCLES);
    if (this.#delivered.length === 0) this.#calls.clear();
  }

  #foldResult({
    id,
    is_error: isError,
    failure,
    changes = [],
    seen = [],
  }: Extract<LogEvent, { type: 'tool_call_response' }>) {
    const call = this.#calls.get(id);
    if (call === undefined || this.#delivered.length === 0) return;
    const { path } = call;
    if (failure === STALE && typeof path === 'string') this.#count('refused', ({ paths }) => paths.has(path));
    const isOf = (files: readonly { readonly path: string }[]) => (names: Names) =>
      files.some((file) => names.paths.has(file.path));
    const isMentioned = (names: Names) => isNamed(names, call.text);
    // A command that fails has run all the same.
    if (RUNNING_TOOLS.has(call.name)) this.#touch('ran', isMentioned);
    this.#touch('edited', isOf(changes));
    if (isError) return;
    if (changes.length === 0 && !RUNNING_TOOLS.has(call.name)) this.#touch('read', isMentioned);
    this.#touch('read', isOf(seen));
  }

  #touch(touch: Touch, isTouched: (names: Names) => boolean): void {
    this.#count(touch, isTouched, 'used');
  }

  /** Each notification counts once. */
  #count(what: Touch | 'refused', isMeant: (names: Names) => boolean, also?: 'used'): void {
    for (const { row, names, seen } of this.#delivered) {
      if (seen.has(what) || !isMeant(names)) continue;
      for (const one of also === undefined ? [what] : [what, also]) {
        if (!seen.has(one)) row[one] += 1;
        seen.add(one);
      }
    }
  }
}

/** Adds the numbers of several conversations. Most tokens first. */
export function sumUses(all: Iterable<readonly KindUse[]>): readonly KindUse[] {
  const sums = new Map<string, Mutable<KindUse>>();
  for (const kinds of all) {
    for (const one of kinds) {
      const sum = sums.get(printKind(one));
      if (sum === undefined) sums.set(printKind(one), { ...one });
      else {
        for (const [key, value] of Object.entries(one)) {
          if (typeof value === 'number') sum[key as Exclude<keyof KindUse, 'source' | 'name'>] += value;
        }
      }
    }
  }
  return [...sums.values()].sort((one, other) => other.tokens - one.tokens);
}

function callOf(name: string, args: Readonly<Record<string, unknown>>): Call {
  const text = `${name} ${JSON.stringify(args).slice(0, MOST_SEARCHED)}`;
  return { name, text, path: args['path'] };
}

/** The files that a notification is about, or else what its subject names: a task, a command, a server. */
function namesOf({ subject = '', scopes = [], data, kind }: Notification): Names {
  const files = data?.['files'];
  const listed = Array.isArray(files) ? files.map((one: unknown) => (one as { path?: unknown } | null)?.path) : [];
  const scoped = [subject, ...scopes].map((scope) => nameInScope('file', scope));
  const paths = new Set([...scoped, ...listed].filter((path) => typeof path === 'string').slice(0, MOST_NAMES));
  const from = data?.['from'];
  const words = [
    ...[...paths].flatMap((path) => [path, path.slice(path.lastIndexOf('/') + 1)]),
    ...(nameInScope('file', subject) === undefined && subject !== kind.source ? [nameOfSubject(subject)] : []),
    ...(typeof from === 'string' ? [from] : []),
    // A command that looks at the repository need not name a file.
    ...(kind.source === 'git' ? ['git'] : []),
  ];
  const texts = [...new Set(words)].filter((word) => word.length >= SHORTEST_NAME).map(wordPattern);
  return { paths, texts };
}

/** As a whole word, also in JSON. */
function wordPattern(word: string): RegExp {
  const escaped = word.slice(0, 500).replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`(?<![\\p{L}\\p{N}_])${escaped}(?![\\p{L}\\p{N}_])`, 'u');
}

function isNamed({ texts }: Names, text: string): boolean {
  const searched = text.slice(0, MOST_SEARCHED);
  return texts.some((one) => one.test(searched));
}

// Plans a block: filters, merges, groups, orders and caps the pending notifications. Pure.
import { wholeCharacters } from '../../base/text.ts';
import {
  LEVELS,
  type Level,
  type Notification,
  printKind,
  READ_NOTIFICATIONS,
  type Kind,
  worseLevel,
} from '../../protocol/notification.ts';
import { type Settings } from '../../protocol/settings.ts';
import { type Entry, type KindCount, type Outline } from './outline.ts';
import { isWanted, levelOf } from './wanted.ts';
import { nameOfSubject } from '../../protocol/scopes.ts';
import { countNames, listNames, printName } from './nameList.ts';

/** Every pending id is in exactly one of the lists. */
export interface Plan extends Outline {
  readonly shown: readonly string[];
  readonly merged: readonly string[];
  readonly counted: readonly string[];
  readonly filtered: readonly string[];
}

export interface PlanInput {
  /** Oldest first. */
  readonly pending: readonly Notification[];
  readonly settings: Settings;
  readonly contextWindow: number;
  /** Longer messages are cut, so that they do not count as shown whole. */
  readonly longestMessage?: number;
  /** Tokens of the block as it would be sent. */
  measure(outline: Outline): number;
}

const GROUP_OVER = 5;
const SMALLEST_BUDGET = 300;
const SHARE_OF_WINDOW = 0.02;
/** After this many entries that did not fit, the search for smaller ones ends. */
const MOST_MISSES = 20;
/** The number of kinds that the last line names: the greatest that fits is used. */
const NAMED_KINDS = [8, 2, 0] as const;
const CUT = `… (cut here; ${READ_NOTIFICATIONS} has it in full)`;
const SHORTEST_KIND = 16;

export function planNotifications(input: PlanInput): Plan {
  const { settings } = input;
  const filtered: string[] = [];
  const wanted: Merged[] = [];
  for (const merged of merge(input.pending)) {
    if (isWanted(merged.newest, settings)) wanted.push(merged);
    else filtered.push(...merged.older, merged.newest.id);
  }
  const single = wanted.map((merged) => entryOf(merged, settings));
  const total = single.reduce((sum, { count }) => sum + count, 0);
  const entries = order(group(single)).map((entry) => shortened(entry, input.longestMessage));
  const budget = tokenBudget(settings, input.contextWindow);
  const fits = (outline: Outline) => input.measure(outline) <= budget;
  const outline = choose(entries, total, settings['notifications.cap'], fits);
  const shown = new Set(outline.entries.map((entry) => entry.id));
  return {
    ...outline,
    shown: [...shown],
    merged: outline.entries.flatMap((entry) => entry.merged),
    counted: entries.flatMap((entry) => (shown.has(entry.id) ? [] : [...entry.merged, entry.id])),
    filtered,
  };
}

export function tokenBudget(settings: Settings, contextWindow: number): number {
  const share = Math.max(SMALLEST_BUDGET, Math.floor(contextWindow * SHARE_OF_WINDOW));
  return Math.min(settings['notifications.tokenBudget'], share);
}

/** Notifications of the same kind and subject. The settings are applied to the newest, whose text represents all. */
interface Merged {
  newest: Notification;
  readonly older: string[];
  readonly first: string;
  readonly position: number;
}

function merge(pending: readonly Notification[]): Iterable<Merged> {
  const alike = new Map<string, Merged>();
  for (const [position, notification] of pending.entries()) {
    const { kind, subject, id, at } = notification;
    const key = JSON.stringify(subject === undefined ? id : [kind.source, kind.name, subject]);
    const known = alike.get(key);
    if (known === undefined) alike.set(key, { newest: notification, older: [], first: at, position });
    else {
      known.older.push(known.newest.id);
      known.newest = notification;
    }
  }
  return alike.values();
}

function entryOf({ newest, older, first, position }: Merged, settings: Settings): Entry {
  const { kind, origin, at, message, id, subject = '', scopes = [], data } = newest;
  const subjects = data?.['summary'] === true && scopes.length > 0 ? scopes : undefined;
  return {
    source: kind.source,
    name: kind.name,
    level: levelOf(newest, settings),
    origin,
    at,
    message,
    count: older.length + (subjects?.length ?? 1),
    first,
    id,
    subject,
    ...(subjects && { subjects, shorter: countSubjects(kind, subjects) }),
    merged: older,
    position,
  };
}

/**
 * More than five of one kind, single or in a summary, become one entry that names them all. Occurrences with a text below
 * their first line, such as lines of a script, have no name that could stand for them.
 */
function group(entries: readonly Entry[]): Entry[] {
  const kinds = new Map<string, Entry[]>();
  for (const entry of entries) {
    const isOccurrence = entry.subject === '' && entry.subjects === undefined && entry.message.includes('\n');
    const key = JSON.stringify([entry.source, entry.name, isOccurrence && entry.id]);
    const alike = kinds.get(key);
    if (alike === undefined) kinds.set(key, [entry]);
    else alike.push(entry);
  }
  const isMany = (alike: readonly Entry[]) => alike.reduce((sum, { subjects }) => sum + (subjects?.length ?? 1), 0);
  return [...kinds.values()].flatMap((alike) =>
    alike.length > 1 && isMany(alike) > GROUP_OVER ? [joinAlike(alike)] : alike,
  );
}

function shortened(entry: Entry, longest = Number.POSITIVE_INFINITY): Entry {
  if (entry.message.length <= longest) return entry;
  if (entry.shorter !== undefined && entry.shorter.length <= longest) return { ...entry, message: entry.shorter };
  return { ...entry, message: wholeCharacters(entry.message, longest - CUT.length) + CUT };
}

/** The most severe first, then the oldest. */
function order(entries: readonly Entry[]): readonly Entry[] {
  const ranks = new Map<Level, number>(LEVELS.map((level, rank) => [level, rank]));
  const rank = (entry: Entry) => ranks.get(entry.level) ?? 0;
  return [...entries].sort((a, b) => rank(b) - rank(a) || a.position - b.position);
}

/** Takes entries in order while they fit and counts the others. The most severe one is always shown. */
function choose(entries: readonly Entry[], total: number, cap: number, fits: (outline: Outline) => boolean): Outline {
  const [worst, ...others] = entries;
  if (worst === undefined) return { entries: [], more: [], moreNamed: 0, total };
  const countRest = restCounter(entries);
  const outline = (chosen: readonly Entry[], moreNamed: number): Outline => ({
    entries: chosen,
    more: countRest(chosen),
    moreNamed,
    total,
  });
  let best = showWorst(worst, outline, fits);
  let misses = 0;
  for (const entry of others) {
    if (best.entries.length >= cap || misses >= MOST_MISSES) break;
    const next = outline([...best.entries, entry], best.moreNamed);
    if (fits(next)) best = next;
    else misses += 1;
  }
  return best;
}

/**
 * Shows the entry whole if it fits, otherwise with a shorter or cut message, otherwise bare. The bare form is used even
 * if it does not fit.
 */
function showWorst(
  worst: Entry,
  outline: (chosen: readonly Entry[], moreNamed: number) => Outline,
  fits: (outline: Outline) => boolean,
): Outline {
  const tries = [
    (named: number) => outline([worst], named),
    ...(worst.shorter === undefined
      ? []
      : [(named: number) => outline([{ ...worst, message: worst.shorter ?? '' }], named)]),
    (named: number) => cutToFit(worst, (entry) => outline([entry], named), fits),
    (named: number) => outline([bare(worst)], named),
  ];
  for (const attempt of tries) {
    for (const named of NAMED_KINDS) {
      const candidate = attempt(named);
      if (fits(candidate)) return candidate;
    }
  }
  return outline([bare(worst)], 0);
}

/** The longest beginning of the message that fits, found by binary search. */
function cutToFit(entry: Entry, outline: (entry: Entry) => Outline, fits: (outline: Outline) => boolean): Outline {
  const cut = (length: number) => outline({ ...entry, message: wholeCharacters(entry.message, length) + CUT });
  let [fitting, tooLong] = [0, entry.message.length];
  while (tooLong - fitting > 8) {
    const middle = Math.floor((fitting + tooLong) / 2);
    if (fits(cut(middle))) fitting = middle;
    else tooLong = middle;
  }
  return cut(fitting);
}

/** Source and name are free strings and may be too long themselves. */
function bare(entry: Entry): Entry {
  return {
    ...entry,
    source: wholeCharacters(entry.source, SHORTEST_KIND),
    name: wholeCharacters(entry.name, SHORTEST_KIND),
    message: CUT,
  };
}

/** Counts the entries that were not chosen, without going through all entries each time. */
function restCounter(entries: readonly Entry[]): (chosen: readonly Entry[]) => KindCount[] {
  const all = countKinds(entries);
  const sorted = [...all].map(([kind, count]) => ({ kind, count })).sort((a, b) => b.count - a.count);
  return (chosen) => {
    const taken = countKinds(chosen);
    return sorted
      .map(({ kind, count }) => ({ kind, count: count - (taken.get(kind) ?? 0) }))
      .filter(({ count }) => count > 0)
      .sort((a, b) => b.count - a.count);
  };
}

function countKinds(entries: readonly Entry[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const entry of entries) {
    const kind = printKind(entry);
    counts.set(kind, (counts.get(kind) ?? 0) + entry.count);
  }
  return counts;
}

/** The length of the shorter text, used if the whole list is too long for the block. */
const SHORT_LIMIT = 600;

/** The newest notification counts as shown; the others are merged into it. */
function joinAlike(alike: readonly Entry[]): Entry {
  const [oldest] = alike;
  const newest = alike.at(-1);
  if (newest === undefined || oldest === undefined) throw new Error('a group has members');
  const names = namesOf(alike);
  const what = `${names.length} of ${printKind(newest)}`;
  return {
    ...newest,
    // If the origins differ, the host is the origin of the list.
    origin: alike.every((entry) => entry.origin === newest.origin) ? newest.origin : 'host',
    level: alike.reduce<Level>((level, entry) => worseLevel(level, entry.level), 'info'),
    first: oldest.first,
    position: oldest.position,
    count: alike.reduce((sum, entry) => sum + entry.count, 0),
    merged: alike.flatMap((entry) => (entry === newest ? entry.merged : [...entry.merged, entry.id])),
    message: listNames(what, names),
    shorter: countNames(what, names, SHORT_LIMIT),
  };
}

/** Counts subjects by folder, for a list that is too long. */
function countSubjects(kind: Kind, subjects: readonly string[]): string {
  const names = subjects.map((subject) => printName(nameOfSubject(subject)));
  return countNames(`${names.length} of ${printKind(kind)}`, names, SHORT_LIMIT);
}

/** Each name once: a subject may have its own entry and also be in a summary. */
function namesOf(alike: readonly Entry[]): string[] {
  const times = new Map<string, number>();
  for (const { subject, subjects, message, count } of alike) {
    if (subjects === undefined) {
      // Without a subject, the first line of the message.
      const name = printName(subject === '' ? (message.split('\n', 1)[0] ?? '') : nameOfSubject(subject));
      times.set(name, (times.get(name) ?? 0) + count);
    } else
      for (const one of subjects)
        times.set(printName(nameOfSubject(one)), times.get(printName(nameOfSubject(one))) ?? 1);
  }
  return [...times].map(([name, count]) => (count > 1 ? `${name} (${count} times)` : name));
}

// Decides what of the pending notifications is shown: filtered, merged, grouped, ordered, capped. Pure.
import { LEVELS, type Level, type Notification, printKind } from '../../protocol/notification.ts';
import { type Settings } from '../../protocol/settings.ts';
import { worse } from '../conversation/transcript.ts';
import { wholeCharacters } from './queue.ts';

/** One notification block as the model will read it; it may stand for several of the queue. */
export interface Entry {
  readonly source: string;
  readonly name: string;
  readonly level: Level;
  readonly origin: string;
  readonly at: string;
  readonly message: string;
  /** How many of the queue it stands for. */
  readonly count: number;
  /** When the first of them was observed. */
  readonly first: string;
  /** Of the newest of them, which is the one that counts as shown. */
  readonly id: string;
  readonly subject: string;
  readonly merged: readonly string[];
}

export interface Plan {
  readonly entries: readonly Entry[];
  /** Counts by kind of what is not shown, most frequent first. */
  readonly more: readonly { readonly kind: string; readonly count: number }[];
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
  /** Tokens of the block as it would be sent. */
  measure(plan: Plan): number;
}

const GROUP_OVER = 5;
const GROUP_LIMIT = 3900;
const SMALLEST_BUDGET = 300;
const SHARE_OF_WINDOW = 0.02;

export function planNotifications(input: PlanInput): Plan {
  const { settings } = input;
  const filtered: string[] = [];
  const heard: Notification[] = [];
  for (const notification of input.pending) {
    if (isWanted(notification, settings)) heard.push(withLevel(notification, settings));
    else filtered.push(notification.id);
  }
  const entries = order(group(merge(heard)));
  const budget = tokenBudget(settings, input.contextWindow);
  const fits = (plan: Plan) => plan.entries.length <= settings['notifications.cap'] && input.measure(plan) <= budget;
  return choose(entries, filtered, fits);
}

export function tokenBudget(settings: Settings, contextWindow: number): number {
  const share = Math.max(SMALLEST_BUDGET, Math.floor(contextWindow * SHARE_OF_WINDOW));
  return Math.min(settings['notifications.tokenBudget'], share);
}

function isWanted({ kind }: Notification, settings: Settings): boolean {
  if (!settings['notifications.enable']) return false;
  const switches = settings['notifications.kinds'][kind.source];
  return switches?.['enable'] !== false && switches?.[kind.name] !== false;
}

function withLevel(notification: Notification, settings: Settings): Notification {
  const level = settings['notifications.levels'][printKind(notification.kind)];
  return level === undefined ? notification : { ...notification, level };
}

/** Same kind and subject: the newest text, with how many there were and since when. */
function merge(heard: readonly Notification[]): Entry[] {
  const merged = new Map<string, Entry>();
  for (const notification of heard) {
    const { kind, subject, id } = notification;
    const key = subject === undefined ? id : JSON.stringify([kind.source, kind.name, subject]);
    const before = merged.get(key);
    merged.set(key, {
      source: kind.source,
      name: kind.name,
      level: notification.level,
      origin: notification.origin,
      at: notification.at,
      message: notification.message,
      count: (before?.count ?? 0) + 1,
      first: before?.first ?? notification.at,
      id,
      subject: subject ?? '',
      merged: before === undefined ? [] : [...before.merged, before.id],
    });
  }
  return [...merged.values()];
}

/** More than five of one kind become one that names them all. */
function group(entries: readonly Entry[]): Entry[] {
  const kinds = new Map<string, Entry[]>();
  for (const entry of entries) {
    const kind = printKind(entry);
    kinds.set(kind, [...(kinds.get(kind) ?? []), entry]);
  }
  return [...kinds.values()].flatMap((alike) => (alike.length > GROUP_OVER ? [joinAlike(alike)] : alike));
}

function joinAlike(alike: readonly Entry[]): Entry {
  const newest = alike[alike.length - 1];
  const oldest = alike[0];
  if (newest === undefined || oldest === undefined) throw new Error('a group has members');
  return {
    ...newest,
    origin: new Set(alike.map((entry) => entry.origin)).size === 1 ? newest.origin : 'host',
    level: alike.reduce<Level>((level, entry) => worse(level, entry.level), 'info'),
    first: oldest.first,
    count: alike.reduce((sum, entry) => sum + entry.count, 0),
    merged: alike.flatMap((entry) => (entry === newest ? entry.merged : [...entry.merged, entry.id])),
    message: listSubjects(alike),
  };
}

function listSubjects(alike: readonly Entry[]): string {
  const names = alike.map((entry) => nameOf(entry));
  const head = `${alike.length} times ${printKind(alike[0] ?? { source: '', name: '' })}, each in short:`;
  const lines = [head];
  let length = head.length;
  for (const [index, name] of names.entries()) {
    const left = names.length - index;
    const closing = `and ${left} more: read_notifications lists them.`;
    if (length + name.length + 1 + (left > 1 ? closing.length + 1 : 0) > GROUP_LIMIT) {
      lines.push(closing);
      break;
    }
    lines.push(name);
    length += name.length + 1;
  }
  return lines.join('\n');
}

/** The subject, or the message's first line where there is none. */
function nameOf(entry: Entry): string {
  const { subject, message } = entry;
  const text = subject === '' ? (message.split('\n')[0] ?? '') : subject.slice(subject.indexOf(':') + 1);
  return wholeCharacters(text, 300);
}

/** The worst first; among equals the oldest. */
function order(entries: readonly Entry[]): Entry[] {
  return entries
    .map((entry, index) => ({ entry, index }))
    .sort((a, b) => LEVELS.indexOf(b.entry.level) - LEVELS.indexOf(a.entry.level) || a.index - b.index)
    .map(({ entry }) => entry);
}

/** Takes entries in order as long as they fit; what does not becomes a count. The worst one is always there. */
function choose(entries: readonly Entry[], filtered: readonly string[], fits: (plan: Plan) => boolean): Plan {
  const worst = entries[0];
  if (worst === undefined) return summarize([], [], filtered);
  const chosen = [shorten(worst, (entry) => fits(summarize([entry], entries.slice(1), filtered)))];
  const left: Entry[] = [];
  for (const [index, entry] of entries.entries()) {
    if (index === 0) continue;
    const rest = [...left, ...entries.slice(index + 1)];
    if (fits(summarize([...chosen, entry], rest, filtered))) chosen.push(entry);
    else left.push(entry);
  }
  return summarize(chosen, left, filtered);
}

/** Halves the message until it fits; a bare head is the least. */
function shorten(entry: Entry, fits: (entry: Entry) => boolean): Entry {
  let shorter = entry;
  let length = entry.message.length;
  while (!fits(shorter) && length > 1) {
    length = Math.floor(length / 2);
    shorter = { ...entry, message: `${wholeCharacters(entry.message, length)}…` };
  }
  return shorter;
}

function summarize(chosen: readonly Entry[], left: readonly Entry[], filtered: readonly string[]): Plan {
  const counts = new Map<string, number>();
  for (const entry of left) counts.set(printKind(entry), (counts.get(printKind(entry)) ?? 0) + entry.count);
  return {
    entries: chosen,
    more: [...counts].map(([kind, count]) => ({ kind, count })).sort((a, b) => b.count - a.count),
    shown: chosen.map((entry) => entry.id),
    merged: chosen.flatMap((entry) => entry.merged),
    counted: left.flatMap((entry) => [...entry.merged, entry.id]),
    filtered,
  };
}

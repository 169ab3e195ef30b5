// Joins notifications of one kind into one entry that names all their subjects.
import { type Kind, type Level, printKind, worseLevel } from '../../protocol/notification.ts';
import { nameOfSubject } from '../../protocol/scopes.ts';
import { countNames, listNames, printName } from './nameList.ts';
import { type Entry } from './outline.ts';

/** The length of the shorter text, used if the whole list is too long for the block. */
const SHORT_LIMIT = 600;

/** The newest notification counts as shown; the others are merged into it. */
export function joinAlike(alike: readonly Entry[]): Entry {
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
export function countSubjects(kind: Kind, subjects: readonly string[]): string {
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

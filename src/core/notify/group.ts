// Decides how many notifications of one kind become one: all their subjects are named, by folder where that is needed.
import { wholeCharacters } from '../../base/text.ts';
import { type Level, printKind } from '../../protocol/notification.ts';
import { worse } from '../conversation/transcript.ts';
import { type Entry } from './plan.ts';

/** With the block's own frame it stays under 4,000 characters. */
const GROUP_LIMIT = 3800;
const NAME_LIMIT = 300;

/** The newest of them is the one that counts as shown; the others are merged into it. */
export function joinAlike(alike: readonly Entry[]): Entry {
  const [oldest] = alike;
  const newest = alike.at(-1);
  if (newest === undefined || oldest === undefined) throw new Error('a group has members');
  return {
    ...newest,
    // Observed by several: then it is the host that says so.
    origin: alike.every((entry) => entry.origin === newest.origin) ? newest.origin : 'host',
    level: alike.reduce<Level>((level, entry) => worse(level, entry.level), 'info'),
    first: oldest.first,
    position: oldest.position,
    count: alike.reduce((sum, entry) => sum + entry.count, 0),
    merged: alike.flatMap((entry) => (entry === newest ? entry.merged : [...entry.merged, entry.id])),
    message: listSubjects(alike),
  };
}

/** The first that fits: name by name, below the folder that all share, by folder; else as many as fit. */
function listSubjects(alike: readonly Entry[]): string {
  const kind = `${alike.length} of ${printKind(alike[0] ?? { source: '', name: '' })}`;
  const names = alike.map(nameOf);
  const shared = sharedFolder(names);
  const below = names.map((name) => name.slice(shared.length));
  const where = shared === '' ? `${kind}:` : `${kind}, all in ${shared}:`;
  const lists = [
    [`${kind}:`, ...names],
    [where, ...below],
    [where, ...byFolder(below)],
  ];
  const fitting = lists.map((lines) => lines.join('\n')).find((text) => text.length <= GROUP_LIMIT);
  return fitting ?? cutList(where, below);
}

function sharedFolder(names: readonly string[]): string {
  const [first = '', ...others] = names;
  let shared = first.slice(0, first.lastIndexOf('/') + 1);
  for (const name of others) {
    while (shared !== '' && !name.startsWith(shared))
      shared = shared.slice(0, shared.lastIndexOf('/', shared.length - 2) + 1);
  }
  return shared;
}

/** `a/: b.ts, c.ts` says the folder once. */
function byFolder(names: readonly string[]): string[] {
  const folders = new Map<string, string[]>();
  for (const name of names) {
    const slash = name.lastIndexOf('/') + 1;
    const inside = folders.get(name.slice(0, slash));
    if (inside === undefined) folders.set(name.slice(0, slash), [name.slice(slash)]);
    else inside.push(name.slice(slash));
  }
  return [...folders].map(([folder, inside]) =>
    folder === '' ? inside.join(', ') : `${folder}: ${inside.join(', ')}`,
  );
}

function cutList(head: string, names: readonly string[]): string {
  const lines = [head];
  let { length } = head;
  for (const [index, name] of names.entries()) {
    const closing = `and ${names.length - index} more: read_notifications lists them.`;
    if (length + name.length + closing.length + 2 > GROUP_LIMIT) {
      lines.push(closing);
      break;
    }
    lines.push(name);
    length += name.length + 1;
  }
  return lines.join('\n');
}

/** The subject, or the message's first line where there is none; always one line. */
function nameOf({ subject, message, count }: Entry): string {
  const text = subject === '' ? (message.split('\n', 1)[0] ?? '') : subject.slice(subject.indexOf(':') + 1);
  const name = wholeCharacters(text.replace(/[\s\u0085]+/g, ' '), NAME_LIMIT);
  return count > 1 ? `${name} (${count} times)` : name;
}

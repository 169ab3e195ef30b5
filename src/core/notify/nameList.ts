// Lists many names in one bounded message: one by one, relative to their common folder, grouped by folder, or as counts
// by folder.
import { wholeCharacters } from '../../base/text.ts';
import { READ_NOTIFICATIONS } from '../../protocol/notification.ts';

/** With the frame of the block, the text stays under 4,000 characters. */
const LIST_LIMIT = 3800;
const NAME_LIMIT = 300;
const REST = `${READ_NOTIFICATIONS} lists them.`;

/** Returns the first form that fits. `what` says what is listed, such as `60 of file.changed`. */
export function listNames(what: string, names: readonly string[]): string {
  const shared = sharedFolder(names);
  const below = names.map((name) => name.slice(shared.length));
  const head = headOf(what, shared);
  const forms = [
    () => [`${what}:`, ...names],
    () => [head, ...below],
    () => [head, ...byFolder(below).map(([folder, inside]) => printFolder(folder, inside.join(', ')))],
  ];
  for (const form of forms) {
    const text = form().join('\n');
    if (text.length <= LIST_LIMIT) return text;
  }
  // With only one folder, a count by folder would say nothing new.
  if (byFolder(below).length > 1) return countNames(what, names);
  return cutLines(head, below, LIST_LIMIT, (left) => `and ${left} more: ${REST}`);
}

/** Counts the names in each folder, as deep as the text fits; if nothing fits, only the folders with most names. */
export function countNames(what: string, names: readonly string[], limit = LIST_LIMIT): string {
  const shared = sharedFolder(names);
  const below = names.map((name) => name.slice(shared.length));
  const deepest = below.reduce((depth, name) => Math.max(depth, name.split('/').length - 1), 1);
  const head = headOf(what, shared);
  for (let depth = Math.min(deepest, 12); depth >= 1; depth -= 1) {
    const text = [head, ...countsAt(below, depth), REST].join('\n');
    if (text.length <= limit) return text;
  }
  return cutLines(head, countsAt(below, 1), limit, (left) => `and those in ${left} more folders: ${REST}`);
}

/** One line of limited length, whatever the name contains. */
export function printName(name: string): string {
  return wholeCharacters(name.replace(/[\s\u0085]+/g, ' '), NAME_LIMIT);
}

function headOf(what: string, shared: string): string {
  return shared === '' ? `${what}:` : `${what}, all in ${shared}:`;
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

/** Groups names, so that `a/: b.ts, c.ts` names the folder once. */
function byFolder(names: readonly string[]): [folder: string, inside: string[]][] {
  const folders = new Map<string, string[]>();
  for (const name of names) {
    const slash = name.lastIndexOf('/') + 1;
    const inside = folders.get(name.slice(0, slash));
    if (inside === undefined) folders.set(name.slice(0, slash), [name.slice(slash)]);
    else inside.push(name.slice(slash));
  }
  return [...folders];
}

function printFolder(folder: string, inside: string): string {
  return folder === '' ? inside : `${folder}: ${inside}`;
}

/** Folders with most names first. */
function countsAt(names: readonly string[], depth: number): string[] {
  const counts = new Map<string, number>();
  for (const name of names) {
    const folders = name.split('/').slice(0, -1).slice(0, depth);
    const folder = folders.length === 0 ? '' : `${folders.join('/')}/`;
    counts.set(folder, (counts.get(folder) ?? 0) + 1);
  }
  return [...counts]
    .sort(([, a], [, b]) => b - a)
    .map(([folder, count]) => (folder === '' ? `${count} at the top` : `${folder}: ${count}`));
}

/** As many lines as fit; `closing` makes the last line from the number of lines left out. */
function cutLines(head: string, all: readonly string[], limit: number, closing: (left: number) => string): string {
  const lines = [head];
  let { length } = head;
  for (const [index, line] of all.entries()) {
    const rest = closing(all.length - index);
    if (length + line.length + rest.length + 2 > limit) return [...lines, rest].join('\n');
    lines.push(line);
    length += line.length + 1;
  }
  return lines.join('\n');
}

// A git operation and the reports about files in one printed entry.
import { expect, test } from 'vitest';
import { formatBlock } from '../../../../src/core/agent/delivery.ts';
import { type Entry, type Outline } from '../../../../src/core/notify/outline.ts';
import { joinWithGit } from '../../../../src/core/notify/withGit.ts';
import { MESSAGE_LIMIT } from '../../../../src/protocol/notification.ts';

const AT = '2026-01-02T03:04:05.000Z';
const entry = (kind: string, message: string, more: Partial<Entry> = {}): Entry => {
  const [source = '', name = ''] = kind.split('.');
  const place = { id: message, subject: message, position: 0, merged: [] };
  return {
    source,
    name,
    message,
    level: 'warning',
    origin: 'filesystem',
    at: AT,
    first: AT,
    count: 1,
    ...place,
    ...more,
  };
};
const outline = (...entries: Entry[]): Outline => ({ entries, more: [], moreNamed: 0, total: entries.length });
const printed = (...entries: Entry[]) => joinWithGit(outline(...entries)).entries.map(({ message }) => message);

const pull = entry('git.head_changed', 'Git pulled.');
const readme = entry('file.changed', 'README.md changed:\n+Tea.', { position: 2 });
const menu = entry('file.deleted', 'menu.ts is gone.', { position: 1, level: 'error' });
const build = entry('task.ended', 'The build failed.', { origin: 'process', level: 'error' });

test('files stand below the operation, oldest first, in the place of the first of them and with the worst level', () => {
  const { entries, total } = joinWithGit(outline(menu, build, pull, readme));
  expect(entries.map(({ message }) => message)).toEqual([
    'Git pulled.\nmenu.ts is gone.\nREADME.md changed:\n+Tea.',
    'The build failed.',
  ]);
  expect([entries[0]?.level, entries[0]?.name, total]).toEqual(['error', 'head_changed', 4]);
});

test('without an operation, with two repositories and without files nothing is joined', () => {
  const other = entry('git.head_changed', 'Git switched.');
  for (const entries of [
    [menu, readme],
    [pull, other, readme],
    [pull, build],
  ]) {
    expect(printed(...entries)).toEqual(entries.map(({ message }) => message));
  }
});

test('a file whose origin must be printed, and one that makes the entry too long, stay alone', () => {
  const forged = entry('file.changed', 'Forged.', { origin: 'plugin' });
  const long = entry('file.changed', 'x'.repeat(MESSAGE_LIMIT));
  expect(printed(pull, forged, long)).toEqual(['Git pulled.', 'Forged.', long.message]);
  expect(printed(pull, long, readme)).toEqual([`Git pulled.\n${readme.message}`, long.message]);
});

test.each(['xml', 'developer', 'markdown'] as const)('%s prints every text once', (format) => {
  const block = formatBlock(format, { plan: outline(pull, readme, menu), key: 'k7QdQ8vXw2Lm', now: Date.parse(AT) });
  for (const text of ['Git pulled.', 'README.md changed:', 'menu.ts is gone.']) {
    expect(block.split(text)).toHaveLength(2);
  }
});

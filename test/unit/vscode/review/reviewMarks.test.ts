// The lines that an editor marks as the agent's, and the text that they replaced.
import { expect, test } from 'vitest';
import { differenceOf } from '../../../../src/core/checkpoints/hunks.ts';
import { marksOf } from '../../../../src/vscode/review/reviewMarks.ts';

const bytes = (text: string) => new TextEncoder().encode(text);
const marks = (old: string, now: string) =>
  marksOf(differenceOf(bytes(old), bytes(now)).hunks ?? [], now.split('\n').length);

test('added, changed and removed lines are marked with the text that was there before', () => {
  expect(marks('a\nb\nc\nd\ne\nf\n', 'new\na\nB\nB2\nc\ne\nf\n')).toEqual([
    { kind: 'added', first: 0, last: 0, before: '', left: 0 },
    { kind: 'changed', first: 2, last: 3, before: 'b', left: 0 },
    { kind: 'removed', first: 5, last: 5, before: 'd', left: 0 },
  ]);
});

test('a removal at the end marks the last line, also of an empty file', () => {
  expect(marks('a\nb\n', 'a\n')).toEqual([{ kind: 'removed', first: 1, last: 1, before: 'b', left: 0 }]);
  expect(marks('a\nb', 'a')).toEqual([{ kind: 'changed', first: 0, last: 0, before: 'a\nb', left: 0 }]);
  expect(marks('a\n', '')).toEqual([{ kind: 'removed', first: 0, last: 0, before: 'a', left: 0 }]);
  const removed = { oldStart: 2, start: 2, removed: ['c'], added: [] };
  expect(marksOf([removed], 2)).toEqual([{ kind: 'removedAtEnd', first: 1, last: 1, before: 'c', left: 0 }]);
});

test('a document that is shorter than the compared file has no mark beyond its end', () => {
  const hunk = { oldStart: 8, start: 8, removed: [], added: ['x\n', 'y\n'] };
  expect(marksOf([hunk], 3)).toEqual([{ kind: 'added', first: 2, last: 2, before: '', left: 0 }]);
});

test('the former text is bounded, and its characters are whole', () => {
  const [mark] = marks(`${'grüße '.repeat(100)}\r\n${'old\n'.repeat(50)}`, 'new\n');
  expect(mark).toMatchObject({ kind: 'changed', left: 31 });
  const [first = '', second] = mark?.before.split('\n') ?? [];
  expect([first.length, first.startsWith('grüße '), first.endsWith('…'), second]).toEqual([301, true, true, 'old']);
});

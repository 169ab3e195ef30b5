// What a card shows of a changed file: hunks with numbers, bounded; what cannot be shown says why; moves are one.
import { expect, test } from 'vitest';
import { diffOfCall, joinMoves } from '../../../../src/core/files/callDiff.ts';

const bytes = (text: string) => new TextEncoder().encode(text);
const diff = (before: string | undefined, after: string | undefined) =>
  diffOfCall({
    path: 'a.ts',
    ...(before !== undefined && { before: bytes(before) }),
    ...(after !== undefined && { after: bytes(after) }),
  });

test('a change, a new file, a deleted one', () => {
  expect(diff('one\r\ntwo\r\n', 'one\r\n2\r\n')).toEqual({
    path: 'a.ts',
    kind: 'changed',
    added: 1,
    removed: 1,
    hunks: [{ oldStart: 1, newStart: 1, lines: [' one', '-two', '+2'] }],
  });
  expect(diff(undefined, 'one\ntwo')).toMatchObject({ kind: 'created', added: 2, removed: 0 });
  expect(diff('one\n', undefined)).toMatchObject({ kind: 'deleted', added: 0, removed: 1 });
});

test('ten thousand lines are bounded, counted and said to be cut', () => {
  const lines = Array.from({ length: 1500 }, (_, index) => `line ${index}`).join('\n');
  const shown = diff('', lines);
  expect([shown.added, shown.cut]).toEqual([1500, expect.any(Number)]);
  expect(shown.hunks.flatMap((hunk) => hunk.lines)).toHaveLength(400);
  expect(diff('x', 'y'.repeat(9000)).hunks[0]?.lines.every((line) => line.length <= 510)).toBe(true);
});

test('what cannot be shown says why', () => {
  expect(diffOfCall({ path: 'a', before: Uint8Array.of(0, 1), after: bytes('a') }).note).toBe('not_text');
  expect(diffOfCall({ path: 'a', before: null, after: bytes('a') }).note).toBe('gone');
  expect(diff('a'.repeat(1_500_000), 'b'.repeat(1_500_000)).note).toBe('too_long');
});

test('one that went and one that came with the same bytes are one that moved', () => {
  expect(
    joinMoves([
      { path: 'old.ts', before: 'h1' },
      { path: 'new.ts', after: 'h1' },
      { path: 'other.ts', before: 'h2', after: 'h3' },
    ]),
  ).toEqual([
    { path: 'new.ts', from: 'old.ts', after: 'h1' },
    { path: 'other.ts', before: 'h2', after: 'h3' },
  ]);
});

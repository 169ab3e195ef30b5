// The diff on the card of a call: bounded hunks with line numbers, a reason where there is none, and moves as one entry.
import { expect, test } from 'vitest';
import { diffOfCall, joinMoves } from '../../../../src/core/files/callDiff.ts';

const bytes = (text: string) => new TextEncoder().encode(text);
const diff = (before: string | undefined, after: string | undefined) =>
  diffOfCall({
    path: 'a.ts',
    ...(before !== undefined && { before: bytes(before) }),
    ...(after !== undefined && { after: bytes(after) }),
  });

test('changed, created and deleted files have hunks and counts', () => {
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

test('a diff of 10,000 lines is cut, marked as cut and counted in full', () => {
  const lines = Array.from({ length: 1500 }, (_, index) => `line ${index}`).join('\n');
  const shown = diff('', lines);
  expect([shown.added, shown.cut]).toEqual([1500, expect.any(Number)]);
  expect(shown.hunks.flatMap((hunk) => hunk.lines)).toHaveLength(400);
  expect(diff('x', 'y'.repeat(9000)).hunks[0]?.lines.every((line) => line.length <= 510)).toBe(true);
});

test('a file with entirely new content is shown as all lines removed and all lines added', () => {
  const text = (word: string) => Array.from({ length: 3000 }, (_, index) => `${word} ${index}\n`).join('');
  const shown = diff(`same\n${text('a')}end\n`, `same\n${text('b')}end\n`);
  expect(shown).toMatchObject({ kind: 'changed', added: 3000, removed: 3000, cut: expect.any(Number) as number });
  expect(shown.hunks[0]).toMatchObject({ oldStart: 1, newStart: 1 });
  expect(shown.hunks[0]?.lines.slice(0, 2)).toEqual([' same', '-a 0']);
  expect(diff(undefined, text('a'))).toMatchObject({ kind: 'created', added: 3000, removed: 0 });
});

test('content that cannot be shown has a reason and sizes', () => {
  expect(diffOfCall({ path: 'a', before: Uint8Array.of(0, 1), after: bytes('a') }).note).toBe('not_text');
  expect(diffOfCall({ path: 'a', before: null, after: bytes('a') }).note).toBe('gone');
  expect(diff('a'.repeat(1_500_000), 'b'.repeat(1_500_000)).note).toBe('too_long');
  expect(diff('a'.repeat(2_500_000), 'b')).toMatchObject({ sizes: { before: 2_500_000, after: 1 }, removed: 1 });
  expect(diffOfCall({ path: 'a', after: Uint8Array.of(0, 1) })).toMatchObject({
    note: 'not_text',
    sizes: { after: 2 },
  });
});

test('a deleted and a created file with the same bytes are one move', () => {
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

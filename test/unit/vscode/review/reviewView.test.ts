// The view of changes on the page: files and hunks, limited in number.
import { expect, test } from 'vitest';
import { differenceOf } from '../../../../src/core/checkpoints/hunks.ts';
import { type ReviewedFile } from '../../../../src/core/checkpoints/review.ts';
import { viewChanges } from '../../../../src/vscode/review/reviewView.ts';

const bytes = (text: string) => new TextEncoder().encode(text);
const file = (path: string, old: string, now: string, more: Partial<ReviewedFile> = {}): ReviewedFile => ({
  path,
  kind: 'changed',
  clash: false,
  appeared: false,
  overwrote: false,
  onDiskOnly: false,
  version: 'v',
  ...differenceOf(bytes(old), bytes(now)),
  ...more,
});
const many = Array.from({ length: 50 }, (_, index) => `${index}\n`).join('');

test('nothing to review gives no view', () => {
  expect(viewChanges([])).toBeNull();
});

test('several hunks are listed, each with its first non-empty line', () => {
  const view = viewChanges([
    file('a', 'x\n1\n2\n3\n', `  größer ${'ü'.repeat(200)}\n1\n2\n\n  end\n`),
    file('b', 'x', 'y'),
  ]);
  expect(view).toMatchObject({ count: 2, added: 4, removed: 3 });
  const [first, second] = view?.files ?? [];
  expect(first?.hunks?.map(({ line, added, removed, text }) => [line, added, removed, text.slice(0, 8)])).toEqual([
    [1, 1, 1, 'größer ü'],
    [4, 2, 1, 'end'],
  ]);
  expect(first?.hunks?.[0]?.text).toHaveLength(100);
  expect(second?.hunks).toBeUndefined();
});

test('binary files, conflicts and files with too many hunks list none', () => {
  const other = many.replaceAll('\n', '\nnew\n');
  const binary = file('b', '', '', differenceOf(Uint8Array.of(0, 1), Uint8Array.of(0, 2)));
  const view = viewChanges([
    file('a', many, other),
    { ...binary, hunks: undefined } as never,
    file('c', 'a\nb\nc\n', 'A\nb\nC\n', { clash: true }),
  ]);
  expect(view?.files.map(({ hunks }) => hunks)).toEqual([undefined, undefined, undefined]);
  expect(view?.files.map(({ uncounted, clash }) => [uncounted, clash])).toEqual([
    [undefined, undefined],
    [true, undefined],
    [undefined, true],
  ]);
});

test('a thousand files are all counted, and a hundred of them are listed', () => {
  const view = viewChanges(Array.from({ length: 1000 }, (_, index) => file(`f${index}`, 'a\n', 'b\n')));
  expect([view?.count, view?.files.length, view?.added, view?.removed]).toEqual([1000, 100, 1000, 1000]);
});

test('files that others changed meanwhile are listed and counted separately, without hunks', () => {
  const other = file('theirs', 'a\nb\nc\n', 'A\nb\nC\n');
  const view = viewChanges([file('own', 'a\n', 'b\n')], [other]);
  expect(view).toMatchObject({ count: 1, added: 1, removed: 1, meanwhileCount: 1 });
  expect(view?.meanwhile).toMatchObject([{ path: 'theirs', added: 2, removed: 2 }]);
  expect(view?.meanwhile[0]?.hunks).toBeUndefined();
  expect(viewChanges([], [other])).toMatchObject({ count: 0, files: [], meanwhileCount: 1 });
});

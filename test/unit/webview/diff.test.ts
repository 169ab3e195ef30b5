// Diffs from the arguments of a call, and syntax colours of each line of a diff.
import { expect, test } from 'vitest';
import { argumentDiff } from '../../../src/webview/argumentDiff.ts';
import { colouredLines } from '../../../src/webview/render/diff/diffColours.ts';
import { type Coloured } from '../../../src/webview/render/markdown/highlight.ts';

const lines = (name: string, values: Readonly<Record<string, unknown>>) =>
  argumentDiff(name, values)?.map(({ path, kind, hunks }) => [path, kind, ...hunks.flatMap((hunk) => hunk.lines)]);

test('edits, a whole file and a patch are shown as removed and added lines', () => {
  const edits = [
    { old_text: 'a\nb', new_text: 'c' },
    { old_text: 'x', new_text: '', replace_all: true },
  ];
  expect(lines('edit_file', { path: 'a.ts', edits })).toEqual([
    ['a.ts', 'changed', '-a', '-b', '+c', '-x', '\\All occurrences are replaced.'],
  ]);
  expect(lines('write_file', { path: 'a.ts', content: 'one\ntwo\n' })).toEqual([['a.ts', 'changed', '+one', '+two']]);
  const patch = '*** Begin Patch\n*** Add File: n.ts\n+new\n*** Update File: u.ts\n@@ f\n a\n-b\n+c\n*** End Patch';
  expect(lines('apply_patch', { input: patch })).toEqual([
    ['n.ts', 'created', '+new'],
    ['u.ts', 'changed', '\\@@ f', ' a', '-b', '+c'],
  ]);
});

test('incomplete and unknown arguments give no diff', () => {
  expect(argumentDiff('edit_file', { path: 'a.ts' })).toBeUndefined();
  expect(argumentDiff('edit_file', { edits: [null] })).toBeUndefined();
  expect(lines('edit_file', { path: 'a.ts', edits: [null, 7] })).toEqual([['a.ts', 'changed']]);
  expect(argumentDiff('run_command', { path: 'a.ts', content: 'x' })).toBeUndefined();
});

test('a multi-line comment keeps its colour on both sides, and no character is lost', () => {
  const text = [' /* one', '-two */ let a = 1;', '+2 */ let b = "x";', ' end();'];
  const coloured = colouredLines(text, 'ts') ?? [];
  const plain = (part: Coloured): string => (typeof part === 'string' ? part : part.children.map(plain).join(''));
  expect(coloured.map((parts) => parts.map(plain).join(''))).toEqual(text.map((line) => line.slice(1)));
  const scopes = coloured.map((parts) => parts.flatMap((part) => (typeof part === 'string' ? [] : [part.scope])));
  expect(scopes[0]).toEqual(['comment']);
  expect(scopes[1]).toContain('comment');
  expect(scopes[2]).toEqual(expect.arrayContaining(['comment', 'string']));
  expect(colouredLines(text, 'nothing-known')).toBeUndefined();
});

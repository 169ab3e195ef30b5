// The composer's parts without a browser: history, the token at the caret, paths in text, and the ranking of suggestions.
import { expect, test } from 'vitest';
import { bestMatches } from '../../../src/vscode/completions/completions.ts';
import { browse, NOT_BROWSING } from '../../../src/webview/composer/history.ts';
import { tokenAt } from '../../../src/webview/composer/picker.tsx';
import { readPath } from '../../../src/webview/render/pathLinks.tsx';
import { groupCalls } from '../../../src/webview/render/item.tsx';

test('arrow keys walk the history and return to the draft; typed text is not replaced', () => {
  const messages = ['newest', 'older'];
  const first = browse('ArrowUp', '', NOT_BROWSING, messages);
  expect(first?.text).toBe('newest');
  const second = browse('ArrowUp', 'newest', first?.browsing ?? NOT_BROWSING, messages);
  expect(second?.text).toBe('older');
  expect(browse('ArrowUp', 'older', second?.browsing ?? NOT_BROWSING, messages)).toBeUndefined();
  expect(browse('ArrowDown', 'newest', { place: 0, draft: '' }, messages)?.text).toBe('');
  expect(browse('ArrowUp', 'typed', NOT_BROWSING, messages)).toBeUndefined();
  expect(browse('ArrowDown', 'changed', { place: 0, draft: '' }, messages)).toBeUndefined();
});

test.each([
  ['look @me', 8, { trigger: '@', query: 'me', start: 5 }],
  ['@', 1, { trigger: '@', query: '', start: 0 }],
  ['/re', 3, { trigger: '/', query: 're', start: 0 }],
  ['mail a@b', 8, undefined],
  ['see /re', 7, undefined],
  ['/usr/bin', 8, undefined],
  ['@me later', 9, undefined],
])('the token in %j at %i', (text, caret, token) => {
  expect(tokenAt(text, caret)).toEqual(token);
});

test.each([
  ['src/menu.ts', { path: 'src/menu.ts' }],
  ['src/menu.ts:12', { path: 'src/menu.ts', line: 12 }],
  ['src/menu.ts:12:3', { path: 'src/menu.ts', line: 12, column: 3 }],
  ['menu.ts:4', { path: 'menu.ts', line: 4 }],
  ['menu.ts', undefined],
  ['https://a.b/c.ts', undefined],
  ['1.5', undefined],
  ['and/or', undefined],
])('the path in %j', (word, place) => {
  expect(readPath(word)).toEqual(place);
});

test('suggestions that match the name come first, then those with the letters in order', () => {
  const files = ['src/very/long/menuController.ts', 'docs/m-e-n-u.md', 'src/menu.ts', 'other.txt'];
  expect(bestMatches('menu', files, (file) => file, 3)[0]).toBe('src/menu.ts');
  expect(bestMatches('menu', files, (file) => file, 9)).not.toContain('other.txt');
});

test('only finished calls of one tool without changes or notifications are grouped, if there are at least three', () => {
  const call = (id: string, more: object = {}) =>
    ({
      type: 'tool',
      id,
      name: 'read_file',
      arguments: {},
      state: 'done',
      output: { pieces: [], count: 0, length: 0 },
      ...more,
    }) as never;
  const shape = (items: never[]) => groupCalls(items).map((run) => (run.type === 'one' ? 1 : run.items.length));
  expect(shape([call('a'), call('b'), call('c')])).toEqual([3]);
  expect(shape([call('a'), call('b')])).toEqual([1, 1]);
  expect(shape([call('a'), call('b'), call('c', { name: 'search' }), call('d')])).toEqual([1, 1, 1, 1]);
  expect(shape([call('a'), call('b'), call('c', { carried: {} }), call('d'), call('e'), call('f')])).toEqual([
    1, 1, 1, 3,
  ]);
  expect(shape([call('a'), call('b'), call('c', { state: 'running' })])).toEqual([1, 1, 1]);
});

// The buttons of the strip above the composer: which of them exist, and what they count.
import { expect, test } from 'vitest';
import { shortCount, type StripList } from '../../../src/webview/panel/strip.tsx';
import { ChangedFiles } from '../../../src/webview/render/changedFiles.tsx';

const none = { files: [], count: 0, added: 0, removed: 0, meanwhile: [], meanwhileCount: 0 };
const button = (changes: Parameters<typeof ChangedFiles>[0]['changes']) =>
  ChangedFiles({ changes, running: false })?.props as Parameters<typeof StripList>[0] | undefined;

test('without changes there is no button; changes by others alone have one', () => {
  expect(button(none)).toBeUndefined();
  expect(button({ ...none, meanwhileCount: 2 })).toMatchObject({
    count: '2',
    summary: '2 files changed while a command was running, and are not known to be changed by it.',
  });
});

test('the count has at most three characters; the tooltip has the exact number', () => {
  expect([1, 99, 100, 12_000].map(shortCount)).toEqual(['1', '99', '99+', '99+']);
  const many = button({ ...none, count: 120, added: 3, removed: 4 });
  expect(many).toMatchObject({ count: '99+', summary: 'Earshot changed 120 files. Lines added: 3, removed: 4.' });
});

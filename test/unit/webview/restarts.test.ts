// Restarts of the page, and the fallback for items that cannot be rendered.
import { expect, test } from 'vitest';
import { growing } from '../../../src/webview/growing.ts';
import { rawTextOf } from '../../../src/webview/render/item.tsx';
import { Restarts } from '../../../src/webview/restarts.tsx';

test('the page restarts three times in a row, then waits for the user', () => {
  let now = 0;
  const restarts = new Restarts(() => now);
  const next = () => {
    now += 1000;
    return restarts.next();
  };
  expect([next(), next(), next(), next(), next()]).toEqual(['restart', 'restart', 'restart', 'give_up', 'give_up']);
  restarts.reset();
  expect(next()).toBe('restart');
});

test('a page that runs for a minute between failures restarts every time', () => {
  let now = 0;
  const restarts = new Restarts(() => now);
  for (let count = 0; count < 10; count += 1) {
    expect(restarts.next()).toBe('restart');
    now += 60_001;
  }
});

test('an item that cannot be rendered is shown as its text', () => {
  const answer = { type: 'answer', id: 'a', text: growing('**b**'), reasoning: growing(''), streaming: false } as const;
  expect(rawTextOf({ ...answer, truncated: false })).toBe('**b**');
  expect(rawTextOf({ type: 'notice', id: 'n', level: 'error', text: 'It failed.', nextStep: 'Send again.' })).toBe(
    'It failed.\nSend again.',
  );
});

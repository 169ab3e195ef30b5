// What the composer says over its field.
import { expect, test } from 'vitest';
import { hintFor } from '../../../src/webview/composer.tsx';
import { strings } from '../../../src/webview/strings.ts';

const nothing = {
  canSend: true,
  tooLong: false,
  problem: undefined,
  isTyping: false,
  awaitsApproval: false,
  returned: false,
};

test('a queued message that came back is called undelivered, unless there is something more pressing', () => {
  expect(hintFor(nothing)).toBeUndefined();
  expect(hintFor({ ...nothing, returned: true })).toBe('Your queued message was not delivered. Send it, or delete it.');
  expect(hintFor({ ...nothing, returned: true, isTyping: true })).toBe(strings.runningHint);
  expect(hintFor({ ...nothing, returned: true, canSend: false })).toBe(strings.closedHint);
});

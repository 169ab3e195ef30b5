// The hint above the composer's text field.
import { expect, test } from 'vitest';
import { hintFor } from '../../../src/webview/composer/composer.tsx';
import { strings } from '../../../src/webview/strings/strings.ts';

const noHint = {
  canSend: true,
  tooLong: false,
  problem: undefined,
  isTyping: false,
  awaitsApproval: false,
  returned: false,
};

test('a returned queued message gives the hint "not delivered" unless another hint takes precedence', () => {
  expect(hintFor(noHint)).toBeUndefined();
  expect(hintFor({ ...noHint, returned: true })).toBe('Your queued message was not delivered. Send it, or delete it.');
  expect(hintFor({ ...noHint, returned: true, isTyping: true })).toBe(strings.runningHint);
  expect(hintFor({ ...noHint, returned: true, canSend: false })).toBe(strings.closedHint);
});

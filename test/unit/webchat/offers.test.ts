// The page of the web chat offers exactly what its server handles.
import { expect, test } from 'vitest';
import { HANDLED } from '../../../src/webchat/pageSession.ts';
import { WEB_OFFERS } from '../../../src/webview/web/offers.ts';

test('the page offers exactly the messages that the server handles', () => {
  expect([...WEB_OFFERS].sort()).toEqual([...HANDLED].sort());
});

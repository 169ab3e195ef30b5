// Notifications about lines from scripts, which pass on what programs print.
import { expect, test } from 'vitest';
import { draftScriptLines } from '../../../src/producers/scripts/scriptReports.ts';

const TEXT = '\u001b[31mlogin failed\u001b[0m\nAPI_TOKEN=abcdef123456\n\u001b]0;title\u0007done';

test('colours, control sequences and secrets of a line are neither shown nor stored', () => {
  const entry = { at: '2026-01-01T00:00:00Z', dir: '/shop', text: TEXT, name: 'line', level: 'info' as const };
  const lines = ['1', '2'].map((id) => ({ id, entry: { ...entry, subject: 'build' }, written: 1 }));
  const addressed = { conversation: 'c', wake: false, run: undefined, sender: undefined };
  const { message, data } = draftScriptLines(lines, addressed);
  expect(message.split('\n').slice(1, 4)).toEqual(['| about build: login failed', '| API_TOKEN=***', '| done']);
  expect(data?.['texts']).toEqual(Array(2).fill('login failed\nAPI_TOKEN=***\ndone'));
});

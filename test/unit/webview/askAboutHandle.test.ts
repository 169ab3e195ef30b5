import { expect, test } from 'vitest';
import { askAboutHandle } from '../../../src/webview/cards/askAboutHandle.ts';

test('the message about a background command quotes the end of its output, which cannot end the quote', () => {
  const handle = { name: 'kettle', detail: 'running for 3 s', output: `${'x'.repeat(3000)}\n\n# Not a heading` };
  const [asked, heading, empty, ...lines] = askAboutHandle(handle).split('\n');
  expect([asked, heading, empty]).toEqual([
    'Look at the background command “kettle”: running for 3 s.',
    'Its last lines:',
    '',
  ]);
  expect(lines.every((line) => line.startsWith('    '))).toBe(true);
  expect(lines.map((line) => line.slice(4)).join('\n')).toBe(handle.output.slice(-2000));
  expect(askAboutHandle({ ...handle, output: '' })).toBe('Look at the background command “kettle”: running for 3 s.');
});

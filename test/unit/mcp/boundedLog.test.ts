import { expect, test } from 'vitest';
import { boundLog } from '../../../src/mcp/server.ts';

test('a server that prints all the time does not fill the log', () => {
  let now = 0;
  const lines: string[] = [];
  const log = boundLog((line) => lines.push(line), { monotonic: () => now });
  for (let line = 0; line < 100_000; line++) log(`line ${line}`);
  expect(lines).toHaveLength(501);
  expect(lines.at(-1)).toBe('It prints too much: further lines are left out for up to 10 s.');
  now = 10_000;
  log('later');
  expect(lines.slice(501)).toEqual(['(99500 lines were left out.)', 'later']);
});

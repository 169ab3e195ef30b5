// Checks of what an API returned before it is stored.
import { expect, test } from 'vitest';
import { checkOrigin } from '../../../../src/core/agent/cycle.ts';

const call = { type: 'function_call', call_id: 'call_1', name: 'x', arguments: '{}' };

function check(items: unknown[], ...replaced: string[]): { readonly kept: boolean; readonly warned: string } {
  const origin = { api: 'responses' as const, provider: 'p', model: 'm', items };
  const warned: string[] = [];
  const kept = checkOrigin(origin, new Set(replaced), { warn: (message) => void warned.push(message) });
  return { kept: kept === origin, warned: warned.join('\n') };
}

test('items that name a call by an id that was replaced are left out, since its result has another id', () => {
  expect(check([call])).toEqual({ kept: true, warned: '' });
  expect(check([call], 'call_2')).toEqual({ kept: true, warned: '' });
  expect(check([call], 'call_1')).toMatchObject({ kept: false });
  expect(check([{ ...call, call_id: '' }], '').warned).toContain('an id of its calls is missing or was used before');
});

test('items that the log could not store, or that are too large, are left out and logged', () => {
  let deep: unknown = 'end';
  for (let level = 0; level < 200; level += 1) deep = [deep];
  expect(check([deep])).toEqual({ kept: false, warned: expect.stringContaining('nested deeper than') as string });
  const self: unknown[] = [];
  self.push(self);
  expect(check(self)).toMatchObject({ kept: false });
  expect(check(['x'.repeat(8 * 1024 * 1024)])).toEqual({
    kept: false,
    warned: expect.stringMatching(/it has 8,388,6\d\d characters/) as string,
  });
  expect(check(['x'.repeat(7 * 1024 * 1024)])).toEqual({ kept: true, warned: '' });
});

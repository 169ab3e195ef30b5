// The quick check of written events: fractions are numbers, where the schema does not want whole ones.
import { expect, test } from 'vitest';
import { readWritten } from '../../../src/protocol/event.ts';

const call = (usage: object) => ({
  ...{ v: 1, seq: 1, event_id: 'a', timestamp: '2026-01-01T00:00:00Z', type: 'model_call', model: 'm' },
  ...{ outcome: 'succeeded', usage },
});

test('a model call with a price of a fraction is read, one with a fraction of a token is not', () => {
  expect(readWritten(call({ input_tokens: 1, output_tokens: 1, cost: 0.0123 })).kind).toBe('event');
  expect(readWritten(call({ input_tokens: 1.5, output_tokens: 1 })).kind).toBe('invalid');
  expect(readWritten(call({ input_tokens: 1, output_tokens: 1, cost: Number.NaN })).kind).toBe('invalid');
});

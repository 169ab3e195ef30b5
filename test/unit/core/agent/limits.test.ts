// Usage limits: the user is asked each time the usage passes a further multiple of the limit.
import { expect, test } from 'vitest';
import { limitReached } from '../../../../src/core/agent/limits.ts';
import { readSettings } from '../../../../src/protocol/settings.ts';

const settingsWith = (values: Record<string, unknown>) => readSettings((name) => values[name]).settings;
const used = (tokens: number, cost?: number) => ({ tokens, cost });

test('without a limit the user is never asked', () => {
  expect(limitReached(used(0, 0), used(9e9, 9e9), settingsWith({}))).toBeUndefined();
});

test('a token limit asks when usage crosses it and again at each further multiple', () => {
  const settings = settingsWith({ 'limits.tokens': 1000 });
  expect(limitReached(used(0), used(999), settings)).toBeUndefined();
  expect(limitReached(used(0), used(1_234_567), settings)?.message).toBe(
    'This conversation has used 1,234,567 tokens; you wanted to be asked after every 1,000 tokens.',
  );
  expect(limitReached(used(1200), used(1900), settings)).toBeUndefined();
  expect(limitReached(used(1200), used(2000), settings)?.code).toBe('limit');
});

test('a cost limit asks where prices are known and does nothing where they are not', () => {
  const settings = settingsWith({ 'limits.cost': 0.5 });
  expect(limitReached(used(0, 0.1), used(9, 0.6), settings)?.message).toContain('has used 0.60; ');
  expect(limitReached(used(0), used(9), settings)).toBeUndefined();
});

// The limit that asks: each time as much again was used, and never otherwise.
import { expect, test } from 'vitest';
import { limitReached } from '../../../../src/core/agent/limits.ts';
import { readSettings } from '../../../../src/protocol/settings.ts';

const settingsWith = (values: Record<string, unknown>) => readSettings((name) => values[name]).settings;
const used = (tokens: number, cost?: number) => ({ tokens, cost });

test('without a limit nothing is asked', () => {
  expect(limitReached(used(0, 0), used(9e9, 9e9), settingsWith({}))).toBeUndefined();
});

test('tokens: asked when the limit is crossed, not before, and again after as much again', () => {
  const settings = settingsWith({ 'limits.tokens': 1000 });
  expect(limitReached(used(0), used(999), settings)).toBeUndefined();
  expect(limitReached(used(0), used(1_234_567), settings)?.message).toBe(
    'This conversation has used 1,234,567 tokens; you wanted to be asked after every 1,000 tokens.',
  );
  expect(limitReached(used(1200), used(1900), settings)).toBeUndefined();
  expect(limitReached(used(1200), used(2000), settings)?.code).toBe('limit');
});

test('money: asked where prices are known, silent where they are not', () => {
  const settings = settingsWith({ 'limits.cost': 0.5 });
  expect(limitReached(used(0, 0.1), used(9, 0.6), settings)?.message).toContain('has used 0.60; ');
  expect(limitReached(used(0), used(9), settings)).toBeUndefined();
});

// The level of reasoning that is requested, after a level was chosen for a model that has others.
import { expect, test } from 'vitest';
import { effortFor } from '../../../../src/core/conversation/choices.ts';
import { type Effort } from '../../../../src/protocol/settings.ts';

test.each<[readonly Effort[], Effort | 'auto' | undefined, Effort | undefined]>([
  [['low', 'high', 'max'], 'high', 'high'],
  [['low', 'high', 'max'], 'xhigh', 'high'],
  [['medium', 'high'], 'low', 'medium'],
  [['medium', 'high'], 'none', 'medium'],
  [['none', 'high'], 'none', 'none'],
  [['none', 'high'], 'low', 'high'],
  [['none', 'low', 'max'], 'medium', 'low'],
  [['none'], 'high', undefined],
  [['low', 'high'], 'auto', undefined],
  [['low', 'high'], undefined, undefined],
  [[], 'high', undefined],
])('a model with %o, chosen %s: %s', (efforts, effort, requested) => {
  expect(effortFor({ efforts }, effort === undefined ? {} : { effort })).toBe(requested);
});

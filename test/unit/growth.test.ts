// Checks that work on outside text is linear, with the fastest of five runs at n and 4n: for every function that takes
// such text, with adversarial input, and for every regular expression of the product.
import { resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { formCases } from '../support/growth/formCases.ts';
import { commandLineCases } from '../support/growth/commandLineCases.ts';
import { hostCases } from '../support/growth/hostCases.ts';
import { superlinear } from '../support/growth/measure.ts';
import { modelCases } from '../support/growth/modelCases.ts';
import { outsideAgentCases } from '../support/growth/outsideAgentCases.ts';
import { outsideTextCases } from '../support/growth/outsideTextCases.ts';
import { pageCases } from '../support/growth/pageCases.ts';
import { attacksOn, regExpsIn } from '../support/growth/regExpAttacks.ts';
import { runtimeCases } from '../support/growth/runtimeCases.ts';
import { runs } from '../support/runs.ts';

describe.each(
  Object.entries({
    ...hostCases,
    ...commandLineCases,
    ...outsideAgentCases,
    ...formCases,
    ...modelCases,
    ...outsideTextCases,
    ...pageCases,
    ...runtimeCases,
  }),
)('%s', (_area, cases) => {
  test.each(Object.entries(cases))('%s takes linear time', async (_name, { prepare, size }) => {
    // A quarter of the size in `npm test`: quadratic work is still detected, and the suite is limited by the processor.
    expect(await superlinear(prepare, runs(Math.ceil(size / 4), size))).toBeUndefined();
  });
});

test('every regular expression takes linear time on repetitions of texts that it matches', async () => {
  const found = regExpsIn(resolve(import.meta.dirname, '../..'));
  expect(found.length).toBeGreaterThan(200);
  const slow: string[] = [];
  for (const { place, pattern } of found) {
    for (const attack of attacksOn(pattern)) {
      const prepare = (size: number) => {
        const text = attack(size);
        return () => text.replace(pattern, '');
      };
      const complaint = await superlinear(prepare, runs(5000, 10_000));
      if (complaint !== undefined) slow.push(`${place}: ${complaint}`);
    }
  }
  expect(slow).toEqual([]);
});

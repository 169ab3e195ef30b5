// Conditions: what is read, what bad input gets, and how they are evaluated.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  atomsOf,
  evaluate,
  parseCondition,
  parseDuration,
  printCondition,
  readCondition,
} from '../../../../src/core/conversation/conditions.ts';
import { type Condition, MOST_ATOMS, TRUTHS, type Truth } from '../../../../src/protocol/wakes.ts';

const NOW = new Date(2026, 10, 18, 13, 52).getTime();
const problem = (value: unknown) => {
  const parsed = parseCondition(value, NOW);
  return parsed.ok ? 'it was accepted' : parsed.failure.message;
};
const build = { handle: 'build', is: 'ok' };

describe('what bad input gets', () => {
  test.each([
    ['no object', 'soon', /^when: it must be an object with one of handle, output/],
    ['an unknown kind', { cron: '* * * * *' }, /^when: “cron” is no condition; there are handle/],
    ['two kinds in one', { ...build, port: 1 }, /^when: handle and port are two conditions/],
    ['a wrong state', { all: [build, { port: 80, is: 'up' }] }, /^when\.all\[1\]: is: /],
    ['an unknown field', { any: [{ ...build, of: 1 }] }, /^when\.any\[0\]: .*of/],
    ['an empty list', { all: [] }, /^when\.all: it must be a list/],
    ['something beside a list', { all: [build], any: [build] }, /^when\.any: nothing may stand beside all/],
    ['a port that does not exist', { port: 70_000, is: 'open' }, /^when: port: /],
    [
      'four levels',
      { all: [{ any: [{ all: [{ any: [build] }] }] }] },
      /^when\.all\[0\]\.any\[0\]\.all\[0\]\.any: at most 3/,
    ],
    [
      'many atoms',
      { any: [{ all: Array(9).fill(build) }, { all: Array(9).fill(build) }] },
      /it has 18 parts; at most 16/,
    ],
    ['a very long list', { all: Array(1000).fill(build) }, /^when\.all: at most 16/],
    ['no duration', { after: 'soon' }, /^when\.after: “soon” is no duration; write 90s/],
    ['no time at all', { after: '0m' }, /^when\.after: /],
    ['a duration that is negative', { after: '-5m' }, /^when\.after: /],
    ['no time', { at: 'tomorrow' }, /^when\.at: “tomorrow” is no time; write 17:00/],
    ['the 30th of February', { at: '2027-02-30T25:00' }, /^when\.at: .* is no time/],
    ['a time that has passed', { at: '2026-11-18T13:51' }, /^when\.at: .* has passed 60 s ago; it is 13:52/],
  ])('%s', (_name, value, message) => {
    expect(problem(value)).toMatch(message);
  });

  test('outside text never throws', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const parsed = parseCondition(value, NOW);
        if (parsed.ok) expect(atomsOf(parsed.value).length).toBeLessThanOrEqual(MOST_ATOMS);
      }),
    );
  });
});

test('times of day are the next ones, and durations have units', () => {
  const at = (text: string) => {
    const parsed = parseCondition({ at: text }, NOW);
    if (!parsed.ok || !('at' in parsed.value)) throw new Error('it was not read');
    return Date.parse(parsed.value.at);
  };
  expect(at('17:00')).toBe(new Date(2026, 10, 18, 17, 0).getTime());
  expect(at('13:52')).toBe(new Date(2026, 10, 19, 13, 52).getTime());
  expect(at('2026-11-19')).toBe(new Date(2026, 10, 19).getTime());
  expect(at('2026-11-18T23:00+02:00')).toBe(Date.UTC(2026, 10, 18, 21));
  expect(['90s', '20m', '1h30m', '2d', 'PT20M', 'P1DT2H', '5 min'].map(parseDuration)).toEqual([
    90_000, 1_200_000, 5_400_000, 172_800_000, 1_200_000, 93_600_000, 300_000,
  ]);
});

test('a condition in the log is read again, also after its time', () => {
  const parsed = parseCondition({ all: [build, { at: '17:00' }] }, NOW);
  expect(parsed.ok && readCondition(JSON.parse(JSON.stringify(parsed.value)))).toEqual(parsed.ok && parsed.value);
  expect(printCondition({ any: [{ handle: 'build', is: 'ok' }, { after: '20m' }] }, NOW)).toBe(
    'any of (handle build is ok, after 20m)',
  );
});

const atom: fc.Arbitrary<Condition> = fc.constant({ after: '1m' } as const);
const tree = fc.letrec<{ part: Condition }>((tie) => ({
  part: fc.oneof(
    { maxDepth: 3 },
    atom,
    fc.array(tie('part'), { minLength: 1, maxLength: 4 }).map((all) => ({ all })),
    fc.array(tie('part'), { minLength: 1, maxLength: 4 }).map((any) => ({ any })),
  ),
})).part;

/** Decides by trying every way in which the open atoms could turn out. */
function naive(condition: Condition, truths: readonly Truth[]): Truth {
  const holds = (part: Condition, values: boolean[]): boolean => {
    // Every part takes its atoms, so none may be skipped.
    if ('all' in part) return part.all.map((one) => holds(one, values)).every((one) => one);
    if ('any' in part) return part.any.map((one) => holds(one, values)).some((one) => one);
    return values.shift() === true;
  };
  const now = (unknown: boolean) =>
    holds(
      condition,
      truths.map((one) => one === 'yes' || (one === 'unknown' && unknown)),
    );
  if (now(false)) return 'yes';
  if (
    !holds(
      condition,
      truths.map((one) => one !== 'never'),
    )
  )
    return 'never';
  return now(true) ? 'unknown' : 'no';
}

test('the evaluation equals the naive one for any tree and any truths', () => {
  fc.assert(
    fc.property(tree, fc.infiniteStream(fc.constantFrom(...TRUTHS)), (condition, stream) => {
      const truths = atomsOf(condition).map(() => stream.next().value as Truth);
      expect(evaluate(condition, truths)).toBe(naive(condition, truths));
    }),
    { numRuns: 2000 },
  );
});

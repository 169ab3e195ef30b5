// Regular expressions of models find what JavaScript's own find, in linear time, and say why they are refused.
import { createContext, runInContext } from 'node:vm';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compileLinearPattern, compileTextPattern } from '../../../../src/base/patterns/linearPattern.ts';

function find(source: string, text: string): number {
  const compiled = compileLinearPattern(source);
  if (!compiled.ok) throw new Error(compiled.reason);
  return compiled.pattern.find(text);
}

const atom = fc.constantFrom(
  'a',
  'b',
  '.',
  '\\w',
  '\\d',
  '\\s',
  '[ab]',
  '[^a]',
  '[a-c1]',
  '1',
  ' ',
  '\\b',
  '^',
  '$',
  '\\.',
);
const { pattern } = fc.letrec<{ pattern: string; sequence: string; single: string }>((tie) => ({
  pattern: fc.array(tie('sequence'), { minLength: 1, maxLength: 3 }).map((options) => options.join('|')),
  sequence: fc.array(tie('single'), { maxLength: 4 }).map((parts) => parts.join('')),
  single: fc
    .tuple(
      fc.oneof({ weight: 3, arbitrary: atom }, { weight: 1, arbitrary: tie('pattern').map((inner) => `(?:${inner})`) }),
      fc.constantFrom('', '', '*', '+', '?', '{2}', '{1,3}', '{2,}', '*?'),
    )
    .map(([one, count]) => (/^(?:\\b|\^|\$)$/.test(one) ? one : one + count)),
}));

const sandbox: { source?: string; flags?: string; text?: string } = createContext({});

/** Undefined for the patterns that take JavaScript for ever. */
function findByJavaScript(source: string, flags: string, text: string): boolean | undefined {
  Object.assign(sandbox, { source, flags, text });
  try {
    return runInContext('new RegExp(source, flags).test(text)', sandbox, { timeout: 500 }) as boolean;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return undefined;
    throw error;
  }
}

test('finds the same lines as JavaScript’s own regular expressions', () => {
  const texts = fc.string({ unit: fc.constantFrom('a', 'b', 'c', '1', ' ', '.'), maxLength: 12 });
  fc.assert(
    fc.property(pattern, texts, fc.boolean(), (source, text, ignoreCase) => {
      fc.pre(compileLinearPattern(source).ok);
      const subject = ignoreCase ? text.toUpperCase() : text;
      const expected = findByJavaScript(source, ignoreCase ? 'is' : 's', subject);
      fc.pre(expected !== undefined);
      expect(find(ignoreCase ? `(?i)${source}` : source, subject) >= 0).toBe(expected);
    }),
    { numRuns: 2000 },
  );
});

test('returns the end of the match that ends first', () => {
  expect(find('er+or', 'an errror here')).toBe(9);
  expect(find('ready in \\d+ ms', 'vite ready in 318 ms')).toBe(20);
  expect(find('(?i)FAILED', 'tests failed')).toBe(12);
  expect(find('^x', 'ax')).toBe(-1);
});

test('a pattern that takes JavaScript for ever takes no time', () => {
  const text = 'a'.repeat(50_000);
  const before = performance.now();
  expect(find('(a+)+$|(a|aa)+b|(.*)*x', `${text}!`)).toBe(-1);
  expect(performance.now() - before).toBeLessThan(5000);
});

describe('a pattern that does not compile names its fault', () => {
  test.each([
    ['(a', 'a ( has no )'],
    ['a)', 'a ) has no ('],
    ['[a', 'a [ has no ]'],
    ['*a', 'nothing is before *'],
    ['a**', 'a repetition follows another'],
    ['a{3,2}', 'in the wrong order'],
    ['a{1000}', 'more than 100 times'],
    ['(?=a)', 'lookahead'],
    ['(a)\\1', 'back references'],
    ['\\', 'at the end'],
    ['\\q', '\\q is not known'],
    ['[z-a]', 'in the wrong order'],
    ['((((a{90}){90}){90}){90})', 'too large'],
    ['('.repeat(60), 'nested too deeply'],
  ])('%s', (source, reason) => {
    const compiled = compileLinearPattern(source);
    expect(compiled.ok ? '' : compiled.reason).toContain(reason);
  });
});

test('a text is found in any case; an asterisk stands for any characters, nothing else is special', () => {
  expect(compileTextPattern('Error: (x)').find('an ERROR: (X) here')).toBe(13);
  expect(compileTextPattern('listening*3000').find('Listening on http://localhost:3000')).toBe(34);
  expect(compileTextPattern('a.c').find('abc')).toBe(-1);
});

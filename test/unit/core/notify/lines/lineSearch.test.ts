// The search for lines in streamed output: each line counts once, however it is cut and wherever the search starts again.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { whyNotPatterns } from '../../../../../src/core/notify/lines/linePatterns.ts';
import { LineSearch, LONGEST_LINE } from '../../../../../src/core/notify/lines/lineSearch.ts';
import { type LinePosition } from '../../../../../src/protocol/lines/lineWatch.ts';

const encoder = new TextEncoder();
const START: LinePosition = { through: 0 };

function searchFor(patterns: readonly string[], position = START): LineSearch {
  return new LineSearch({ patterns, position });
}

function linesIn(text: string, ...patterns: readonly string[]): readonly string[] {
  const search = searchFor(patterns);
  return [...search.take(encoder.encode(text)), ...search.takeRest()].map((line) => line.text);
}

test('finds lines by text in any case and by regular expression, without escape sequences', () => {
  const output = 'start\n\u001b[31mERROR\u001b[0m: no\nready in 318 ms\nérror\n';
  expect(linesIn(output, 'error', '/^ready in \\d+/')).toEqual(['ERROR: no', 'ready in 318 ms']);
});

test('of a line that a progress bar overwrites only the last state counts', () => {
  expect(linesIn('10 % error\r50 %\r100 % done\n', 'error')).toEqual([]);
  expect(linesIn('10 %\r100 % done\r\n', 'done')).toEqual(['100 % done']);
});

test('binary output is not searched', () => {
  expect(linesIn('error \0\nerror\n', 'error')).toEqual(['error']);
});

test('a line without an end is found once, before or after its end', () => {
  const search = searchFor(['password']);
  expect(search.take(encoder.encode('first\nPassword: '))).toEqual([]);
  expect(search.takeRest().map(({ at }) => at)).toEqual([6]);
  expect(search.position).toEqual({ through: 6, reported: true });
  expect(search.takeRest()).toEqual([]);
  expect(search.take(encoder.encode('****\nPassword again: ****\n')).map(({ text }) => text)).toEqual([
    'Password again: ****',
  ]);
});

test('a match in a long line is shown with what is around it', () => {
  const [line = ''] = linesIn(`${'a'.repeat(5000)} error here ${'b'.repeat(5000)}\n`, 'error');
  expect(line).toMatch(/^…a+ error here b+…$/);
  expect(line.length).toBeLessThan(600);
});

test('a line of any length takes bounded memory, and is searched in pieces', () => {
  const search = searchFor(['error']);
  const found = search.take(encoder.encode(`${'a'.repeat(3 * LONGEST_LINE)}error\n`));
  expect(found.map(({ at }) => at)).toEqual([3 * LONGEST_LINE]);
});

test('each line counts once, however the output is cut and wherever the search is started again', () => {
  const line = fc.stringMatching(/^(?:hit|miss|ü)[a-c]{0,3}\r?$/);
  const output = fc.array(line, { maxLength: 20 }).map((lines) => lines.map((one) => `${one}\n`).join(''));
  const steps = fc.array(fc.tuple(fc.nat(12), fc.constantFrom('take', 'rest', 'restart')), { maxLength: 60 });
  fc.assert(
    fc.property(output, steps, (text, cuts) => {
      const bytes = encoder.encode(text);
      const patterns = ['hit'];
      let search = searchFor(patterns);
      const found: string[] = [];
      for (const [length, how] of [...cuts, [bytes.length, 'take'] as const]) {
        found.push(...search.take(bytes.subarray(search.next, search.next + length)).map(({ at }) => String(at)));
        if (how === 'rest') found.push(...search.takeRest().map(({ at }) => String(at)));
        // What was found is in the log together with the position.
        if (how === 'restart') search = searchFor(patterns, search.position);
      }
      found.push(...search.take(bytes.subarray(search.next)).map(({ at }) => String(at)));
      let at = 0;
      const expected = text.split('\n').flatMap((one) => {
        const start = at;
        at += encoder.encode(one).length + 1;
        return one.includes('hit') ? [String(start)] : [];
      });
      expect(found).toEqual(expected);
    }),
  );
});

test('a pattern that does not compile names its field', () => {
  expect(whyNotPatterns(['a', '/(/'])?.message).toBe('notify_on.1: /(/ does not compile: a ( has no ).');
  expect(whyNotPatterns([''], 'tail.0.notify_on')?.message).toBe('tail.0.notify_on.0: 1 to 300 characters.');
  expect(whyNotPatterns(['x'.repeat(301)])?.message).toContain('1 to 300 characters');
  expect(whyNotPatterns(Array.from({ length: 9 }, () => 'a'))?.message).toBe('notify_on: at most 8 patterns.');
  expect(whyNotPatterns(['error', '/a|b/i', '/', '//'])).toBeUndefined();
});

test('a regular expression heeds case unless it ends in /i', () => {
  expect(linesIn('Ready\n', '/ready/')).toEqual([]);
  expect(linesIn('Ready\n', '/ready/i')).toEqual(['Ready']);
});

// Which lines of a file an output shows: the whole file only if every line occurs in order.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { linesShownIn } from '../../../../src/core/files/shownLines.ts';
import { runs } from '../../../support/runs.ts';

const FILE = `${Array.from({ length: 20 }, (_, index) => `line ${index + 1}`).join('\n')}\n`;
const lines = (first: number, last: number) =>
  FILE.split('\n')
    .slice(first - 1, last)
    .join('\n');

test('the whole file counts as shown on its own, within other output, and with other line endings, a byte order mark or no last line break', () => {
  for (const shown of [FILE, `before\n${FILE}after\n`, FILE.trimEnd(), FILE.replaceAll('\n', '\r\n')])
    expect(linesShownIn([shown], FILE)).toBe('whole');
  expect(linesShownIn([FILE], FILE.replaceAll('\n', '\r\n'))).toBe('whole');
  expect(linesShownIn([`\uFEFF${FILE}`], FILE)).toBe('whole');
  expect(linesShownIn(['one line'], 'one line')).toBe('whole');
});

test('the beginning, the end or pieces with a gap count as parts, never as the whole file', () => {
  expect(linesShownIn([lines(1, 5)], FILE)).toEqual({ ranges: [[1, 5]], of: 21 });
  expect(linesShownIn([lines(16, 20)], FILE)).toEqual({ ranges: [[16, 21]], of: 21 });
  expect(linesShownIn([`${lines(3, 6)}\n--\n${lines(12, 15)}`], FILE)).toEqual({
    ranges: [
      [3, 6],
      [12, 15],
    ],
    of: 21,
  });
  expect(linesShownIn([lines(1, 8), lines(10, 20)], FILE)).toEqual({
    ranges: [
      [1, 8],
      [10, 21],
    ],
    of: 21,
  });
  expect(linesShownIn([lines(1, 9), lines(10, 20)], FILE)).toBe('whole');
});

test('reordered, isolated or prefixed lines count as nothing shown', () => {
  const reversed = FILE.trimEnd().split('\n').toReversed().join('\n');
  expect(linesShownIn([reversed], FILE)).toBeUndefined();
  expect(linesShownIn([`found:\n${lines(4, 5)}\nend`], FILE)).toBeUndefined();
  expect(linesShownIn([FILE.replaceAll('line', '1:line')], FILE)).toBeUndefined();
  expect(linesShownIn([''], FILE)).toBeUndefined();
  expect(linesShownIn(['\n\n'], '')).toBeUndefined();
});

test('a short output that consists only of lines of the file counts as a part', () => {
  expect(linesShownIn([`${lines(7, 8)}\n`], FILE)).toEqual({ ranges: [[7, 8]], of: 21 });
});

test('repeated lines are located only next to a unique line', () => {
  const twice = 'a\nb\nc\nd\na\nb\nc\ne\n';
  expect(linesShownIn(['a\nb\nc'], twice)).toBeUndefined();
  expect(linesShownIn(['a\nb\nc\ne'], twice)).toEqual({ ranges: [[5, 9]], of: 9 });
  expect(linesShownIn([twice], twice)).toBe('whole');
});

test('trailing blank lines missing from the output do not count as shown', () => {
  expect(linesShownIn(['a\nb\nc\n\n\n'], 'a\nb\nc\n\n\n')).toEqual({ ranges: [[1, 3]], of: 6 });
});

test('for any file and any excerpt, no line counts that was not shown', () => {
  const line = fc.constantFrom('a', 'b', 'c', '', '  }', 'x1', 'x2', 'x3');
  fc.assert(
    fc.property(fc.array(line, { minLength: 1, maxLength: 40 }), fc.array(line, { maxLength: 40 }), (file, shown) => {
      const found = linesShownIn([shown.join('\n')], file.join('\n'));
      if (found === undefined) return;
      const text = `\n${shown.join('\n')}\n`;
      const ranges = found === 'whole' ? [[1, file.length] as const] : found.ranges;
      for (const [first, last] of ranges) {
        const run = file.slice(first - 1, last);
        if (last === file.length && run.at(-1) === '') run.pop();
        // Each of its lines occurs in the output, and a contiguous run occurs contiguously.
        for (const one of run) expect(text).toContain(`\n${one}\n`);
      }
    }),
    { numRuns: runs(600, 2000) },
  );
});

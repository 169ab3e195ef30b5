// Which lines of a file a text shows: all of them only if every one stands there, in order, in one piece or several.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { linesShownIn } from '../../../../src/core/files/shownLines.ts';
import { runs } from '../../../support/runs.ts';

const FILE = `${Array.from({ length: 20 }, (_, index) => `line ${index + 1}`).join('\n')}\n`;
const lines = (first: number, last: number) =>
  FILE.split('\n')
    .slice(first - 1, last)
    .join('\n');

test('the whole file: alone, between other output, without its last line break, with other line endings or a mark', () => {
  for (const shown of [FILE, `before\n${FILE}after\n`, FILE.trimEnd(), FILE.replaceAll('\n', '\r\n')])
    expect(linesShownIn([shown], FILE)).toBe('whole');
  expect(linesShownIn([FILE], FILE.replaceAll('\n', '\r\n'))).toBe('whole');
  expect(linesShownIn([`\uFEFF${FILE}`], FILE)).toBe('whole');
  expect(linesShownIn(['one line'], 'one line')).toBe('whole');
});

test('parts: the beginning, the end, some lines, two pieces with a gap; both ends together are not the whole', () => {
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

test('lines in another order, single ones among others, or with something before them show nothing', () => {
  const reversed = FILE.trimEnd().split('\n').toReversed().join('\n');
  expect(linesShownIn([reversed], FILE)).toBeUndefined();
  expect(linesShownIn([`found:\n${lines(4, 5)}\nend`], FILE)).toBeUndefined();
  expect(linesShownIn([FILE.replaceAll('line', '1:line')], FILE)).toBeUndefined();
  expect(linesShownIn([''], FILE)).toBeUndefined();
  expect(linesShownIn(['\n\n'], '')).toBeUndefined();
});

test('a short output that is nothing but lines of the file is a part', () => {
  expect(linesShownIn([`${lines(7, 8)}\n`], FILE)).toEqual({ ranges: [[7, 8]], of: 21 });
});

test('lines that the file has several times are placed only by one that it has once', () => {
  const twice = 'a\nb\nc\nd\na\nb\nc\ne\n';
  expect(linesShownIn(['a\nb\nc'], twice)).toBeUndefined();
  expect(linesShownIn(['a\nb\nc\ne'], twice)).toEqual({ ranges: [[5, 9]], of: 9 });
  expect(linesShownIn([twice], twice)).toBe('whole');
});

test('blank lines at the end of a file that the output does not show are not taken for shown', () => {
  expect(linesShownIn(['a\nb\nc\n\n\n'], 'a\nb\nc\n\n\n')).toEqual({ ranges: [[1, 3]], of: 6 });
});

test('for any file and any cut out of it: no line counts that was not shown', () => {
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
        // Each of its lines stands in the output; a run of one piece stands there in one piece.
        for (const one of run) expect(text).toContain(`\n${one}\n`);
      }
    }),
    { numRuns: runs(600, 2000) },
  );
});

test('it takes time by the length of what is compared', () => {
  const measure = (size: number) => {
    // The worst for it: few lines that the file has once, many that it has often.
    const file = Array.from({ length: size }, (_, index) => (index % 50 === 0 ? `unique ${index}` : 'same'));
    const shown = Array.from({ length: size }, (_, index) =>
      index % 49 === 0 ? `unique ${(index / 49) * 50}` : 'same',
    );
    const [text, output] = [file.join('\n'), shown.join('\n')];
    const times = Array.from({ length: 5 }, () => {
      const began = performance.now();
      linesShownIn([output], text);
      return performance.now() - began;
    });
    return Math.min(...times);
  };
  measure(40_000);
  expect(measure(160_000) / measure(40_000)).toBeLessThan(8);
});

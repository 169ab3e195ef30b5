// Minimal edits: applied to the old text they give the new one and do not touch unchanged parts.
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { minimalEdits, type TextReplacement } from '../../../../src/core/files/minimalEdits.ts';

function applied(text: string, edits: readonly TextReplacement[]): string {
  return [...edits]
    .reverse()
    .reduce((now, { start, end, text: by }) => now.slice(0, start) + by + now.slice(end), text);
}

const line = fc.constantFrom('a', 'b', 'const x = 1;', '', '𝒳𝒴', '𝒳𝒵', 'ü');
const text = fc
  .tuple(fc.array(line, { maxLength: 12 }), fc.constantFrom('\n', '\r\n'), fc.boolean())
  .map(([lines, ending, last]) => lines.join(ending) + (last ? ending : ''));

test('for any two texts the edits are ordered, do not overlap, split no character and give the new text', () => {
  fc.assert(
    fc.property(text, text, (before, after) => {
      const edits = minimalEdits(before, after);
      expect(applied(before, edits)).toBe(after);
      for (const [index, edit] of edits.entries()) {
        expect(edit.start).toBeGreaterThan(edits[index - 1]?.end ?? -1);
        expect(edit.text.isWellFormed()).toBe(true);
        expect(before.slice(edit.start, edit.end).isWellFormed()).toBe(true);
        expect(/\r$/.test(before.slice(0, edit.start)) && before[edit.start] === '\n').toBe(false);
      }
    }),
  );
});

test('a changed word gives one small edit', () => {
  const before = 'one\ntwo and three\nfour\n'.repeat(500);
  const after = `${before.slice(0, 8)}TWO${before.slice(8)}`;
  expect(minimalEdits(before, after)).toEqual([{ start: 8, end: 8, text: 'TWO' }]);
});

test('texts with nothing in common give one replacement', () => {
  const before = Array.from({ length: 3000 }, (_, index) => `old ${index}`).join('\n');
  const after = Array.from({ length: 3000 }, (_, index) => `new ${index}`).join('\n');
  expect(applied(before, minimalEdits(before, after))).toBe(after);
});

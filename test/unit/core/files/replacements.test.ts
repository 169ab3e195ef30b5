// Replacements of exact texts: all or none, in the file's own line endings, with a helpful reason if one does not fit.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Replacement, replaceTexts } from '../../../../src/core/files/replacements.ts';

const one = (oldText: string, newText: string, everywhere = false): Replacement => ({ oldText, newText, everywhere });

function result(text: string, ...replacements: Replacement[]): string {
  const fit = replaceTexts(text, replacements);
  return fit.ok ? fit.value.text : `misfit: ${fit.misfit}`;
}

test('each replacement applies to the result of the one before', () => {
  expect(result('a b c', one('b', 'x y'), one('y c', 'z'))).toBe('a x z');
});

test('if one replacement does not fit, none is made and the failing one is named', () => {
  expect(result('a b c', one('b', 'x'), one('q', 'z'))).toBe(
    'misfit: edits[1].old_text is not there, nor anything much like it.',
  );
});

test('a text that occurs several times is refused with its lines and advice', () => {
  expect(result('x\ny\nx\n', one('x', 'z'))).toBe(
    'misfit: old_text is there 2 times, at lines 1, 3: add lines around it until it is there once, or set replace_all.',
  );
  expect(result('x\ny\nx\n', one('x', 'z', true))).toBe('z\ny\nz\n');
});

test('a missing text is refused with the nearest text, its lines and whether only white space differs', () => {
  const text = 'function add(a, b) {\n    return a + b;\n}\n\nfunction mul(a, b) {\n    return a * b;\n}\n';
  expect(result(text, one('function mul(a, b) {\n  return a * b;\n}', ''))).toBe(
    'misfit: old_text is not there. The nearest text is lines 5–7 (only spaces or line breaks differ):\nfunction mul(a, b) {\n    return a * b;\n}',
  );
  expect(result(text, one('    return a - b;', ''))).toMatch(/The nearest text is line [26]:\n {4}return a [+*] b;$/);
  expect(result('done = true\n', one('todo', 'done'))).toBe(
    'misfit: old_text is not there, nor anything much like it. new_text is there already.',
  );
});

test('replacements use the line endings of the file', () => {
  expect(result('a\r\nb\r\nc\r\n', one('a\nb\n', 'x\ny\n'))).toBe('x\r\ny\r\nc\r\n');
  expect(result('a\nb\nc\n', one('a\r\nb', 'x\r\ny'))).toBe('x\ny\nc\n');
  expect(result('a\r\nb\nc\n', one('b\nc', 'd'))).toBe('a\r\nd\n');
});

test('special characters of patterns are taken literally', () => {
  expect(result('a\r\n$1.*(x)[y]{2}|^\\\r\n', one('$1.*(x)[y]{2}|^\\', '$& $1'))).toBe('a\r\n$& $1\r\n');
});

test('for any text that occurs once, replacing it and replacing it back gives the original', () => {
  fc.assert(
    fc.property(fc.string(), fc.string({ minLength: 1 }), fc.string(), (before, middle, after) => {
      const text = `${before}<${middle}>${after}`;
      const fit = replaceTexts(text, [one(`<${middle}>`, '<>')]);
      if (text.split(`<${middle}>`).length === 2) expect(fit.ok).toBe(true);
    }),
  );
});

test('a long missing text in a long file is refused quickly', () => {
  const text = Array.from({ length: 20_000 }, (_, index) => `const value${index} = compute(${index});`).join('\n');
  const wanted = Array.from({ length: 200 }, (_, index) => `const wert${index} = compute(${index});`).join('\n');
  expect(result(text, one(wanted, ''))).toContain('The nearest text is lines 1–200');
});

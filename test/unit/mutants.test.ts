// The mutants run rarely; this test, which always runs, checks that each of them still fits the code.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { mutants } from '../mutants/list.ts';
import { mutate } from '../mutants/mutate.ts';

const root = join(import.meta.dirname, '../..');

test.each(mutants)('$name: it changes its symbol, and the tests that must find it exist', (mutant) => {
  const source = readFileSync(join(root, mutant.file), 'utf8');
  expect(mutate(source, mutant)).not.toBe(source);
  expect(mutant.tests.filter((one) => !existsSync(join(root, one)))).toEqual([]);
});

test('every mutant has a unique name', () => {
  expect(new Set(mutants.map(({ name }) => name)).size).toBe(mutants.length);
});

describe('the place of a mutant', () => {
  const source = `
const LIMIT = 3;
// return 1;
function first() { return 1; }
function second() {
  // About return 1.
  return 1;
}
class Box {
  get size() { return 1; }
  #grow() { return 1; return 1; }
}
`;

  test.each([
    ['second', 'return 1;', 'function second() {\n  // About return 1.\n  return 2;\n}'],
    ['LIMIT', 'const LIMIT = 3;', 'return 2;'],
    ['Box.size', 'return\n  1;', 'get size() { return 2; }'],
  ])('only the text within %s is changed', (symbol, find, expected) => {
    const changed = mutate(source, { symbol, find, replace: 'return 2;' });
    expect(changed).toContain(expected);
    expect(changed.split('return 2;')).toHaveLength(2);
  });

  test.each([
    ['third', 'return 1;', 'there is no third'],
    ['Box.grow', 'return 1;', 'there is no Box.grow'],
    ['Box.#grow', 'return 1;', 'its text occurs 2 times in Box.#grow, not once'],
    ['first', 'return 3;', 'its text occurs 0 times in first, not once'],
  ])('%s with %j is refused: %s', (symbol, find, reason) => {
    expect(() => mutate(source, { symbol, find, replace: '' })).toThrow(reason);
  });
});

// The list of mutants is run seldom; that each of them still fits the code is looked at always.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { mutants } from '../mutants/list.ts';

const root = join(import.meta.dirname, '../..');

test.each(mutants)(
  '$name: what it changes stands in the code exactly once, and the tests that must find it are there',
  ({ file, find, tests }) => {
    expect(readFileSync(join(root, file), 'utf8').split(find)).toHaveLength(2);
    expect(tests.filter((one) => !existsSync(join(root, one)))).toEqual([]);
  },
);

// Compares installed packages with the lock file.
import { expect, test } from 'vitest';
import { lockMismatch } from '../../host/install/dependencies.mjs';

const wanted = {
  '': {},
  'node_modules/a': { version: '1.0.0', integrity: 'sha512-a' },
  'node_modules/only-on-another-system': { version: '1.0.0', optional: true },
};
const installed = { 'node_modules/a': { version: '1.0.0', integrity: 'sha512-a' } };
const everythingExists = () => true;

test('installed packages fit the lock file without optional packages of other platforms', () => {
  expect(lockMismatch(wanted, installed, everythingExists)).toBeUndefined();
});

test.each([
  ['another version', { 'node_modules/a': { version: '1.0.1', integrity: 'sha512-a' } }],
  ['another content', { 'node_modules/a': { version: '1.0.0', integrity: 'sha512-b' } }],
  ['not there', {}],
])('%s does not fit', (_what, found) => {
  expect(lockMismatch(wanted, found, everythingExists)).toBe('node_modules/a');
});

test('an extra package, or one with missing files, does not fit', () => {
  const more = { ...installed, 'node_modules/b': { version: '1.0.0' } };
  expect(lockMismatch(wanted, more, everythingExists)).toBe('node_modules/b');
  expect(lockMismatch(wanted, installed, () => false)).toBe('node_modules/a');
});

import { expect, test } from 'vitest';
import { lockMismatch } from '../../host/dependencies.mjs';

const wanted = {
  '': {},
  'node_modules/a': { version: '1.0.0', integrity: 'sha512-a' },
  'node_modules/only-on-another-system': { version: '1.0.0', optional: true },
};
const installed = { 'node_modules/a': { version: '1.0.0', integrity: 'sha512-a' } };
const everythingExists = () => true;

test('what the lock asks for is there; packages for other systems need not be', () => {
  expect(lockMismatch(wanted, installed, everythingExists)).toBeUndefined();
});

test.each([
  ['another version', { 'node_modules/a': { version: '1.0.1', integrity: 'sha512-a' } }],
  ['another content', { 'node_modules/a': { version: '1.0.0', integrity: 'sha512-b' } }],
  ['not there', {}],
])('%s does not fit', (_what, found) => {
  expect(lockMismatch(wanted, found, everythingExists)).toBe('node_modules/a');
});

test('a package too many, or one whose files are gone, does not fit', () => {
  const more = { ...installed, 'node_modules/b': { version: '1.0.0' } };
  expect(lockMismatch(wanted, more, everythingExists)).toBe('node_modules/b');
  expect(lockMismatch(wanted, installed, () => false)).toBe('node_modules/a');
});

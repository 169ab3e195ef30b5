// Runs the clean-up functions of each test, then fails the test if a disposable is left.
import { afterEach, beforeEach, expect } from 'vitest';
import { setDisposableTracker } from '../../src/base/disposable.ts';
import { endAll } from './endings.ts';

const alive = new Map<object, Error>();

beforeEach(() => {
  alive.clear();
  setDisposableTracker({
    created: (disposable) => alive.set(disposable, new Error('created here and never disposed')),
    disposed: (disposable) => alive.delete(disposable),
  });
});

afterEach(async () => {
  await endAll();
  setDisposableTracker(undefined);
  // As text, so that the message of a failure shows where they were created.
  expect([...alive.values()].map((error) => error.stack).join('\n')).toBe('');
});

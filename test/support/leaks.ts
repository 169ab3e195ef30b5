// Fails every test that leaves a disposable behind.
import { afterEach, beforeEach, expect } from 'vitest';
import { setDisposableTracker } from '../../src/base/disposable.ts';

const alive = new Map<object, Error>();

beforeEach(() => {
  alive.clear();
  setDisposableTracker({
    created: (disposable) => alive.set(disposable, new Error('created here and never disposed')),
    disposed: (disposable) => alive.delete(disposable),
  });
});

afterEach(() => {
  setDisposableTracker(undefined);
  expect([...alive.values()].map((error) => error.stack)).toEqual([]);
});

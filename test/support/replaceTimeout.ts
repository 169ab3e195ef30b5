// A time limit that ends when a test says so, for code that uses AbortSignal.timeout.
import { vi } from 'vitest';
import { atTestEnd } from './endings.ts';

/** Replaces time limits of exactly this length. Choose one that no other code uses. */
export function replaceTimeout(milliseconds: number): AbortController {
  const limit = new AbortController();
  const real = AbortSignal.timeout.bind(AbortSignal);
  const replaced = vi
    .spyOn(AbortSignal, 'timeout')
    .mockImplementation((wanted) => (wanted === milliseconds ? limit.signal : real(wanted)));
  atTestEnd(async () => {
    replaced.mockRestore();
  });
  return limit;
}

import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { CallTimer } from '../../../src/mcp/session/callTimer.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test('progress restarts the time limit, and the end of the call stops it', () => {
  const timer = new CallTimer(1000);
  for (let report = 0; report < 5; report++) {
    vi.advanceTimersByTime(900);
    timer.restart();
  }
  expect(timer.signal.aborted).toBe(false);
  vi.advanceTimersByTime(1000);
  expect(timer.signal.aborted).toBe(true);
  const ended = new CallTimer(1000);
  ended.dispose();
  ended.restart();
  vi.advanceTimersByTime(5000);
  expect(ended.signal.aborted).toBe(false);
});

test('the time limit is paused while the user is asked, also by several questions at once', async () => {
  const timer = new CallTimer(1000);
  const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const asking = [timer.paused(() => first.promise), timer.paused(() => second.promise)];
  vi.advanceTimersByTime(60_000);
  first.resolve();
  await asking[0];
  vi.advanceTimersByTime(60_000);
  expect(timer.signal.aborted).toBe(false);
  second.resolve();
  await asking[1];
  vi.advanceTimersByTime(1000);
  expect(timer.signal.aborted).toBe(true);
});

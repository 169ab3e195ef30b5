// The time limit of a silent stream.
import { expect, test } from 'vitest';
import { watchIdle } from '../../../../src/core/agent/idle.ts';
import { createManualClock } from '../../../support/manualClock.ts';

test('a silent stream is aborted in time also if the time of day is set back, and not early if it is set forward', () => {
  for (const back of [3_600_000, -3_600_000]) {
    const clock = createManualClock();
    const watch = watchIdle(clock, 1000, new AbortController().signal);
    clock.advance(900);
    watch.noteActivity();
    clock.setBack(back);
    clock.advance(900);
    expect(watch.timedOut).toBe(false);
    clock.advance(100);
    expect(watch.timedOut).toBe(true);
    expect(watch.signal.aborted).toBe(true);
    watch.dispose();
  }
});

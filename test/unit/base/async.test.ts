// Work in turn, coalesced and shared work, time limits, pauses and back-off.
import { expect, test } from 'vitest';
import {
  aborted,
  BackOff,
  coalesce,
  Coalescer,
  GroupCommit,
  ignore,
  nextEvent,
  pause,
  Sequence,
  Sequences,
  share,
  within,
} from '../../../src/base/async.ts';
import { toDisposable } from '../../../src/base/disposable.ts';
import { Emitter, type Event } from '../../../src/base/emitter.ts';
import { createManualClock } from '../../support/manualClock.ts';

/** Work that ends when the test says so. */
function createWork() {
  const runs: ReturnType<typeof Promise.withResolvers<void>>[] = [];
  const work = () => {
    const run = Promise.withResolvers<void>();
    runs.push(run);
    return run.promise;
  };
  return { runs, work };
}

test('work runs in the order of the calls, also after a failure, and the failure reaches its caller', async () => {
  const sequence = new Sequence();
  const order: string[] = [];
  const first = Promise.withResolvers<void>();
  expect(sequence.isIdle).toBe(true);
  const failing = sequence.run(async () => {
    await first.promise;
    order.push('first');
    throw new Error('broken');
  });
  const thrown = sequence.run(() => {
    order.push('second');
    throw new Error('thrown at once');
  });
  const last = sequence.run(() => order.push('third'));
  const settled = sequence.settled().then(() => order.push('settled'));
  expect(sequence.isIdle).toBe(false);
  first.resolve();
  await expect(failing).rejects.toThrow('broken');
  await expect(thrown).rejects.toThrow('thrown at once');
  expect(await last).toBe(3);
  await settled;
  expect(order).toEqual(['first', 'second', 'third', 'settled']);
  expect(sequence.isIdle).toBe(true);
});

test('the work of one key does not wait for another key, and a key without work is dropped', async () => {
  const sequences = new Sequences<string>();
  const blocked = Promise.withResolvers<void>();
  const order: string[] = [];
  const a = sequences.run('a', () => blocked.promise);
  const second = sequences.run('a', () => order.push('a'));
  await sequences.run('b', () => order.push('b'));
  await sequences.settled('b');
  expect(order).toEqual(['b']);
  expect([sequences.has('a'), sequences.has('b')]).toEqual([true, false]);
  blocked.reject(new Error('broken'));
  await expect(a).rejects.toThrow('broken');
  await second;
  await sequences.settled('a');
  expect(order).toEqual(['b', 'a']);
  expect(sequences.has('a')).toBe(false);
});

test('entries of one tick share a group, those during its commit the next, and a failure reaches only its own group', async () => {
  const committed: string[][] = [];
  const first = Promise.withResolvers<void>();
  const groups = new GroupCommit<string[]>(
    () => [],
    async (group) => {
      committed.push(group);
      if (group.includes('one')) await first.promise;
      if (group.includes('three')) throw new Error('broken');
    },
  );
  const add = (entry: string) => groups.add((group) => group.push(entry));
  const [one, two] = [add('one'), add('two')];
  await expect.poll(() => committed.length).toBe(1);
  const [three, four] = [add('three'), add('four')];
  first.resolve();
  await Promise.all([one, two]);
  const five = add('five');
  await expect(three).rejects.toThrow('broken');
  await expect(four).rejects.toThrow('broken');
  await five;
  await groups.settled();
  expect(committed).toEqual([['one', 'two'], ['three', 'four'], ['five']]);
});

test('calls during a run share the next run, also if the running one fails', async () => {
  const { runs, work } = createWork();
  const run = coalesce(work);
  const first = run();
  const second = run();
  const third = run();
  expect(second).toBe(third);
  expect(runs).toHaveLength(1);
  runs[0]?.reject(new Error('broken'));
  await expect(first).rejects.toThrow('broken');
  await expect.poll(() => runs.length).toBe(2);
  const fourth = run();
  expect(fourth).not.toBe(second);
  runs[1]?.resolve();
  await second;
  await expect.poll(() => runs.length).toBe(3);
  runs[2]?.resolve();
  await fourth;
  const fifth = run();
  expect(runs).toHaveLength(4);
  runs[3]?.resolve();
  await fifth;
});

test.each([0, 1, 2, 3, 4, 5, 6, 7])('coalesced runs do not overlap if a call comes after %i ticks', async (ticks) => {
  let running = 0;
  let most = 0;
  const run = coalesce(async () => {
    running += 1;
    most = Math.max(most, running);
    await Promise.resolve();
    running -= 1;
  });
  const calls = [run(), run()];
  for (let tick = 0; tick < ticks; tick += 1) await Promise.resolve();
  await Promise.all([...calls, run(), run()]);
  expect(most).toBe(1);
});

test('calls during a shared run get its result, and the next call runs again', async () => {
  const { runs, work } = createWork();
  const run = share(work);
  const both = [run(), run()];
  expect(runs).toHaveLength(1);
  runs[0]?.resolve();
  await Promise.all(both);
  const failing = run();
  expect(runs).toHaveLength(2);
  runs[1]?.reject(new Error('broken'));
  await expect(failing).rejects.toThrow('broken');
});

test('a pause ends after its time or when it is aborted, and leaves no timer', async () => {
  const clock = createManualClock();
  const abort = new AbortController();
  const [whole, cut] = [pause(clock, 100), pause(clock, 100, abort.signal)];
  expect(clock.waiting).toBe(2);
  abort.abort();
  expect(await cut).toBe(false);
  clock.advance(100);
  expect(await whole).toBe(true);
  expect(await pause(clock, 100, abort.signal)).toBe(false);
  expect(clock.waiting).toBe(0);
  await aborted(abort.signal);
});

test('the next event ends the wait, an abort too, and no listener stays', async () => {
  const emitter = new Emitter<number>(() => undefined);
  let listeners = 0;
  const event: Event<number> = (listener) => {
    listeners += 1;
    const listening = emitter.event(listener);
    return toDisposable(() => {
      listeners -= 1;
      listening.dispose();
    });
  };
  const abort = new AbortController();
  const waits = [nextEvent(event, abort.signal), nextEvent(event, new AbortController().signal)];
  expect(listeners).toBe(2);
  abort.abort();
  await waits[0];
  expect(listeners).toBe(1);
  emitter.fire(1);
  await waits[1];
  await nextEvent(event, abort.signal);
  expect(listeners).toBe(0);
});

test('work within its time limit gives its result or its error; later or aborted work gives undefined', async () => {
  const clock = createManualClock();
  const abort = new AbortController();
  const late = Promise.withResolvers<string>();
  expect(await within(clock, 100, Promise.resolve('in time'))).toBe('in time');
  await expect(within(clock, 100, Promise.reject(new Error('broken')))).rejects.toThrow('broken');
  const cut = within(clock, 100, late.promise, abort.signal);
  const limited = within(clock, 100, late.promise);
  abort.abort();
  expect(await cut).toBeUndefined();
  clock.advance(100);
  expect(await limited).toBeUndefined();
  expect(clock.waiting).toBe(0);
  // Too late: it reaches nobody, and is no unhandled rejection.
  late.reject(new Error('too late'));
  await late.promise.catch(ignore);
});

test('delays double up to the longest, and begin anew after a success', () => {
  const delay = new BackOff(100, 500);
  expect([delay.next(), delay.next(), delay.next(), delay.next(), delay.next()]).toEqual([100, 200, 400, 500, 500]);
  delay.reset();
  expect(delay.next()).toBe(100);
});

test('the first change of a key runs at once, the others once at the end of the interval', () => {
  const clock = createManualClock();
  const runs: string[] = [];
  const changes = new Coalescer<string>(clock, 100, (key) => runs.push(key));
  for (const key of ['a', 'a', 'b', 'a']) changes.changed(key);
  expect(runs).toEqual(['a', 'b']);
  clock.advance(100);
  expect(runs).toEqual(['a', 'b', 'a']);
  clock.advance(100);
  changes.changed('a');
  expect(runs).toEqual(['a', 'b', 'a', 'a']);
  changes.dispose();
  expect(clock.waiting).toBe(0);
});

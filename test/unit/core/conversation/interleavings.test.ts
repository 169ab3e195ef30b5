// For any interleaving of log operations: no acknowledged notification is lost or delivered twice.
import fc from 'fast-check';
import { beforeEach, test } from 'vitest';
import { setDisposableTracker } from '../../../../src/base/disposable.ts';
import { LEVELS } from '../../../../src/protocol/notification.ts';
import { LogWorld } from '../../../support/log/logWorld.ts';
import { settings } from '../../../support/notify/arbitraryNotifications.ts';
import { runs } from '../../../support/runs.ts';

// A program that loses power cannot dispose of anything, so leaks are not tracked.
beforeEach(() => setDisposableTracker(undefined));

type Step = (world: LogWorld) => Promise<void> | void;

const small = fc.nat({ max: 7 });

const publish: fc.Arbitrary<Step> = fc
  .record({ kind: fc.nat({ max: 3 }), subject: small, level: fc.constantFrom(...LEVELS) })
  .map(
    ({ kind, subject, level }) =>
      (world) =>
        world.publish(kind, subject, level),
  );

const conversationStep: fc.Arbitrary<Step> = fc.oneof(
  fc.constant<Step>((world) => world.request('Go on.')),
  fc.constant<Step>((world) => world.queueMessage('By the way.')),
  fc.nat({ max: 3 }).map(
    (calls): Step =>
      (world) =>
        world.answer(calls),
  ),
  small.map(
    (read): Step =>
      (world) =>
        world.respond(read),
  ),
  fc.constant<Step>((world) => world.abortedRequest()),
);

const change: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.nat({ max: 3 }), subject: small }).map(
    ({ kind, subject }): Step =>
      (world) =>
        world.withdraw(kind, subject),
  ),
  settings.map(
    (next): Step =>
      (world) => {
        world.settings = next;
      },
  ),
  small.map(
    (keep): Step =>
      (world) =>
        world.compact(keep % 4),
  ),
  small.map(
    (which): Step =>
      (world) =>
        world.fork(which),
  ),
  small.map(
    (which): Step =>
      (world) =>
        world.choose(which),
  ),
  fc.constant<Step>((world) => world.changeOwner()),
);

const fault: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ numbers: fc.array(fc.nat(), { minLength: 8, maxLength: 8 }), settled: fc.boolean() }).map(
    ({ numbers, settled }): Step =>
      (world) => {
        let next = 0;
        return world.losePower((most) => (numbers[next++ % numbers.length] ?? 0) % (most + 1), settled);
      },
  ),
  fc.record({ calls: small, code: fc.constantFrom('EIO' as const, 'ENOSPC' as const) }).map(
    ({ calls, code }): Step =>
      (world) =>
        world.failDisk(calls, code),
  ),
  fc.constant<Step>((world) => world.settle()),
);

const steps = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: publish },
    { weight: 6, arbitrary: conversationStep },
    { weight: 3, arbitrary: change },
    { weight: 2, arbitrary: fault },
  ),
  { maxLength: 40 },
);

const RUNS = runs(400, 2000);

test('every acknowledged notification is exactly one of pending, shown, merged, counted, filtered, withdrawn', async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (all) => {
      const world = new LogWorld();
      await world.start();
      for (const step of all) await step(world);
      await world.check();
    }),
    { numRuns: RUNS },
  );
});

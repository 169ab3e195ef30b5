// Throttled publishing: nothing is lost, and no kind and subject is published twice within 2 s.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Outlet } from '../../../../src/core/notify/outlet.ts';
import {
  MINUTE_MILLISECONDS,
  MOST_A_MINUTE,
  SUBJECT_MILLISECONDS,
  ThrottledPublisher,
} from '../../../../src/core/notify/throttle.ts';
import { type NotificationDraft } from '../../../../src/protocol/notification.ts';
import { createManualClock } from '../../../support/manualClock.ts';
import { runs } from '../../../support/runs.ts';

interface Delivered {
  readonly at: number;
  readonly draft: NotificationDraft;
  readonly to: string | undefined;
}

const first = 'first';
const second = 'second';

function setUp() {
  const clock = createManualClock();
  const delivered: Delivered[] = [];
  const take = async (draft: NotificationDraft, to?: string) => void delivered.push({ at: clock.now(), draft, to });
  const outlet: Outlet = {
    publish: take,
    deliver: take,
    listeners: (_draft, { to }) => (to === undefined ? [first, second] : [to]),
    withdraw: async () => false,
    isPending: () => false,
  };
  return { clock, delivered, throttled: new ThrottledPublisher({ clock, outlet }) };
}

let number = 0;
function draft(subject: string | undefined, name = 'changed'): NotificationDraft {
  return {
    kind: { source: 'file', name },
    level: 'info',
    message: String(number++),
    ...(subject !== undefined && { subject }),
    origin: 'filesystem',
    at: '2026-01-01T00:00:00Z',
  };
}

/** True also if only one notification exceeds the limit. */
const isSummary = ({ draft: { data } }: Delivered) => data?.['count'] !== undefined;

const name = fc.constantFrom('changed', 'changed', 'deleted');
const step = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({ subject: fc.option(fc.integer({ min: 0, max: 70 }), { nil: undefined }), name }),
  },
  { weight: 3, arbitrary: fc.record({ subject: fc.integer({ min: 0, max: 2 }), name }) },
  { weight: 2, arbitrary: fc.record({ wait: fc.constantFrom(1, 500, 1999, 2000, 2001, 10_000, 59_999, 60_000) }) },
);

test('for any schedule each notification is published, replaced by a newer one or counted, and no subject is published twice in 2 s', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 150, size: 'max' }), fc.boolean(), async (steps, ends) => {
      const { clock, delivered, throttled } = setUp();
      const taken: { draft: NotificationDraft; settled: Promise<unknown> }[] = [];
      for (const one of steps) {
        if ('wait' in one) clock.advance(one.wait);
        else {
          const published = draft(one.subject === undefined ? undefined : `file:${one.subject}`, one.name);
          taken.push({ draft: published, settled: throttled.publish(published, first) });
        }
      }
      if (!ends) clock.advance(2 * MINUTE_MILLISECONDS);
      throttled.dispose();
      expect(clock.waiting).toBe(0);
      // Every promise settles.
      await Promise.all(taken.map(({ settled }) => settled));

      const single = delivered.filter((one) => !isSummary(one));
      const publishedMessages = new Set(single.map((one) => one.draft.message));
      expect(publishedMessages.size).toBe(single.length);
      const unpublished = taken.filter((one) => !publishedMessages.has(one.draft.message));
      const counted = delivered.filter(isSummary).reduce((sum, one) => sum + Number(one.draft.data?.['count']), 0);
      // A notification without subject cannot be replaced; one with a subject only by a newer one of the same kind.
      const replacementKey = ({ kind, subject, message }: NotificationDraft) =>
        subject === undefined ? message : `${kind.name} ${subject}`;
      const replaced = unpublished.filter((one) =>
        taken.some(
          (newer) =>
            replacementKey(newer.draft) === replacementKey(one.draft) &&
            Number(newer.draft.message) > Number(one.draft.message),
        ),
      );
      expect(unpublished.length - replaced.length).toBeLessThanOrEqual(counted);
      expect(counted).toBeLessThanOrEqual(unpublished.length);
      // The newest notification of each subject and kind is published or counted.
      const newest = new Map(taken.map((one) => [replacementKey(one.draft), one.draft.message]));
      expect([...newest.values()].filter((message) => !publishedMessages.has(message)).length).toBeLessThanOrEqual(
        counted,
      );

      const onTime = ends ? single.filter((one) => one.at < clock.now()) : single;
      for (const [index, one] of single.entries()) {
        if (one.draft.subject === undefined) continue;
        const ofSubject = single.slice(0, index).filter((other) => other.draft.subject === one.draft.subject);
        // Notifications of a subject keep their order.
        expect(ofSubject.every((other) => Number(other.draft.message) < Number(one.draft.message))).toBe(true);
        const before = ofSubject.findLast((other) => replacementKey(other.draft) === replacementKey(one.draft));
        if (before === undefined || !onTime.includes(one)) continue;
        expect(one.at - before.at).toBeGreaterThanOrEqual(SUBJECT_MILLISECONDS);
      }
      for (const one of onTime) {
        const within = onTime.filter((other) => other.at >= one.at && other.at - one.at < MINUTE_MILLISECONDS);
        expect(within.length).toBeLessThanOrEqual(MOST_A_MINUTE);
      }
    }),
    { numRuns: runs(400, 1500) },
  );
});

test('the first notification of a subject is published at once, then the newest every 2 s', async () => {
  const { clock, delivered, throttled } = setUp();
  const start = clock.now();
  const drafts = [0, 1, 2, 3].map(() => draft('file:x'));
  for (const one of drafts) {
    void throttled.publish(one).catch(() => undefined);
    clock.advance(800);
  }
  clock.advance(10_000);
  expect(delivered.map(({ at, draft: { message } }) => [at - start, message])).toEqual([
    [0, drafts[0]?.message],
    [2000, drafts[2]?.message],
    [4000, drafts[3]?.message],
  ]);
  throttled.dispose();
});

test('a notification of another kind with the same subject is held but replaces nothing', async () => {
  const { clock, delivered, throttled } = setUp();
  const kinds = ['unsaved', 'changed', 'unsaved', 'deleted', 'changed'];
  const settled = kinds.map((kind) => throttled.publish(draft('file:x', kind)));
  clock.advance(SUBJECT_MILLISECONDS);
  await Promise.all(settled);
  expect(delivered.map(({ draft: { kind } }) => kind.name)).toEqual(['unsaved', 'unsaved', 'deleted', 'changed']);
  throttled.dispose();
});

test('the promise of a replaced notification resolves when the newer one is queued', async () => {
  const { clock, throttled } = setUp();
  await throttled.publish(draft('file:x'));
  let resolved = 0;
  const both = [throttled.publish(draft('file:x')), throttled.publish(draft('file:x'))].map((one) =>
    one.then(() => resolved++),
  );
  await Promise.resolve();
  expect(resolved).toBe(0);
  clock.advance(SUBJECT_MILLISECONDS);
  await Promise.all(both);
  expect(resolved).toBe(2);
  throttled.dispose();
});

test('above 50 a minute each listener gets one summary with the exact count and the most severe level', async () => {
  const { clock, delivered, throttled } = setUp();
  const all = Array.from({ length: 250 }, (_, index) =>
    throttled.publish({ ...draft(`file:f${index}.ts`), ...(index === 249 && { level: 'error' as const }) }),
  );
  clock.advance(SUBJECT_MILLISECONDS);
  await Promise.all(all);
  const summaries = delivered.filter(isSummary);
  expect(delivered.length - summaries.length).toBe(MOST_A_MINUTE);
  expect(summaries.map(({ to, draft: { level, data } }) => [to, level, data?.['count']])).toEqual([
    [first, 'error', 200],
    [second, 'error', 200],
  ]);
  const names = Array.from({ length: 200 }, (_, index) => `f${index + 50}.ts`);
  expect(summaries[0]?.draft.message).toBe(`200 of file.changed:\n${names.join('\n')}`);
  expect(summaries[0]?.draft.scopes).toEqual(names.map((name) => `file:${name}`));
  // The next summary comes a minute later.
  const more = throttled.publish(draft('file:late'));
  clock.advance(MINUTE_MILLISECONDS - SUBJECT_MILLISECONDS);
  expect(delivered.filter(isSummary)).toHaveLength(2);
  clock.advance(SUBJECT_MILLISECONDS);
  await more;
  expect(delivered.filter(isSummary)).toHaveLength(4);
  throttled.dispose();
});

/** An outlet that keeps the pending notifications of each listener. */
function setUpQueue() {
  const clock = createManualClock();
  const queued: { readonly to: string; readonly draft: NotificationDraft }[] = [];
  let appends = 0;
  const isAlike = (one: (typeof queued)[number], kind: NotificationDraft['kind'], subject: string, to?: string) =>
    one.draft.kind.name === kind.name && one.draft.subject === subject && (to === undefined || one.to === to);
  const outlet: Outlet = {
    publish: async (published, to = first) => outlet.deliver(published, to),
    deliver: async (delivered, to) => {
      appends += 1;
      queued.push({ to, draft: delivered });
    },
    listeners: (_draft, { to }) => (to === undefined ? [first, second] : [to]),
    withdraw: async (kind, subject, _reason, to) => {
      const before = queued.length;
      queued.splice(0, before, ...queued.filter((one) => !isAlike(one, kind, subject, to)));
      return queued.length < before;
    },
    isPending: (kind, subject, to) => queued.some((one) => isAlike(one, kind, subject, to)),
  };
  const throttled = new ThrottledPublisher({ clock, outlet });
  const changed = (name: string, hash = 'h') => {
    const published = { ...draft(`file:${name}`), data: { path: name, hash, complete: true } };
    void throttled.publish(published, first).catch(() => undefined);
  };
  return {
    clock,
    throttled,
    changed,
    queued,
    get appends() {
      return appends;
    },
    summaries: () => queued.filter((one) => one.draft.data?.['summary'] === true),
  };
}

const CHANGED = { source: 'file', name: 'changed' };

test('flushing queues the summary at once, and a later flush replaces it with a longer one', async () => {
  const { throttled, changed, queued, summaries } = setUpQueue();
  for (let index = 0; index < 60; index += 1) changed(`f${index}.ts`);
  expect(queued).toHaveLength(50);
  await throttled.flush(second);
  expect(summaries()).toEqual([]);
  await throttled.flush(first);
  expect(summaries().map(({ draft: { scopes } }) => scopes?.length)).toEqual([10]);
  for (let index = 60; index < 70; index += 1) changed(`f${index}.ts`);
  await throttled.flush(first);
  expect(summaries().map(({ draft: { scopes } }) => scopes?.length)).toEqual([20]);
  // After delivery a new summary starts.
  queued.splice(0);
  for (const name of ['late.ts', 'later.ts']) changed(name);
  await throttled.flush(first);
  expect(summaries().map(({ draft: { scopes } }) => scopes)).toEqual([['file:late.ts', 'file:later.ts']]);
  throttled.dispose();
});

test('a summary has the announced hash of each file, none as complete', async () => {
  const { throttled, changed, summaries } = setUpQueue();
  for (let index = 0; index < 52; index += 1) changed(`f${index}.ts`, `h${index}`);
  await throttled.flush(first);
  expect(summaries()[0]?.draft.data?.['files']).toEqual([
    { path: 'f50.ts', hash: 'h50', complete: false },
    { path: 'f51.ts', hash: 'h51', complete: false },
  ]);
  throttled.dispose();
});

test('a single notification above the limit is queued unchanged and becomes a summary with the next one', async () => {
  const { throttled, changed, queued, summaries } = setUpQueue();
  for (let index = 0; index < 51; index += 1) changed(`f${index}.ts`);
  await throttled.flush(first);
  expect(summaries()).toEqual([]);
  expect(queued.at(-1)?.draft).toMatchObject({ subject: 'file:f50.ts', data: { path: 'f50.ts', complete: true } });
  changed('f51.ts');
  await throttled.flush(first);
  expect(queued).toHaveLength(51);
  expect(summaries().map(({ draft: { scopes } }) => scopes)).toEqual([['file:f50.ts', 'file:f51.ts']]);
  throttled.dispose();
});

test('withdrawing subjects removes them from the summary, and withdrawing the last removes the summary', async () => {
  const { clock, throttled, changed, queued, summaries } = setUpQueue();
  for (let index = 0; index < 53; index += 1) changed(`f${index}.ts`);
  expect(await throttled.withdraw(CHANGED, 'file:f50.ts', 'back', first)).toBe(true);
  await throttled.flush(first);
  expect(summaries().map(({ draft: { scopes } }) => scopes)).toEqual([['file:f51.ts', 'file:f52.ts']]);
  expect(await throttled.withdraw(CHANGED, 'file:f51.ts', 'back', first)).toBe(true);
  await throttled.flush(first);
  expect(queued.at(-1)?.draft.subject).toBe('file:f52.ts');
  expect(await throttled.withdraw(CHANGED, 'file:f52.ts', 'back', first)).toBe(true);
  clock.advance(2 * MINUTE_MILLISECONDS);
  expect(await throttled.withdraw(CHANGED, 'file:f52.ts', 'back', first)).toBe(false);
  expect(queued).toHaveLength(50);
  throttled.dispose();
});

test('withdrawing 999 subjects one by one queues the summary again only once', async () => {
  const world = setUpQueue();
  for (let index = 0; index < 1050; index += 1) world.changed(`f${index}.ts`);
  await world.throttled.flush(first);
  const before = world.appends;
  for (let index = 50; index < 1049; index += 1)
    await world.throttled.withdraw(CHANGED, `file:f${index}.ts`, 'back', first);
  await world.throttled.flush(first);
  expect(world.appends - before).toBe(1);
  expect(world.queued.at(-1)?.draft.subject).toBe('file:f1049.ts');
  world.throttled.dispose();
});

test('a held notification that is withdrawn is never published', async () => {
  const { clock, delivered, throttled } = setUp();
  await throttled.publish(draft('file:x'), first);
  const held = throttled.publish(draft('file:x'), first);
  expect(await throttled.withdraw({ source: 'file', name: 'changed' }, 'file:x', 'again', second)).toBe(false);
  expect(await throttled.withdraw({ source: 'file', name: 'changed' }, 'file:x', 'again', first)).toBe(true);
  await held;
  clock.advance(MINUTE_MILLISECONDS);
  expect(delivered).toHaveLength(1);
  throttled.dispose();
});

test('notifications held for a closed conversation are dropped, and those for others are published', async () => {
  const { clock, delivered, throttled } = setUp();
  for (const to of [first, second, undefined]) await throttled.publish(draft('file:x'), to);
  const held = [first, second, undefined].map((to) => throttled.publish(draft('file:x'), to));
  expect(clock.waiting).toBe(3);
  throttled.forget(first);
  await held[0];
  expect(clock.waiting).toBe(2);
  clock.advance(SUBJECT_MILLISECONDS);
  await Promise.all(held);
  expect(delivered.map(({ to }) => to)).toEqual([first, second, undefined, second, undefined]);
  throttled.dispose();
});

test('a failure to queue rejects the promise of every notification affected', async () => {
  const { clock } = setUp();
  const fail = async () => Promise.reject(new Error('disk full'));
  const outlet: Outlet = {
    publish: fail,
    deliver: fail,
    listeners: () => [first],
    withdraw: async () => false,
    isPending: () => false,
  };
  const throttled = new ThrottledPublisher({ clock, outlet });
  await expect(throttled.publish(draft('file:x'))).rejects.toThrow('disk full');
  const held = [throttled.publish(draft('file:x')), throttled.publish(draft('file:x'))];
  clock.advance(SUBJECT_MILLISECONDS);
  for (const one of held) await expect(one).rejects.toThrow('disk full');
  throttled.dispose();
});

test('after the time of day was set back, the limit for a minute ends with that minute', async () => {
  const { clock, delivered, throttled } = setUp();
  const fill = () =>
    Array.from({ length: MOST_A_MINUTE + 1 }, (_, index) => throttled.publish(draft(`${number}${index}`)));
  await Promise.all(fill().slice(0, -1));
  clock.setBack(60 * MINUTE_MILLISECONDS);
  clock.advance(MINUTE_MILLISECONDS);
  delivered.length = 0;
  await throttled.publish(draft('later'));
  expect(delivered.filter((one) => !isSummary(one))).toMatchObject([{ draft: { subject: 'later' } }]);
  throttled.dispose();
});

// Calm producers, for any schedule on a clock turned by hand: nothing taken is lost, and no subject speaks twice within 2 s.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  CalmPublisher,
  MINUTE_MILLISECONDS,
  MOST_A_MINUTE,
  type Outlet,
  SUBJECT_MILLISECONDS,
} from '../../../../src/core/notify/calm.ts';
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
  return { clock, delivered, calm: new CalmPublisher({ clock, outlet }) };
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

/** Also one alone that came above the limit. */
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

test('for any schedule: delivered, replaced by a newer one of its subject, or counted; never two of a subject in 2 s', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 150, size: 'max' }), fc.boolean(), async (steps, ends) => {
      const { clock, delivered, calm } = setUp();
      const taken: { draft: NotificationDraft; settled: Promise<unknown> }[] = [];
      for (const one of steps) {
        if ('wait' in one) clock.advance(one.wait);
        else {
          const published = draft(one.subject === undefined ? undefined : `file:${one.subject}`, one.name);
          taken.push({ draft: published, settled: calm.publish(published, first) });
        }
      }
      if (!ends) clock.advance(2 * MINUTE_MILLISECONDS);
      calm.dispose();
      expect(clock.waiting).toBe(0);
      // None waits for ever.
      await Promise.all(taken.map(({ settled }) => settled));

      const single = delivered.filter((one) => !isSummary(one));
      const told = new Set(single.map((one) => one.draft.message));
      expect(told.size).toBe(single.length);
      const untold = taken.filter((one) => !told.has(one.draft.message));
      const counted = delivered.filter(isSummary).reduce((sum, one) => sum + Number(one.draft.data?.['count']), 0);
      // What has no subject cannot be replaced; what has one is replaced only by a newer one of the same kind.
      const keyOf = ({ kind, subject, message }: NotificationDraft) =>
        subject === undefined ? message : `${kind.name} ${subject}`;
      const replaced = untold.filter((one) =>
        taken.some(
          (newer) => keyOf(newer.draft) === keyOf(one.draft) && Number(newer.draft.message) > Number(one.draft.message),
        ),
      );
      expect(untold.length - replaced.length).toBeLessThanOrEqual(counted);
      expect(counted).toBeLessThanOrEqual(untold.length);
      // The newest word of each subject and kind is told or counted.
      const newest = new Map(taken.map((one) => [keyOf(one.draft), one.draft.message]));
      expect([...newest.values()].filter((message) => !told.has(message)).length).toBeLessThanOrEqual(counted);

      const onTime = ends ? single.filter((one) => one.at < clock.now()) : single;
      for (const [index, one] of single.entries()) {
        if (one.draft.subject === undefined) continue;
        const ofSubject = single.slice(0, index).filter((other) => other.draft.subject === one.draft.subject);
        // A subject is told in the order of what happened to it.
        expect(ofSubject.every((other) => Number(other.draft.message) < Number(one.draft.message))).toBe(true);
        const before = ofSubject.findLast((other) => keyOf(other.draft) === keyOf(one.draft));
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

test('the first goes at once, then the newest of its subject every 2 s', async () => {
  const { clock, delivered, calm } = setUp();
  const start = clock.now();
  const drafts = [0, 1, 2, 3].map(() => draft('file:x'));
  for (const one of drafts) {
    void calm.publish(one).catch(() => undefined);
    clock.advance(800);
  }
  clock.advance(10_000);
  expect(delivered.map(({ at, draft: { message } }) => [at - start, message])).toEqual([
    [0, drafts[0]?.message],
    [2000, drafts[2]?.message],
    [4000, drafts[3]?.message],
  ]);
  calm.dispose();
});

test('another kind of the same subject waits its turn and replaces nothing', async () => {
  const { clock, delivered, calm } = setUp();
  const kinds = ['unsaved', 'changed', 'unsaved', 'deleted', 'changed'];
  const settled = kinds.map((kind) => calm.publish(draft('file:x', kind)));
  clock.advance(SUBJECT_MILLISECONDS);
  await Promise.all(settled);
  expect(delivered.map(({ draft: { kind } }) => kind.name)).toEqual(['unsaved', 'unsaved', 'deleted', 'changed']);
  calm.dispose();
});

test('a publish that was replaced resolves when the newer one is queued, not before', async () => {
  const { clock, calm } = setUp();
  await calm.publish(draft('file:x'));
  let resolved = 0;
  const both = [calm.publish(draft('file:x')), calm.publish(draft('file:x'))].map((one) => one.then(() => resolved++));
  await Promise.resolve();
  expect(resolved).toBe(0);
  clock.advance(SUBJECT_MILLISECONDS);
  await Promise.all(both);
  expect(resolved).toBe(2);
  calm.dispose();
});

test('above 50 a minute each listener gets one summary with the exact count and its worst level', async () => {
  const { clock, delivered, calm } = setUp();
  const all = Array.from({ length: 250 }, (_, index) =>
    calm.publish({ ...draft(`file:f${index}.ts`), ...(index === 249 && { level: 'error' as const }) }),
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
  // The next summary is a minute later, however much comes.
  const more = calm.publish(draft('file:late'));
  clock.advance(MINUTE_MILLISECONDS - SUBJECT_MILLISECONDS);
  expect(delivered.filter(isSummary)).toHaveLength(2);
  clock.advance(SUBJECT_MILLISECONDS);
  await more;
  expect(delivered.filter(isSummary)).toHaveLength(4);
  calm.dispose();
});

/** An outlet that keeps what is pending for each listener. */
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
  const calm = new CalmPublisher({ clock, outlet });
  const changed = (name: string, hash = 'h') => {
    const published = { ...draft(`file:${name}`), data: { path: name, hash, complete: true } };
    void calm.publish(published, first).catch(() => undefined);
  };
  return {
    clock,
    calm,
    changed,
    queued,
    get appends() {
      return appends;
    },
    summaries: () => queued.filter((one) => one.draft.data?.['summary'] === true),
  };
}

const CHANGED = { source: 'file', name: 'changed' };

test('at a delivery point what was too much is queued at once, and grows in place at the next', async () => {
  const { calm, changed, queued, summaries } = setUpQueue();
  for (let index = 0; index < 60; index += 1) changed(`f${index}.ts`);
  expect(queued).toHaveLength(50);
  await calm.flush(second);
  expect(summaries()).toEqual([]);
  await calm.flush(first);
  expect(summaries().map(({ draft: { scopes } }) => scopes?.length)).toEqual([10]);
  for (let index = 60; index < 70; index += 1) changed(`f${index}.ts`);
  await calm.flush(first);
  expect(summaries().map(({ draft: { scopes } }) => scopes?.length)).toEqual([20]);
  // Once carried, the next begins anew.
  queued.splice(0);
  for (const name of ['late.ts', 'later.ts']) changed(name);
  await calm.flush(first);
  expect(summaries().map(({ draft: { scopes } }) => scopes)).toEqual([['file:late.ts', 'file:later.ts']]);
  calm.dispose();
});

test('a summary says of each file which state it told of, none of them as shown', async () => {
  const { calm, changed, summaries } = setUpQueue();
  for (let index = 0; index < 52; index += 1) changed(`f${index}.ts`, `h${index}`);
  await calm.flush(first);
  expect(summaries()[0]?.draft.data?.['files']).toEqual([
    { path: 'f50.ts', hash: 'h50', complete: false },
    { path: 'f51.ts', hash: 'h51', complete: false },
  ]);
  calm.dispose();
});

test('one alone above the limit is queued as it is, and becomes a summary when another comes', async () => {
  const { calm, changed, queued, summaries } = setUpQueue();
  for (let index = 0; index < 51; index += 1) changed(`f${index}.ts`);
  await calm.flush(first);
  expect(summaries()).toEqual([]);
  expect(queued.at(-1)?.draft).toMatchObject({ subject: 'file:f50.ts', data: { path: 'f50.ts', complete: true } });
  changed('f51.ts');
  await calm.flush(first);
  expect(queued).toHaveLength(51);
  expect(summaries().map(({ draft: { scopes } }) => scopes)).toEqual([['file:f50.ts', 'file:f51.ts']]);
  calm.dispose();
});

test('a subject that is withdrawn leaves the summary, before and after it was queued; the last one takes it along', async () => {
  const { clock, calm, changed, queued, summaries } = setUpQueue();
  for (let index = 0; index < 53; index += 1) changed(`f${index}.ts`);
  expect(await calm.withdraw(CHANGED, 'file:f50.ts', 'back', first)).toBe(true);
  await calm.flush(first);
  expect(summaries().map(({ draft: { scopes } }) => scopes)).toEqual([['file:f51.ts', 'file:f52.ts']]);
  expect(await calm.withdraw(CHANGED, 'file:f51.ts', 'back', first)).toBe(true);
  await calm.flush(first);
  expect(queued.at(-1)?.draft.subject).toBe('file:f52.ts');
  expect(await calm.withdraw(CHANGED, 'file:f52.ts', 'back', first)).toBe(true);
  clock.advance(2 * MINUTE_MILLISECONDS);
  expect(await calm.withdraw(CHANGED, 'file:f52.ts', 'back', first)).toBe(false);
  expect(queued).toHaveLength(50);
  calm.dispose();
});

test('a thousand subjects that are withdrawn one by one are not queued anew for each', async () => {
  const world = setUpQueue();
  for (let index = 0; index < 1050; index += 1) world.changed(`f${index}.ts`);
  await world.calm.flush(first);
  const before = world.appends;
  for (let index = 50; index < 1049; index += 1) await world.calm.withdraw(CHANGED, `file:f${index}.ts`, 'back', first);
  await world.calm.flush(first);
  expect(world.appends - before).toBe(1);
  expect(world.queued.at(-1)?.draft.subject).toBe('file:f1049.ts');
  world.calm.dispose();
});

test('what is withdrawn while it is held never goes out', async () => {
  const { clock, delivered, calm } = setUp();
  await calm.publish(draft('file:x'), first);
  const held = calm.publish(draft('file:x'), first);
  expect(await calm.withdraw({ source: 'file', name: 'changed' }, 'file:x', 'again', second)).toBe(false);
  expect(await calm.withdraw({ source: 'file', name: 'changed' }, 'file:x', 'again', first)).toBe(true);
  await held;
  clock.advance(MINUTE_MILLISECONDS);
  expect(delivered).toHaveLength(1);
  calm.dispose();
});

test('a failure to queue reaches everybody whose notification it was', async () => {
  const { clock } = setUp();
  const fail = async () => Promise.reject(new Error('disk full'));
  const outlet: Outlet = {
    publish: fail,
    deliver: fail,
    listeners: () => [first],
    withdraw: async () => false,
    isPending: () => false,
  };
  const calm = new CalmPublisher({ clock, outlet });
  await expect(calm.publish(draft('file:x'))).rejects.toThrow('disk full');
  const held = [calm.publish(draft('file:x')), calm.publish(draft('file:x'))];
  clock.advance(SUBJECT_MILLISECONDS);
  for (const one of held) await expect(one).rejects.toThrow('disk full');
  calm.dispose();
});

// Counts of summaries: after a subject is removed, a summary counts exactly the publications of the others.
import { expect, test } from 'vitest';
import { Excess } from '../../../../src/core/notify/excess.ts';
import { type Outlet } from '../../../../src/core/notify/outlet.ts';
import { type NotificationDraft } from '../../../../src/protocol/notification.ts';

const kind = { source: 'file', name: 'changed' };
const draft = (subject: string): NotificationDraft => ({
  kind,
  level: 'info',
  message: `${subject} changed.`,
  subject,
  origin: 'filesystem',
  at: '2026-01-01T00:00:00Z',
});

/** Everything delivered is pending until it is withdrawn. */
function createExcess() {
  const pending: NotificationDraft[] = [];
  const find = (subject: string) => pending.findIndex((one) => one.subject === subject);
  const outlet: Outlet = {
    publish: async () => undefined,
    deliver: async (one) => void pending.push(one),
    listeners: () => ['tea'],
    withdraw: async (_kind, subject) => pending.splice(find(subject), 1).length > 0,
    isPending: (_kind, subject) => find(subject) >= 0,
  };
  const excess = new Excess(outlet);
  const publish = (...subjects: string[]) => {
    const fail = (error: unknown) => {
      throw error;
    };
    for (const subject of subjects) void excess.add(draft(subject), 'tea').catch(fail);
  };
  const counts = () => pending.map(({ data }) => data?.['count']);
  return { excess, publish, counts, pending };
}

test('removing a subject that was published several times removes all of its publications from the count', async () => {
  const { excess, publish, counts } = createExcess();
  publish('a', 'b', 'a', 'c', 'a');
  expect(excess.remove(kind, 'a')).toBe(true);
  await excess.deliver();
  expect(counts()).toEqual([2]);
});

test('removing a subject from a pending summary removes its publications from the count', async () => {
  const { excess, publish, counts } = createExcess();
  publish('a', 'b', 'a', 'c');
  await excess.deliver();
  expect(counts()).toEqual([4]);
  expect(excess.remove(kind, 'a')).toBe(true);
  await excess.deliver();
  expect(counts()).toEqual([2]);
});

test('a subject that is in a pending summary and was published since is removed from the count of both', async () => {
  const { excess, publish, counts } = createExcess();
  publish('a', 'b', 'c');
  await excess.deliver();
  publish('a', 'a', 'd');
  expect(excess.remove(kind, 'a')).toBe(true);
  await excess.deliver();
  expect(counts()).toEqual([3]);
});

test('a summary that has grown counts the publications of each subject', async () => {
  const { excess, publish, counts } = createExcess();
  publish('a', 'b', 'a');
  await excess.deliver();
  publish('a', 'c');
  await excess.deliver();
  expect(counts()).toEqual([5]);
  excess.remove(kind, 'a');
  await excess.deliver();
  expect(counts()).toEqual([2]);
});

test('a summary wakes the model if one of its notifications does', async () => {
  const { excess, publish, pending } = createExcess();
  publish('a');
  void excess.add({ ...draft('b'), wake: true }, 'tea').catch(() => undefined);
  publish('c');
  await excess.deliver();
  expect(pending).toMatchObject([{ wake: true, data: { count: 3 } }]);
});

test('a summary wakes the model by the grant of the notification that may, not by that of the newest', async () => {
  const { excess, publish, pending } = createExcess();
  const add = (one: NotificationDraft) => void excess.add(one, 'tea').catch(() => undefined);
  add({ ...draft('a'), wake: true, grant: 'lines' });
  publish('b');
  await excess.deliver();
  expect(pending).toMatchObject([{ wake: true, grant: 'lines' }]);
  publish('c');
  add({ ...draft('d'), grant: 'events' });
  await excess.deliver();
  expect(pending).toMatchObject([{ wake: true, grant: 'lines', data: { count: 4 } }]);
});

test('a wake without a grant gets none from another notification of the summary', async () => {
  const { excess, publish, pending } = createExcess();
  void excess.add({ ...draft('a'), wake: true }, 'tea').catch(() => undefined);
  void excess.add({ ...draft('b'), grant: 'events' }, 'tea').catch(() => undefined);
  publish('c');
  void excess.add({ ...draft('d'), grant: 'events' }, 'tea').catch(() => undefined);
  await excess.deliver();
  expect(pending.map(({ wake, grant }) => ({ wake, grant }))).toEqual([{ wake: true, grant: undefined }]);
});

// read_notifications: its pages return every notification exactly once, in full, and no text can imitate an entry.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { failed, succeeded } from '../../../src/base/errors.ts';
import { notificationHistory } from '../../../src/core/conversation/projections/history.ts';
import { type NotificationRecord } from '../../../src/core/ports/notificationRecord.ts';
import { type ToolContext } from '../../../src/core/ports/ports.ts';
import { OUTPUT_LIMIT } from '../../../src/core/tools/run.ts';
import { EVENT_VERSION, type EventDraft, type LogEvent } from '../../../src/protocol/event.ts';
import { readNotificationsTool } from '../../../src/tools/readNotifications.ts';
import { pending } from '../../support/notify/arbitraryNotifications.ts';
import { runs } from '../../support/runs.ts';

async function read(records: readonly NotificationRecord[], args: object = {}): Promise<string> {
  const parsed = readNotificationsTool.parse(args);
  if (!parsed.ok) return parsed.failure.message;
  const context: Pick<ToolContext, 'notifications'> = { notifications: async () => succeeded(records) };
  return (await readNotificationsTool.run(parsed.value, context as ToolContext)).content;
}

const ENTRY = /^(id\d{5}) .* \(pending\):$/;

test('the pages return each notification exactly once, newest first and verbatim', async () => {
  await fc.assert(
    fc.asyncProperty(pending(120), async (queue) => {
      const records = queue.map((notification) => ({
        notification,
        state: 'pending' as const,
        receipt: 'queued' as const,
      }));
      const found: { id: string; lines: string[] }[] = [];
      let before: string | undefined;
      do {
        const page = await read(records, before === undefined ? {} : { before });
        expect(page.length).toBeLessThanOrEqual(OUTPUT_LIMIT);
        before = undefined;
        for (const line of page.split(/\r\n|[\n\r\u2028\u2029\u0085]/)) {
          const entry = ENTRY.exec(line)?.[1];
          if (entry !== undefined) found.push({ id: entry, lines: [] });
          else if (line.startsWith('> ')) found.at(-1)?.lines.push(line.slice(2));
          else before = /^\(\d+ more: before (\S+)\.\)$/.exec(line)?.[1] ?? before;
        }
      } while (before !== undefined);
      expect(found).toEqual(
        [...queue].reverse().map(({ id, message }) => ({ id, lines: message.split(/\r\n|[\n\r\u2028\u2029\u0085]/) })),
      );
    }),
    { numRuns: runs(50, 150) },
  );
});

test.each([
  ['12:00:00', ['three', 'two']],
  ['11:59:59', ['three', 'two']],
  ['23:00:00', ['three', 'two', 'one']],
  ['2026-01-02T12:00:01Z', ['three']],
])('since %s', async (since, expected) => {
  const at = { one: '2026-01-01T23:30:00Z', two: '2026-01-02T12:00:00Z', three: '2026-01-02T13:00:00Z' };
  const records = Object.entries(at).map(
    ([message, time]): NotificationRecord => ({
      state: 'shown',
      receipt: 'accepted',
      notification: {
        id: message,
        kind: { source: 'task', name: 'ended' },
        level: 'info',
        message,
        origin: 'host',
        at: time,
      },
    }),
  );
  const page = await read(records, { since });
  expect(page.split('\n').flatMap((line) => (line.startsWith('> ') ? [line.slice(2)] : []))).toEqual(expected);
});

test('an invalid time and an unreadable log are refused with the reason', async () => {
  expect(await read([], { since: '25:00:00' })).toMatch(/^since: /);
  const context: Pick<ToolContext, 'notifications'> = {
    notifications: async () => failed('storage', 'The log cannot be read.', 'Try again.'),
  };
  expect(await readNotificationsTool.run({}, context as ToolContext)).toEqual({
    content: 'The log cannot be read. Try again.',
    failure: 'storage',
    isError: true,
  });
});

test('the state of each notification is that of the log', () => {
  let seq = 0;
  const event = (draft: EventDraft): LogEvent => {
    seq += 1;
    return { v: EVENT_VERSION, seq, event_id: `e${seq}`, timestamp: '2026-01-01T00:00:00Z', ...draft };
  };
  const queued = (id: string) =>
    event({
      type: 'notification_queued',
      notification: {
        id,
        kind: { source: 'task', name: 'ended' },
        level: 'info',
        message: id,
        origin: 'host',
        at: '2026-01-01T00:00:00Z',
      },
    });
  const lists = { shown: ['a'], merged: ['b'], counted: ['c'], filtered: ['d'] };
  const carried = { format: 'xml' as const, text: '', through: 5, user_text: [], ...lists };
  const events = [
    ...['a', 'b', 'c', 'd', 'e'].map(queued),
    event({ type: 'notification_withdrawn', ids: ['e'], reason: 'gone' }),
    event({ type: 'chat_request', content: '', source: 'user', notifications: carried }),
    queued('f'),
  ];
  expect(notificationHistory(events).map(({ notification, state }) => [notification.id, state])).toEqual([
    ['a', 'shown'],
    ['b', 'merged'],
    ['c', 'counted'],
    ['d', 'filtered'],
    ['e', 'withdrawn'],
    ['f', 'pending'],
  ]);
});

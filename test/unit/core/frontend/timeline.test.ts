// The timeline of a conversation: lanes, links from notifications to requests, and what has changed since.
import { expect, test } from 'vitest';
import { Timeline } from '../../../../src/core/frontend/timeline.ts';
import { EVENT_VERSION, type EventDraft, type LogEvent } from '../../../../src/protocol/event.ts';
import { type Notification } from '../../../../src/protocol/notification.ts';
import { queued, result, started, succeededCall, turnStarted } from '../../../support/log/events.ts';

const BEGIN = Date.parse('2026-01-02T03:00:00.000Z');
const minute = (minutes: number) => BEGIN + minutes * 60_000;
const about = (id: string, kind: string, subject: string, at: number, origin: Notification['origin']): Notification => {
  const [source = '', name = ''] = kind.split('.');
  const level = 'info' as const;
  return { id, kind: { source, name }, level, message: subject, subject, origin, at: new Date(at).toISOString() };
};
/** One event a minute. */
function events(...drafts: EventDraft[]): LogEvent[] {
  return drafts.map((draft, index) => ({
    ...{ v: EVENT_VERSION, seq: index + 1, event_id: `event-${index + 1}` },
    timestamp: new Date(minute(index)).toISOString(),
    ...draft,
  }));
}
const carrier = (shown: string[], more: object = {}): EventDraft => ({
  ...{ type: 'chat_request', content: 'Go\n on.', source: 'user' },
  notifications: {
    ...{ format: 'xml', text: '', through: 0, user_text: [], shown, merged: [], counted: [], filtered: [] },
    ...more,
  },
});
const log = events(
  started,
  turnStarted,
  queued(about('edit', 'file.changed', 'file:src/a.ts', minute(1), 'editor')),
  queued(about('disk', 'file.changed', 'file:src/b.ts', minute(1.5), 'filesystem')),
  queued(about('gone', 'task.ended', 'task:build', minute(2), 'process')),
  { type: 'notification_withdrawn', ids: ['gone'], reason: 'it is so no more' },
  carrier(['edit'], { merged: ['disk'] }),
  { type: 'model_call', model: 'm', outcome: 'failed' },
  { type: 'tool_call_request', id: 'c', name: 'read_file', arguments: {} },
  succeededCall,
  { type: 'approval', tool_call_id: 'c', action: 'approve', by: 'user' },
  queued(about('late', 'diagnostics.introduced', 'file:src/a.ts', minute(11), 'language-server')),
  result('c', 12, ['late']),
);

test('messages, edits and decisions are in the lane of the user, calls in that of the agent, and the rest outside', () => {
  const timeline = new Timeline();
  for (const event of log) timeline.fold(event);
  const { data, through, more } = timeline.changedAfter(0, 1000);
  expect([through, more]).toEqual([13, false]);
  // The attempt that failed carried nothing: the next request has the same notifications.
  const delivered = { level: 'info', state: 'delivered', carrier: 6, item: 'event-7' };
  expect([...data].sort((one, other) => one.id - other.id)).toEqual([
    { id: 0, lane: 'you', type: 'edit', at: minute(1), text: 'src/a.ts', label: 'File changed', ...delivered },
    { id: 1, lane: 'outside', type: 'change', at: minute(1.5), text: 'src/b.ts', label: 'File changed', ...delivered },
    {
      ...{ id: 2, lane: 'outside', type: 'build', at: minute(2), text: 'build' },
      ...{ label: 'Task ended', level: 'info', state: 'withdrawn' },
    },
    { id: 3, lane: 'you', type: 'message', at: minute(6), text: 'Go on.', item: 'event-7' },
    { id: 4, lane: 'agent', type: 'cycle', at: minute(6), until: minute(7), text: 'm', failed: true },
    { id: 5, lane: 'agent', type: 'call', at: minute(8), until: minute(12), text: 'read_file', item: 'c' },
    { id: 6, lane: 'agent', type: 'cycle', at: minute(7), until: minute(9), text: 'm', item: 'c' },
    { id: 7, lane: 'you', type: 'decision', at: minute(10), text: 'approve', item: 'c' },
    {
      ...{ id: 8, lane: 'outside', type: 'problem', at: minute(11), text: 'src/a.ts', item: 'c' },
      ...{ label: 'New problems', level: 'info', state: 'delivered' },
    },
  ]);
});

test('parts end between events, contain everything once, and later ones have what has changed', () => {
  const timeline = new Timeline();
  for (const event of log.slice(0, 7)) timeline.fold(event);
  const first = timeline.changedAfter(0, 1);
  expect(first).toMatchObject({ through: 6, more: true, data: [{ id: 2, state: 'withdrawn' }] });
  // The carrier changed two notifications at once, and is a message itself.
  const second = timeline.changedAfter(first.through, 1);
  expect(second).toMatchObject({ through: 7, more: false });
  expect(second.data.map(({ id }) => id).sort()).toEqual([0, 1, 3]);
  expect(timeline.changedAfter(7, 1)).toEqual({ through: 7, more: false, data: [] });
  for (const event of log.slice(7)) timeline.fold(event);
  const later = timeline.changedAfter(7, 1000).data;
  expect(later.filter(({ id }) => id < 2)).toMatchObject([{ carrier: 6 }, { carrier: 6 }]);
});

test('long and multi-line texts are one short line', () => {
  const timeline = new Timeline();
  for (const event of events(started, { type: 'chat_request', content: 'a\nb '.repeat(5000), source: 'user' }))
    timeline.fold(event);
  const [item] = timeline.changedAfter(0, 10).data;
  expect(item?.text).toHaveLength(120);
  expect(item?.text).toMatch(/^a b a b .*…$/);
});

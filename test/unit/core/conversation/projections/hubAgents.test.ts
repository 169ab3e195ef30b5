// The hub projection: name and cursor are computed from the log, and a fork has neither.
import { expect, test } from 'vitest';
import { type EventDraft } from '../../../../../src/protocol/event.ts';
import { type Notification } from '../../../../../src/protocol/notification.ts';
import { folded, numbered, queued } from '../../../../support/log/events.ts';

const joined = (hub: string, name: string, cursor: string): EventDraft => ({ type: 'hub_agent', hub, name, cursor });
const received = (data: Record<string, unknown>): Notification => ({
  id: JSON.stringify(data),
  kind: { source: 'message', name: 'received' },
  level: 'info',
  message: 'm',
  origin: 'agent',
  at: '2026-01-02T03:04:05.000Z',
  data,
});
const agents = (...events: EventDraft[]) => folded(numbered(...events)).hubAgents;

test('the cursor is that of the last message that is in the log', () => {
  const events = [joined('h', 'amber-finch', 'c1'), queued(received({ hub: 'h', cursor: 'c5' })), queued(received({}))];
  expect(agents(...events).place('h')).toEqual({ name: 'amber-finch', cursor: 'c5' });
  expect(agents(...events, joined('h', 'amber-finch', 'c9')).place('h')).toEqual({ name: 'amber-finch', cursor: 'c9' });
});

test('name and cursor are kept for each hub; a cursor of a hub that was never joined is ignored', () => {
  const found = agents(
    joined('h', 'amber-finch', 'c1'),
    joined('other', 'teal-otter', 'c7'),
    queued(received({ hub: 'third', cursor: 'c5' })),
    queued(received({ hub: 'h', cursor: 3 })),
  );
  expect([found.place('h'), found.place('other'), found.place('third')]).toEqual([
    { name: 'amber-finch', cursor: 'c1' },
    { name: 'teal-otter', cursor: 'c7' },
    undefined,
  ]);
  expect([found.name, [...found.names]]).toEqual(['teal-otter', ['amber-finch', 'teal-otter']]);
});

test('a fork has no name: the original keeps it', () => {
  const found = agents(joined('h', 'amber-finch', 'c1'), { type: 'forked', from: 'x', through: 1 });
  expect([found.name, found.place('h'), [...found.names]]).toEqual([undefined, undefined, []]);
});

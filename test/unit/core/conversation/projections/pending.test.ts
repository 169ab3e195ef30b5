// The pending notifications after notifications were queued, withdrawn and delivered.
import { expect, test } from 'vitest';
import { type EventDraft } from '../../../../../src/protocol/event.ts';
import { type Notification } from '../../../../../src/protocol/notification.ts';
import { call, folded, numbered, queued, result, started, turnStarted } from '../../../../support/log/events.ts';

function notification(id: string): Notification {
  const kind = { source: 'file', name: 'changed' };
  return { id, kind, level: 'info', message: id, subject: `file:${id}`, scopes: [], origin: 'host', at: '' };
}

function withdrawn(...ids: string[]): EventDraft {
  return { type: 'notification_withdrawn', ids, reason: 'no longer so' };
}

const one = queued(notification('one'));
const two = queued(notification('two'));

test('a withdrawn notification is no longer pending, and the others still are', () => {
  const { pending } = folded(numbered(started, one, two, withdrawn('one')));
  expect(pending.notifications.map(({ id }) => id)).toEqual(['two']);
  expect([pending.count, pending.isEmpty, pending.get('one')]).toEqual([1, false, undefined]);
  const both = folded(numbered(started, one, two, withdrawn('one', 'two'))).pending;
  expect([both.count, both.isEmpty]).toEqual([0, true]);
});

test('a notification queued after the delivery began is still pending', () => {
  const { pending } = folded(numbered(started, turnStarted, call('c'), one, two, result('c', 4, ['one'])));
  expect(pending.notifications.map(({ id }) => id)).toEqual(['two']);
});

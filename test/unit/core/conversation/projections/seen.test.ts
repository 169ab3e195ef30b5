// What was told of a file since it was seen, when one of several that told of it is taken back.
import { expect, test } from 'vitest';
import { type EventDraft } from '../../../../../src/protocol/event.ts';
import { type Notification } from '../../../../../src/protocol/notification.ts';
import { call, folded, numbered, queued, result } from '../../../../support/events.ts';

const tells = (id: string, source: string, hash: string): Notification => ({
  id,
  kind: { source, name: 'changed' },
  level: 'warning',
  message: id,
  subject: `${source}:a.ts`,
  origin: 'filesystem',
  at: '2026-01-02T03:04:05.000Z',
  data: { files: [{ path: 'a.ts', hash, complete: false }] },
});
const saw = { ...result('c'), seen: [{ path: 'a.ts', hash: 'seen' }] };
const withdrawn = (id: string): EventDraft => ({ type: 'notification_withdrawn', ids: [id], reason: 'so' });

test('the newest stands when an older one is taken back, and the carried one when it is the newest', () => {
  const both = [call('c'), saw, queued(tells('a', 'git', 'by git')), queued(tells('b', 'file', 'by the user'))];
  const told = (...more: Parameters<typeof numbered>) => folded(numbered(...both, ...more)).seen.get('a.ts')?.announced;
  expect(told()).toBe('by the user');
  expect(told(withdrawn('a'))).toBe('by the user');
  expect(told(withdrawn('a'), withdrawn('b'))).toBeUndefined();
  const carried = [call('d'), result('d', 4, ['a', 'b']), queued(tells('e', 'file', 'later'))];
  expect(told(...carried)).toBe('later');
  expect(told(...carried, withdrawn('e'))).toBe('by the user');
});

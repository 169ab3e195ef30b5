// The announced version of a seen file when one of several notifications about it is withdrawn.
import { expect, test } from 'vitest';
import { type EventDraft } from '../../../../../src/protocol/event.ts';
import { type Notification } from '../../../../../src/protocol/notification.ts';
import { call, folded, numbered, queued, result } from '../../../../support/log/events.ts';

const announcing = (id: string, source: string, hash: string): Notification => ({
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

test('withdrawing an older notification keeps the newest announced version; withdrawing the newest restores the delivered one', () => {
  const both = [
    call('c'),
    saw,
    queued(announcing('a', 'git', 'by git')),
    queued(announcing('b', 'file', 'by the user')),
  ];
  const announced = (...more: Parameters<typeof numbered>) =>
    folded(numbered(...both, ...more)).seen.get('a.ts')?.announced;
  expect(announced()).toBe('by the user');
  expect(announced(withdrawn('a'))).toBe('by the user');
  expect(announced(withdrawn('a'), withdrawn('b'))).toBeUndefined();
  const carried = [call('d'), result('d', 4, ['a', 'b']), queued(announcing('e', 'file', 'later'))];
  expect(announced(...carried)).toBe('later');
  expect(announced(...carried, withdrawn('e'))).toBe('by the user');
});

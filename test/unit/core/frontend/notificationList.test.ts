// The list of the Notifications view: every state and filters; dismissing, and the texts of labels.
import { expect, test } from 'vitest';
import { labelNotification } from '../../../../src/core/conversation/notificationLabel.ts';
import { estimateTokens } from '../../../../src/core/conversation/tokens.ts';
import { findExcerpt } from '../../../../src/core/conversation/search.ts';
import { listNotifications } from '../../../../src/core/frontend/notificationList.ts';
import { viewPending } from '../../../../src/core/frontend/pendingView.ts';
import { DISMISSED_BY, dismiss } from '../../../../src/core/notify/queue.ts';
import { type Notification } from '../../../../src/protocol/notification.ts';
import { readSettings } from '../../../../src/protocol/settings.ts';
import {
  call,
  numbered,
  queued,
  request,
  result,
  started,
  succeededCall,
  turnStarted,
} from '../../../support/log/events.ts';
import { createMemoryLog } from '../../../support/log/memoryLog.ts';

const { settings } = readSettings(() => undefined);
const changed = (id: string, path: string, more: Partial<Notification> = {}): Notification => ({
  id,
  kind: { source: 'file', name: 'changed' },
  level: 'warning',
  message: `${path} changed since you read it.`,
  subject: `file:${path}`,
  origin: 'editor',
  at: '2026-01-02T03:04:05.000Z',
  ...more,
});

const events = numbered(
  started,
  turnStarted,
  request('Pour the oolong.'),
  call('c'),
  queued(changed('n1', 'src/a.ts')),
  queued(changed('n2', 'src/b.ts')),
  queued(changed('n3', 'src/c.ts', { kind: { source: 'task', name: 'ended' }, level: 'info' })),
  { type: 'notification_withdrawn', ids: ['n2'], reason: 'it is again as it was last reported' },
  result('c', 7, ['n1'], { filtered: ['n3'] }),
  succeededCall,
  queued(changed('n4', 'src/d.ts', { level: 'error' })),
  queued(changed('n5', 'src/e.ts')),
  { type: 'notification_withdrawn', ids: ['n5'], reason: `${DISMISSED_BY}the user` },
);

test('each notification is in the group of its state, with label, receipt and tokens', () => {
  const { groups, sources } = listNotifications(events, { text: '' });
  const states = [...groups].map(([state, all]) => [state, all.map(({ id }) => id)]);
  expect(Object.fromEntries(states)).toEqual({
    pending: ['n4'],
    delivered: ['n1'],
    filtered: ['n3'],
    withdrawn: ['n2'],
    dismissed: ['n5'],
  });
  expect(groups.get('delivered')).toMatchObject([
    { label: 'File changed', subject: 'src/a.ts', path: 'src/a.ts', receipt: 'accepted' },
  ]);
  // As in the drawer, the tokens include the element around the text.
  expect(groups.get('delivered')?.[0]?.tokens).toBeGreaterThan(20);
  expect(sources).toEqual(['file', 'task']);
});

test('text, level, source and state filter the list', () => {
  const ids = (filter: Parameters<typeof listNotifications>[1]) =>
    [...listNotifications(events, filter).groups.values()].flat().map(({ id }) => id);
  expect(ids({ text: 'SRC/D' })).toEqual(['n4']);
  expect(ids({ text: '', levels: ['info'] })).toEqual(['n3']);
  expect(ids({ text: '', sources: ['task'] })).toEqual(['n3']);
  expect(ids({ text: '', states: ['dismissed', 'withdrawn'] })).toEqual(['n5', 'n2']);
});

test('dismissing withdraws pending notifications and ignores others', async () => {
  const { log, written } = await createMemoryLog();
  await log.append({ type: 'notification_queued', notification: changed('n1', 'src/a.ts') });
  await log.append({ type: 'notification_queued', notification: changed('n2', 'src/a.ts') });
  expect(viewPending(log, settings, 100_000)).toMatchObject([
    { label: 'File changed', subject: 'src/a.ts', ids: ['n2', 'n1'], count: 2, path: 'src/a.ts' },
  ]);
  expect(await dismiss(log, ['n2', 'n1', 'unknown'])).toBe(2);
  expect(written.at(-1)).toMatchObject({
    type: 'notification_withdrawn',
    ids: ['n2', 'n1'],
    reason: `${DISMISSED_BY}the user`,
  });
  expect(viewPending(log, settings, 100_000)).toEqual([]);
  expect(await dismiss(log, ['n2'])).toBe(0);
});

test('a kind of a plugin has a readable label; many notifications of one kind are one entry that counts its subjects', async () => {
  const { log } = await createMemoryLog();
  for (let number = 0; number < 8; number++)
    await log.append({ type: 'notification_queued', notification: changed(`n${number}`, `src/${number}.ts`) });
  const own = changed('p', 'x', { kind: { source: 'kettle', name: 'water_boils' }, subject: 'kettle:1' });
  await log.append({ type: 'notification_queued', notification: own });
  const [files, plugin] = viewPending(log, settings, 100_000);
  expect(files).toMatchObject({ label: 'File changed', more: 7, count: 8 });
  expect(files).not.toHaveProperty('path');
  expect(plugin).toMatchObject({ label: 'kettle: water boils', subject: '1' });
  // There is only one configuration, so its label has no subject.
  expect(labelNotification({ kind: { source: 'config', name: 'changed' }, subject: 'config' })).toMatchObject({
    label: 'Configuration changed',
    subject: '',
  });
  const frame =
    '<notification source="file" name="changed" level="warning" key="R3OxK5geIrVr"><![CDATA[]]></notification>';
  expect(Math.abs((plugin?.tokens ?? 0) - estimateTokens(frame) - estimateTokens(own.message))).toBeLessThan(3);
});

test('a conversation is found by text of its requests and answers, ignoring case', () => {
  expect(findExcerpt(events, 'OOLONG')).toBe('Pour the oolong.');
  expect(findExcerpt(events, 'espresso')).toBeUndefined();
  expect(findExcerpt(events, '')).toBeUndefined();
});

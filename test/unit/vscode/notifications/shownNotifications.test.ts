// The list of the Notifications view while conversations change and their logs are read slowly.
import { expect, test } from 'vitest';
import { succeeded } from '../../../../src/base/errors.ts';
import { type Store } from '../../../../src/core/ports/storage.ts';
import { type Notification } from '../../../../src/protocol/notification.ts';
import { ShownNotifications } from '../../../../src/vscode/notifications/shownNotifications.ts';
import { numbered, queued, started } from '../../../support/log/events.ts';

type Read = Awaited<ReturnType<Store['read']>>;

/** A log whose only notification has the conversation's name as its id. */
function logOf(conversation: string): Read {
  const notification: Notification = {
    id: conversation,
    kind: { source: 'file', name: 'changed' },
    level: 'warning',
    message: 'menu.ts changed.',
    subject: 'file:menu.ts',
    origin: 'editor',
    at: '2026-01-02T03:04:05.000Z',
  };
  return succeeded({ events: numbered(started, queued(notification)), nextSeq: 3, damage: [] });
}

/** Reads end when the test says so. */
function createSlowList() {
  const reads: { readonly conversation: string; end(): void }[] = [];
  const chat: { shown: string | undefined } = { shown: 'tea' };
  const notifications = new ShownNotifications({
    store: {
      read: (conversation) =>
        new Promise<Read>((resolve) => {
          reads.push({ conversation, end: () => resolve(logOf(conversation)) });
        }),
    },
    shown: () => chat.shown,
    filter: () => ({ text: '' }),
  });
  const listed = () => notifications.list?.groups.get('pending')?.map(({ id }) => id);
  return { notifications, chat, reads, listed };
}

async function turnOfLoop(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}

test('a slow read of the previous conversation does not replace the list of the shown one', async () => {
  const { notifications, chat, reads, listed } = createSlowList();
  const first = notifications.refresh();
  chat.shown = 'coffee';
  const second = notifications.refresh();
  reads.find(({ conversation }) => conversation === 'coffee')?.end();
  await turnOfLoop();
  reads.find(({ conversation }) => conversation === 'tea')?.end();
  await turnOfLoop();
  reads.find(({ conversation }) => conversation === 'coffee')?.end();
  await Promise.all([first, second]);
  expect(listed()).toEqual(['coffee']);
  expect(notifications.conversation).toBe('coffee');
});

test('requests during a read lead to one more read', async () => {
  const { notifications, reads, listed } = createSlowList();
  const all = [notifications.refresh(), notifications.refresh(), notifications.refresh()];
  expect(reads).toHaveLength(1);
  reads[0]?.end();
  await turnOfLoop();
  expect(listed()).toEqual(['tea']);
  expect(reads).toHaveLength(2);
  reads[1]?.end();
  await Promise.all(all);
  expect(reads).toHaveLength(2);
});

test('a read that ends after the chat was emptied lists nothing', async () => {
  const { notifications, chat, reads, listed } = createSlowList();
  const refreshed = notifications.refresh();
  chat.shown = undefined;
  reads[0]?.end();
  await refreshed;
  expect(listed()).toBeUndefined();
});

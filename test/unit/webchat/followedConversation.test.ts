// One conversation as the web chat follows it, from the plugin's events on.
import { expect, test } from 'vitest';
import { FollowedConversation } from '../../../src/webchat/followedConversation.ts';
import { numbered, request, started, turnStarted } from '../../support/log/events.ts';

const events = numbered(started, turnStarted, request('Make tea.'), { type: 'turn_ended', outcome: 'stopped' });

/** Folds the events up to this number, as a subscription delivers them. */
function deliver(conversation: FollowedConversation, through: number): void {
  for (const { v: _, ...data } of events) {
    if (data.seq <= conversation.lastSeq || data.seq > through) continue;
    conversation.receive({ type: 'event', sub_id: 'c', conversation: 'c', seq: data.seq, data });
  }
}

test('a renewed subscription waits for the events that were missed', async () => {
  const conversation = new FollowedConversation('c');
  const first = conversation.catchUp(2);
  deliver(conversation, 2);
  await first;
  expect(conversation.running).toBe(true);
  // The subscription ended, and the log has two more events.
  let isCaughtUp = false;
  const second = conversation.catchUp(4).then(() => {
    isCaughtUp = true;
  });
  deliver(conversation, 3);
  await new Promise((resolve) => setImmediate(resolve));
  expect(isCaughtUp).toBe(false);
  deliver(conversation, 4);
  await second;
  expect(conversation.running).toBe(false);
});

test('a subscription without missed events does not wait', async () => {
  const conversation = new FollowedConversation('c');
  await conversation.catchUp(0);
  deliver(conversation, 4);
  await conversation.catchUp(4);
});

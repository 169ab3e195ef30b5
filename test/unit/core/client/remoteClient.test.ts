// The remote client, from the messages of the window on.
import { expect, test } from 'vitest';
import { RemoteClient } from '../../../../src/core/client/remote/remoteClient.ts';
import { realClock } from '../../../../src/node/realClock.ts';
import { atTestEnd } from '../../../support/endings.ts';

function createClient() {
  const warnings: string[] = [];
  const client = new RemoteClient({
    clock: realClock,
    asksAll: false,
    request: async () => ({ type: 'query_started', id: '0', conversation: 'tea', turn: 't1' }),
    warn: (message) => warnings.push(message),
  });
  atTestEnd(async () => client.dispose());
  const complete = (data: object) =>
    client.receive({ type: 'event', sub_id: '*', conversation: 'tea', data: { type: 'query_complete', ...data } });
  return { client, complete, warnings };
}

test('the result of a verb has neither the type nor the id of its line', async () => {
  const { client } = createClient();
  const sent = await client.call('send', { conversation: 'tea', content: 'Make tea.' });
  expect(sent).toEqual({ ok: true, value: { conversation: 'tea', turn: 't1' } });
});

test('the end of a turn that the window describes in an unknown way is a failure, not a success', async () => {
  for (const data of [{ outcome: 'limited' }, { outcome: 7, message: 'tea' }, {}]) {
    const { client, complete } = createClient();
    complete({ turn: 't1', ...data });
    expect(await client.untilEnded('t1')).toMatchObject({ outcome: 'error' });
  }
});

test('the end of a turn without its name is reported and ends no other', async () => {
  const { client, complete, warnings } = createClient();
  complete({ turn: 7, outcome: 'error' });
  expect(warnings).toHaveLength(1);
  const ended = client.untilEnded('t1');
  complete({ turn: 't1', outcome: 'done' });
  expect(await ended).toEqual({ outcome: 'done' });
});

test('the end of a turn of a followed conversation counts once all its events were received', async () => {
  const { client } = createClient();
  const following = await client.follow('tea', () => undefined);
  const end = (sub: string) =>
    client.receive({
      ...{ type: 'event', sub_id: sub, conversation: 'tea' },
      data: { type: 'query_complete', turn: 't1', outcome: 'done', message: sub },
    });
  // The subscription to all conversations may be ahead.
  end('*');
  end('tea');
  expect(await client.untilEnded('t1')).toEqual({ outcome: 'done', message: 'tea' });
  if (following.ok) following.value.dispose();
});

test('a connection that ends while a conversation is read fails the follower, which would wait for ever', async () => {
  const client = new RemoteClient({
    clock: realClock,
    asksAll: false,
    // The window says that there are three events, and sends none.
    request: async () => ({ type: 'subscribed', sub_id: 'tea', seq: 3 }),
    warn: () => undefined,
  });
  atTestEnd(async () => client.dispose());
  const following = client.follow('tea', () => undefined);
  await new Promise((resolve) => setImmediate(resolve));
  client.disconnected('The window is gone.');
  expect(await following).toMatchObject({ ok: false, failure: { message: 'The window is gone.' } });
});

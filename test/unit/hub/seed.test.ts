// Every JSON example of the seed `subscriptions-and-notifications.md`, with ids, times and elided texts filled in.
import { expect, test } from 'vitest';
import { type TestClient, type TestHub, withHub } from '../../support/testHub.ts';

const scope = { type: 'module', value: 'auth' };
const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/) as string;

/** Sends a request exactly as the seed prints it and returns the raw answer. */
async function exchange(client: TestClient, request: object): Promise<unknown> {
  const before = client.frames.length;
  client.raw(JSON.stringify(request));
  const frames = await client.frame(before + 1);
  return JSON.parse(frames[before] ?? '');
}

const clients: readonly [string, (hub: TestHub) => Promise<TestClient>, object][] = [
  ['over a bound connection', (hub) => hub.agent('furiosa', { role: 'implementer' }), {}],
  [
    'by a client that never registers, on a hub with an identity',
    (hub) => hub.unix(),
    { identity: { name: 'furiosa', role: 'implementer', module: '' } },
  ],
];

test.each(clients)('the requests of the seed are answered as it prints %s', (_, connect, options) =>
  withHub(async (hub) => {
    const client = await connect(hub);
    expect(await exchange(client, { jsonrpc: '2.0', method: 'subscribe', params: { scope }, id: 1 })).toEqual({
      jsonrpc: '2.0',
      result: { subscription_id: 1, session_id: expect.stringMatching(/^ses_/) as string, created_at: time },
      id: 1,
    });
    await exchange(client, { jsonrpc: '2.0', method: 'subscribe', params: { mention_role: 'reviewer' }, id: 1 });
    await exchange(client, { jsonrpc: '2.0', method: 'subscribe', params: { all: true }, id: 1 });
    expect(await exchange(client, { jsonrpc: '2.0', method: 'subscriptions.list', id: 1 })).toEqual({
      jsonrpc: '2.0',
      result: {
        subscriptions: [
          { id: 1, scope_type: 'module', scope_value: 'auth', created_at: time },
          { id: 2, mention_role: 'reviewer', created_at: time },
          { id: 3, all: true, created_at: time },
        ],
      },
      id: 1,
    });
    expect(
      await exchange(client, { jsonrpc: '2.0', method: 'unsubscribe', params: { subscription_id: 1 }, id: 2 }),
    ).toEqual({ jsonrpc: '2.0', result: { removed: true }, id: 2 });
  }, options),
);

test.each(clients)('the pushes of the seed arrive as it prints %s', (_, connect, options) =>
  withHub(async (hub) => {
    const sender = await connect(hub);
    const reader = await hub.agent('reader');
    await reader.call('subscribe', { scope });
    const { result: thread } = (await exchange(sender, {
      jsonrpc: '2.0',
      method: 'thread.create',
      params: { title: 'Auth' },
      id: 1,
    })) as { result: { thread_id: string } };
    const content = 'First 100 characters of content'.padEnd(120, '.');
    const params = { content, scopes: [scope], thread_id: thread.thread_id };
    const { result: sent } = (await exchange(sender, { jsonrpc: '2.0', method: 'message.send', params, id: 2 })) as {
      result: { message_id: string };
    };
    const [message] = await reader.pushed('notification.message');
    expect(message).toMatchObject({
      method: 'notification.message',
      params: {
        message_id: sent.message_id,
        thread_id: thread.thread_id,
        author: { agent_id: 'furiosa', name: 'furiosa', role: 'implementer', module: '' },
        preview: `${content.slice(0, 100)}...`,
        scopes: [scope],
        matched_subscription: { subscription_id: 1, match_type: 'scope' },
        timestamp: time,
      },
    });
    const [update] = await reader.pushed('notification.thread.updated');
    expect(update).toEqual({
      method: 'notification.thread.updated',
      params: {
        thread_id: thread.thread_id,
        message_count: 1,
        unread_count: 1,
        last_activity: time,
        last_sender: 'furiosa',
        preview: `${content.slice(0, 100)}...`,
        timestamp: time,
      },
    });
  }, options),
);

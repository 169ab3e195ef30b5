// The acceptance list of the hub's subscriptions and pushes (WIRE B), over real sockets.
import { expect, test } from 'vitest';
import { withHub } from '../../support/testHub.ts';

const auth = { type: 'module', value: 'auth' };

test('a subscription of each kind is created, listed and removed', () =>
  withHub(async (hub) => {
    const reader = await hub.agent('reader');
    expect(await reader.call('subscriptions.list')).toEqual({ subscriptions: [] });
    const scope = await reader.call('subscribe', { scope: auth });
    const mention = await reader.call('subscribe', { mention_role: 'reviewer' });
    const all = await reader.call('subscribe', { all: true });
    const { session_id: session } = await reader.call('agent.whoami');
    expect(scope).toEqual({ subscription_id: 1, session_id: session, created_at: expect.any(String) as string });
    expect(await reader.call('subscriptions.list')).toEqual({
      subscriptions: [
        { id: 1, scope_type: 'module', scope_value: 'auth', created_at: scope['created_at'] },
        { id: 2, mention_role: 'reviewer', created_at: mention['created_at'] },
        { id: 3, all: true, created_at: all['created_at'] },
      ],
    });
    expect(await reader.call('unsubscribe', { subscription_id: 2 })).toEqual({ removed: true });
    expect(await reader.call('unsubscribe', { subscription_id: 2 })).toEqual({ removed: false });
    expect((await reader.call('subscriptions.list'))['subscriptions']).toHaveLength(2);
  }));

test.each([[{ scope: auth }], [{ mention_role: 'reviewer' }], [{ all: true }]])(
  'a second subscription to %j is refused',
  (criteria) =>
    withHub(async (hub) => {
      const reader = await hub.agent('reader');
      await reader.call('subscribe', criteria);
      await expect(reader.call('subscribe', criteria)).rejects.toMatchObject({
        code: -32000,
        message: 'subscription already exists',
      });
    }),
);

test.each([
  [{}, -32000, 'at least one of scope, mention_role, or all must be specified'],
  [{ all: true, mention_role: 'x' }, -32602, 'only one of'],
  [{ scope: { type: 'module' } }, -32602, 'scope.value'],
  [{ scope: { type: '', value: 'x' } }, -32602, 'scope.type'],
  [{ all: false }, -32602, 'all'],
  [{ every: true }, -32602, 'every'],
])('subscribe with %j is refused', (params, code, message) =>
  withHub(async (hub) => {
    const reader = await hub.agent('reader');
    const refused = await reader.call('subscribe', params).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code, message: expect.stringContaining(message) as string });
  }),
);

test('without a session every subscription method is refused', () =>
  withHub(async (hub) => {
    const stranger = await hub.unix();
    for (const [method, params] of [
      ['subscribe', { all: true }],
      ['unsubscribe', { subscription_id: 1 }],
      ['subscriptions.list', undefined],
    ] as const) {
      await expect(stranger.call(method, params)).rejects.toMatchObject({ message: 'no active session found' });
    }
  }));

test('a subscription of another session is not removed', () =>
  withHub(async (hub) => {
    const [one, other] = [await hub.agent('one'), await hub.agent('other')];
    const { subscription_id: id } = await one.call('subscribe', { all: true });
    expect(await other.call('unsubscribe', { subscription_id: id })).toEqual({ removed: false });
    expect((await one.call('subscriptions.list'))['subscriptions']).toHaveLength(1);
  }));

test('a scope matches exactly, also among several, and nothing else', () =>
  withHub(async (hub) => {
    const [author, reader] = [await hub.agent('author'), await hub.agent('reader')];
    await reader.call('subscribe', { scope: auth });
    await author.call('message.send', { content: 'none' });
    await author.call('message.send', { content: 'other', scopes: [{ type: 'module', value: 'authz' }] });
    await author.call('message.send', { content: 'exact', scopes: [auth] });
    await author.call('message.send', { content: 'several', scopes: [{ type: 'file', value: 'a.ts' }, auth] });
    const pushed = await reader.pushed('notification.message', 2);
    expect(pushed.map(({ params }) => [params['preview'], params['matched_subscription']])).toEqual([
      ['exact', { subscription_id: 1, match_type: 'scope' }],
      ['several', { subscription_id: 1, match_type: 'scope' }],
    ]);
  }));

test.each([
  ['the subscription’s role', ['@tester']],
  ['the subscriber’s role', ['reviewer']],
  ['the subscriber’s name', ['@reader']],
])('a mention matches by %s', (_, mentions) =>
  withHub(async (hub) => {
    const [author, reader] = [await hub.agent('author'), await hub.agent('reader', { role: 'reviewer' })];
    await reader.call('subscribe', { mention_role: 'tester' });
    await author.call('message.send', { content: 'look', mentions: ['nobody'] });
    await author.call('message.send', { content: 'you', mentions });
    const [first] = await reader.pushed('notification.message');
    expect(first?.params).toMatchObject({ preview: 'you', matched_subscription: { match_type: 'mention' } });
  }),
);

test('several matching subscriptions of one session cause one push with the most specific match', () =>
  withHub(async (hub) => {
    const [author, reader] = [await hub.agent('author'), await hub.agent('reader')];
    await reader.call('subscribe', { all: true });
    await reader.call('subscribe', { scope: auth });
    await reader.call('subscribe', { scope: { type: 'file', value: 'a.ts' } });
    await reader.call('subscribe', { mention_role: 'reader' });
    const scopes = [{ type: 'file', value: 'a.ts' }, auth];
    await author.call('message.send', { content: 'all three', scopes, mentions: ['reader'] });
    await author.call('message.send', { content: 'two', scopes });
    await author.call('message.send', { content: 'one' });
    const pushed = await reader.pushed('notification.message', 3);
    expect(pushed.map(({ params }) => params['matched_subscription'])).toEqual([
      { subscription_id: 4, match_type: 'mention' },
      { subscription_id: 2, match_type: 'scope' },
      { subscription_id: 1, match_type: 'all' },
    ]);
    expect(reader.pushes).toHaveLength(3);
  }));

test('a push has every field of the protocol and no id', () =>
  withHub(async (hub) => {
    const author = await hub.agent('author', { role: 'implementer', module: 'auth' });
    const reader = await hub.agent('reader');
    await reader.call('subscribe', { scope: auth });
    const sent = await author.call('message.send', { content: 'hello', scopes: [auth] });
    await reader.pushed('notification.message');
    const frame = JSON.parse(reader.frames.at(-1) ?? '') as object;
    expect(frame).toEqual({
      jsonrpc: '2.0',
      method: 'notification.message',
      params: {
        message_id: sent['message_id'],
        thread_id: null,
        author: { agent_id: 'author', name: 'author', role: 'implementer', module: 'auth' },
        preview: 'hello',
        scopes: [auth],
        matched_subscription: { subscription_id: 1, match_type: 'scope' },
        cursor: expect.stringMatching(/^c/) as string,
        timestamp: sent['created_at'],
      },
    });
  }));

test.each([
  ['99 characters', 'x'.repeat(99), 'x'.repeat(99)],
  ['100 characters', 'x'.repeat(100), 'x'.repeat(100)],
  ['101 characters', 'x'.repeat(101), `${'x'.repeat(100)}...`],
  ['a character of two units at the end', `${'x'.repeat(99)}😀y`, `${'x'.repeat(99)}😀...`],
  ['characters of several bytes', 'ä'.repeat(101), `${'ä'.repeat(100)}...`],
])('the preview of %s is cut between characters', (_, content, preview) =>
  withHub(async (hub) => {
    const [author, reader] = [await hub.agent('author'), await hub.agent('reader')];
    await reader.call('subscribe', { all: true });
    await author.call('message.send', { content });
    const [first] = await reader.pushed('notification.message');
    expect(first?.params['preview']).toBe(preview);
  }),
);

test('the author and its other sessions get no push of their own message', () =>
  withHub(async (hub) => {
    const [author, other] = [await hub.agent('author'), await hub.agent('other')];
    await author.call('subscribe', { all: true });
    await other.call('subscribe', { all: true });
    await author.call('message.send', { content: 'mine' });
    await other.pushed('notification.message');
    await other.call('message.send', { content: 'theirs' });
    const pushed = await author.pushed('notification.message');
    expect(pushed.map(({ params }) => params['preview'])).toEqual(['theirs']);
  }));

test('the push of an edit differs from that of a new message', () =>
  withHub(async (hub) => {
    const [author, reader] = [await hub.agent('author'), await hub.agent('reader')];
    await reader.call('subscribe', { all: true });
    const { message_id: id } = await author.call('message.send', { content: 'first' });
    await author.call('message.edit', { message_id: id, content: 'second' });
    const pushed = await reader.pushed('notification.message', 2);
    expect(pushed.map(({ params }) => [params['preview'], params['edited']])).toEqual([
      ['first', undefined],
      ['second', true],
    ]);
  }));

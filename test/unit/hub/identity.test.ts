// Agents and sessions: who may act for which agent, what survives a reconnect, and the configured identity.
import { expect, test } from 'vitest';
import { createManualClock, type ManualClock } from '../../support/manualClock.ts';
import { withHub } from '../../support/testHub.ts';

test('registering again over the same connection updates the agent', () =>
  withHub(async (hub) => {
    const client = await hub.unix();
    expect(await client.call('agent.register', { name: 'amber-finch' })).toEqual({
      agent_id: 'amber-finch',
      status: 'registered',
    });
    await client.call('session.start', { agent_id: 'amber-finch' });
    expect(
      await client.call('agent.register', { name: 'amber-finch', role: 'tester', display: 'Fix the build' }),
    ).toEqual({
      agent_id: 'amber-finch',
      status: 'updated',
    });
    expect(await client.call('agent.whoami')).toEqual({
      agent_id: 'amber-finch',
      role: 'tester',
      module: '',
      display: 'Fix the build',
      session_id: expect.stringMatching(/^ses_/) as string,
    });
    expect(await client.call('agent.list')).toMatchObject({ agents: [{ agent_id: 'amber-finch', live: true }] });
  }));

test.each([
  [{ name: 'Upper' }, 'name'],
  [{ name: 'x'.repeat(33) }, 'name'],
  [{ name: '' }, 'name'],
  [{ name: 'system' }, 'reserved'],
  [{ name: 'all' }, 'reserved'],
  [{ name: 'everyone' }, 'reserved'],
  [{ name: 'fine', role: 'system' }, 'reserved'],
  [{ name: 'fine', role: 'a b' }, 'role'],
  [{ name: 'reviewer' }, 'is a role in use'],
  [{ name: 'fine', role: 'known' }, 'is the name of an agent'],
  [{ name: 'same', role: 'same' }, 'is the name of an agent'],
])('registering %j is refused', (params, message) =>
  withHub(async (hub) => {
    await hub.agent('known', { role: 'reviewer' });
    const client = await hub.unix();
    const refused = await client.call('agent.register', params).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: -32602, message: expect.stringContaining(message) as string });
  }),
);

test('a name with a live session is in use until its connection ends', () =>
  withHub(async (hub) => {
    const first = await hub.agent('finch');
    const second = await hub.unix();
    await expect(second.call('agent.register', { name: 'finch' })).rejects.toMatchObject({ message: 'name is in use' });
    await expect(second.call('session.start', { agent_id: 'finch' })).rejects.toMatchObject({ code: -32000 });
    await expect(second.call('agent.unregister', { agent_id: 'finch' })).rejects.toMatchObject({ code: -32000 });
    first.close();
    await expect
      .poll(() => second.call('agent.register', { name: 'finch' }).then(String, String))
      .not.toContain('in use');
    expect(await second.call('session.start', { agent_id: 'finch' })).toMatchObject({ agent_id: 'finch' });
  }));

test('starting a session ends those of the same agent that have no connection, with their subscriptions', () =>
  withHub(async (hub) => {
    const first = await hub.agent('finch');
    await first.call('subscribe', { all: true });
    const { session_id: old } = await first.call('agent.whoami');
    first.close();
    const second = await hub.unix();
    await expect
      .poll(() => second.call('session.start', { agent_id: 'finch' }).then(Object.keys, String))
      .toContain('session_id');
    expect(await second.call('subscriptions.list')).toEqual({ subscriptions: [] });
    await expect(second.call('session.attach', { session_id: old })).rejects.toMatchObject({ code: -32000 });
  }));

test('no list shows the session id of another agent', () =>
  withHub(async (hub) => {
    const [one, other] = [await hub.agent('one'), await hub.agent('other')];
    const { session_id: secret } = await other.call('agent.whoami');
    for (const method of ['session.list', 'agent.list', 'health']) {
      expect(JSON.stringify(await one.call(method))).not.toContain(secret);
    }
    expect(JSON.stringify(await other.call('session.list'))).toContain(secret);
  }));

test('ending a session removes its subscriptions and unbinds the connection', () =>
  withHub(async (hub) => {
    const client = await hub.agent('finch');
    await client.call('subscribe', { all: true });
    expect(await client.call('session.end')).toEqual({ ended: true });
    await expect(client.call('subscriptions.list')).rejects.toMatchObject({ message: 'no active session found' });
    await client.call('session.start', { agent_id: 'finch' });
    expect(await client.call('subscriptions.list')).toEqual({ subscriptions: [] });
  }));

test('sessions and subscriptions survive a restart of the hub', () =>
  withHub(async (hub) => {
    const reader = await hub.agent('reader', { role: 'reviewer' });
    await reader.call('subscribe', { mention_role: 'reader' });
    const { session_id: session } = await reader.call('agent.whoami');
    await hub.restart();
    const again = await hub.unix();
    await again.call('session.attach', { session_id: session });
    expect(await again.call('subscriptions.list')).toMatchObject({
      subscriptions: [{ id: 1, mention_role: 'reader' }],
    });
    const author = await hub.agent('author');
    await author.call('message.send', { content: 'by role', mentions: ['reviewer'] });
    await again.pushed('notification.message');
    expect((await again.call('subscribe', { all: true }))['subscription_id']).toBe(2);
  }));

test('a client that uses only the seed’s methods works on a hub with an identity', () =>
  withHub(
    async (hub) => {
      const client = await hub.unix();
      expect(await client.call('subscribe', { scope: { type: 'module', value: 'auth' } })).toMatchObject({
        subscription_id: 1,
      });
      expect(await client.call('agent.whoami')).toMatchObject({
        agent_id: 'furiosa',
        role: 'implementer',
        module: 'auth',
      });
      client.close();
      await client.closed;
      const again = await hub.unix();
      expect((await again.call('subscriptions.list'))['subscriptions']).toHaveLength(1);
    },
    { identity: { name: 'furiosa', role: 'implementer', module: 'auth' } },
  ));

test('a session that was connected until the hub ended is kept for another day, no matter how old it is', async () => {
  const clock: ManualClock = createManualClock();
  await withHub(
    async (hub) => {
      const [gone, here] = [await hub.agent('gone'), await hub.agent('here')];
      const { session_id: session } = await here.call('agent.whoami');
      gone.close();
      await gone.closed;
      await expect.poll(async () => JSON.stringify(await here.call('agent.list'))).toContain('"live":false');
      clock.advance(12 * 3600_000);
      await hub.stop();
      clock.advance(20 * 3600_000);
      await hub.restart();
      const again = await hub.unix();
      await again.call('session.attach', { session_id: session });
      await expect.poll(async () => (await again.call('health'))['sessions']).toBe(1);
    },
    { clock },
  );
});

test('a session without a connection or heartbeat for a day has ended', async () => {
  const clock: ManualClock = createManualClock();
  await withHub(
    async (hub) => {
      const [gone, here] = [await hub.agent('gone'), await hub.agent('here')];
      gone.close();
      await gone.closed;
      await expect.poll(async () => JSON.stringify(await here.call('agent.list'))).toContain('"live":false');
      for (let hour = 0; hour < 26; hour++) clock.advance(3600_000);
      await expect.poll(async () => (await here.call('health'))['sessions']).toBe(1);
    },
    { clock },
  );
});

// The user as an agent on the hub, and what the Agents view shows: agents, threads, unread and pending messages, other
// machines.
import { describe, expect, test } from 'vitest';
import { CONVERSATION_MODULE } from '../../../src/hub/agents/windowMembership.ts';
import { UserAgent } from '../../../src/hub/agents/userAgent.ts';
import { realFileSystem } from '../../../src/node/files/fileSystem.ts';
import { realClock } from '../../../src/node/realClock.ts';
import { realIds } from '../../../src/node/realIds.ts';
import { type Notification } from '../../../src/protocol/notification.ts';
import { type LiveAgent, readAgents } from '../../../src/vscode/hub/agentRows.ts';
import { until, untilConnected, withJoinedHubs } from '../../support/nats/joinedHub.ts';
import { hasNatsServer, NatsServer } from '../../support/nats/natsServer.ts';
import { atTestEnd } from '../../support/endings.ts';
import { type TestHub, withHub } from '../../support/testHub.ts';

const nobody = () => new Map<string, LiveAgent>();

async function userOn({ folder }: Pick<TestHub, 'folder'>, userName = 'Anna Lind'): Promise<UserAgent> {
  const user = new UserAgent({
    files: realFileSystem,
    folder,
    clock: realClock,
    userName,
    ulid: () => realIds.ulid(),
    report: (message) => expect.fail(message),
    onAbsent: () => undefined,
  });
  atTestEnd(async () => user.dispose());
  await until(async () => user.isConnected);
  return user;
}

test('a thread of three agents has mentions, scopes and answers in order, and is unread until it is opened', async () => {
  await withHub(async (hub) => {
    const user = await userOn(hub);
    const finch = await hub.agent('amber-finch', { role: 'reviewer' });
    const heron = await hub.agent('teal-heron', { module: CONVERSATION_MODULE });
    await finch.call('subscribe', { mention_role: 'amber-finch' });
    await heron.call('subscribe', { scope: { type: 'file', value: 'src/menu.ts' } });
    const thread = await user.send({
      content: 'Who changes **the menu**? @amber-finch',
      mentions: ['amber-finch'],
      scopes: [{ type: 'file', value: 'src/menu.ts' }],
      title: 'The menu',
    });
    const [pushed] = await finch.pushed('notification.message');
    expect(pushed?.params).toMatchObject({ author: { name: user.name, role: 'user' }, thread_id: thread });
    await heron.pushed('notification.message');
    let arrived = 0;
    const listening = user.onMessage(() => void (arrived += 1));
    atTestEnd(async () => listening.dispose());
    await finch.call('message.send', { content: 'I do.', thread_id: thread, mentions: ['user'] });
    await until(async () => arrived === 1);
    await heron.call('message.send', { content: 'Not me.', thread_id: thread });
    const before = await readAgents(user, null, nobody);
    expect(before).toMatchObject({ hub: 'connected', me: 'anna-lind', machines: null, thread: null });
    expect(before.agents.map(({ name, role, kind, live, unread }) => ({ name, role, kind, live, unread }))).toEqual([
      { name: 'anna-lind', role: 'user', kind: 'me', live: true, unread: 0 },
      { name: 'amber-finch', role: 'reviewer', kind: 'other', live: true, unread: 1 },
      { name: 'teal-heron', role: '', kind: 'window', live: true, unread: 0 },
    ]);
    expect(before.threads).toMatchObject([{ title: 'The menu', messages: 3, unread: 2, lastSender: 'teal-heron' }]);
    const opened = await readAgents(user, thread, nobody);
    expect(opened.thread?.messages).toMatchObject([
      { own: true, mentions: ['amber-finch'], scopes: ['file:src/menu.ts'], format: 'markdown' },
      { author: 'amber-finch', text: 'I do.', mentions: ['user'] },
      { author: 'teal-heron', text: 'Not me.' },
    ]);
    expect((await readAgents(user, null, nobody)).threads).toMatchObject([{ unread: 0 }]);
  });
});

test('a thread with an empty title, or with a message’s id as its title, has the first line of its newest message', async () => {
  await withHub(async (hub) => {
    const user = await userOn(hub);
    const finch = await hub.agent('amber-finch');
    const titles = ['  ', 'msg_01M7ABCDEF', 'msg_01M7 is lost', 'The menu'];
    for (const [index, title] of titles.entries()) {
      const { thread_id: id } = (await finch.call('thread.create', { title, scopes: [] })) as { thread_id: string };
      await finch.call('message.send', { content: `Tea ${index}.\nMore of it.`, thread_id: id });
    }
    const { threads } = await readAgents(user, null, nobody);
    expect(threads.map(({ title }) => title).sort()).toEqual(
      ['Tea 0.', 'Tea 1.', 'The menu', 'msg_01M7 is lost'].sort(),
    );
  });
});

test('the user’s own messages are the user’s, whichever agent claims that role', async () => {
  await withHub(async (hub) => {
    const user = await userOn(hub);
    const finch = await hub.agent('amber-finch', { role: 'user' });
    const thread = await user.send({ content: 'Mine.', mentions: ['amber-finch'], scopes: [], title: 'Tea' });
    await finch.call('message.send', { content: 'Not yours.', thread_id: thread });
    const { thread: shown, threads, me } = await readAgents(user, thread, nobody);
    expect(shown?.messages).toMatchObject([
      { text: 'Mine.', own: true },
      { text: 'Not yours.', own: false, author: 'amber-finch' },
    ]);
    expect([me, threads[0]?.lastSender]).toEqual(['anna-lind', 'amber-finch']);
  });
});

test('a message is pending in a conversation of this window until its model gets it; two windows have two names', async () => {
  await withHub(async (hub) => {
    const user = await userOn(hub);
    const other = await userOn(hub);
    expect([user.name, other.name]).toEqual(['anna-lind', 'anna-lind-2']);
    await hub.agent('amber-finch');
    const thread = await user.send({ content: 'Hello.', mentions: ['amber-finch'], scopes: [], title: 'Hello' });
    const [message] = await user.readThread(thread);
    const received = { kind: { source: 'message', name: 'received' }, data: { messages: [message?.message_id] } };
    const pending = [received as unknown as Notification];
    const conversation = { conversation: 'c1', title: 'Tea', activity: 'running', pending } as const;
    const waiting = await readAgents(user, thread, () => new Map([['amber-finch', conversation]]));
    expect(waiting.thread?.messages).toMatchObject([{ pendingIn: ['Tea'] }]);
    expect(waiting.agents).toMatchObject([
      { kind: 'me' },
      { name: 'amber-finch', kind: 'here', display: 'Tea', activity: 'running', unread: 1, conversation: 'c1' },
      { name: 'anna-lind-2', kind: 'user' },
    ]);
    const done = await readAgents(user, thread, () => new Map([['amber-finch', { ...conversation, pending: [] }]]));
    expect(done.thread?.messages).toMatchObject([{ pendingIn: [] }]);
    expect(done.agents[1]).toMatchObject({ unread: 0 });
  });
});

test('a message without a thread is shown as one, is unread if it is for the user, and an answer starts its thread', async () => {
  await withHub(async (hub) => {
    const user = await userOn(hub);
    const finch = await hub.agent('amber-finch');
    await hub.agent('teal-heron');
    await finch.call('message.send', { content: 'Tea is ready.', mentions: ['user'] });
    await finch.call('message.send', { content: 'Who cleans up?', mentions: ['teal-heron'] });
    const { threads } = await until(async () => {
      const state = await readAgents(user, null, nobody);
      return state.threads.length === 2 ? state : undefined;
    });
    expect(threads.map(({ title, unread, lastSender }) => [title, unread, lastSender]).sort()).toEqual([
      ['Tea is ready.', 1, 'amber-finch'],
      ['Who cleans up?', 0, 'amber-finch'],
    ]);
    const single = threads.find(({ title }) => title === 'Tea is ready.')?.id ?? '';
    const opened = await readAgents(user, single, nobody);
    expect(opened.thread).toMatchObject({ id: single, messages: [{ text: 'Tea is ready.' }] });
    expect((await readAgents(user, null, nobody)).threads.every(({ unread }) => unread === 0)).toBe(true);
    const thread = await user.send({ content: 'Coming.', mentions: [], scopes: [], thread: single });
    expect(thread).toMatch(/^thr_/);
    // The view continues with the thread that now contains the message.
    const answered = await readAgents(user, single, nobody);
    expect(answered.thread).toMatchObject({
      id: thread,
      messages: [{ text: 'Tea is ready.' }, { text: 'Coming.', mentions: ['amber-finch'] }],
    });
    expect(answered.threads.map(({ title }) => title).sort()).toEqual(['Tea is ready.', 'Who cleans up?']);
  });
});

test('subagents of this window are below the agents that started them', async () => {
  await withHub(async (hub) => {
    const user = await userOn(hub);
    for (const name of ['amber-finch', 'checks', 'tests', 'teal-heron', 'lost']) await hub.agent(name);
    const live = (conversation: string, parent?: string): LiveAgent => ({
      conversation,
      title: '',
      pending: [],
      ...(parent !== undefined && { parent }),
    });
    const here = new Map([
      ['amber-finch', live('c1')],
      ['teal-heron', live('c2')],
      ['checks', live('c3', 'c2')],
      ['tests', live('c4', 'c2')],
      ['lost', live('c5', 'c9')],
    ]);
    const { agents } = await readAgents(user, null, () => here);
    expect(agents.map(({ name, subagent }) => [name, subagent?.of])).toEqual([
      ['anna-lind', undefined],
      ['amber-finch', undefined],
      ['lost', ''],
      ['teal-heron', undefined],
      ['checks', 'teal-heron'],
      ['tests', 'teal-heron'],
    ]);
  });
});

test('while the hub is gone nothing can be sent; afterwards the user is connected again', async () => {
  await withHub(async (hub) => {
    const user = await userOn(hub);
    await hub.stop();
    await until(async () => !user.isConnected);
    await expect(readAgents(user, null, nobody)).rejects.toThrow('the hub cannot be reached now');
    await expect(user.send({ content: 'x', mentions: [], scopes: [], title: 'x' })).rejects.toThrow();
    await hub.restart();
    await until(async () => user.isConnected);
    expect(await readAgents(user, null, nobody)).toMatchObject({ me: 'anna-lind', threads: [] });
  });
});

describe.skipIf(!hasNatsServer)('with another machine', () => {
  test('its agents are in the same view, and messages that have not reached it are counted', async () => {
    const server = await NatsServer.start(['alpha', 'beta']);
    atTestEnd(() => server.stop());
    await withJoinedHubs([server.options('alpha'), server.options('beta')], async (alpha, beta) => {
      const far = await beta.agent('far-owl');
      await untilConnected(far);
      const user = await userOn(alpha);
      const listed = await until(async () => {
        const state = await readAgents(user, null, nobody);
        return state.agents.some(({ machine, live }) => machine === 'beta' && live) ? state : undefined;
      });
      expect(listed.machines).toMatchObject({ state: 'connected', notSent: 0, full: false });
      expect(listed.agents.find(({ name }) => name === 'far-owl')).toMatchObject({ kind: 'remote', machine: 'beta' });
      await far.call('subscribe', { mention_role: 'far-owl' });
      await user.send({ content: 'Hello over there.', mentions: ['far-owl'], scopes: [], title: 'Two machines' });
      await far.pushed('notification.message');
      await server.kill();
      const thread = await user.send({ content: 'Later.', mentions: ['far-owl'], scopes: [], title: 'Later' });
      const waiting = await until(async () => {
        const state = await readAgents(user, thread, nobody);
        return (state.machines?.notSent ?? 0) > 0 ? state : undefined;
      });
      expect(waiting.machines?.state).not.toBe('connected');
    });
  });
});

// Hubs of several machines, joined by a real nats-server.
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { nanos } from '@nats-io/transport-node';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { healthOf, until, untilConnected, withJoinedHubs } from '../../../support/nats/joinedHub.ts';
import { hasNatsServer, NatsServer } from '../../../support/nats/natsServer.ts';
import { claimOn, recordOf } from '../../../support/nats/rawRecords.ts';
import { type Answer, type TestClient } from '../../../support/testHub.ts';

async function get(client: TestClient, id: unknown): Promise<Answer | undefined> {
  const found = client.call('message.get', { message_id: id });
  return found.then(
    ({ message }) => message as Answer,
    () => undefined,
  );
}

async function has(client: TestClient, id: unknown): Promise<boolean> {
  return (await get(client, id)) !== undefined;
}

async function agentOf(client: TestClient, name: string): Promise<Answer | undefined> {
  const { agents } = await client.call('agent.list');
  return (agents as Answer[]).find(({ agent_id: id }) => id === name);
}

describe.skipIf(!hasNatsServer)('hubs joined by nats-server', () => {
  let server: NatsServer;
  beforeAll(async () => {
    server = await NatsServer.start(['alpha', 'beta', 'gamma']);
  });
  afterAll(() => server.stop());

  test('a message reaches the other machine once, with its author’s machine, and is pushed there', () =>
    withJoinedHubs([server.options('alpha'), server.options('beta')], async (alpha, beta) => {
      const [author, reader] = [await alpha.agent('amber', { role: 'lead' }), await beta.agent('birch')];
      await reader.call('subscribe', { mention_role: 'birch' });
      await Promise.all([untilConnected(author), untilConnected(reader)]);
      const { message_id: id } = await author.call('message.send', { content: 'hello', mentions: ['birch'] });
      const [push] = await reader.pushed('notification.message');
      expect(push?.params).toMatchObject({
        message_id: id,
        author: { agent_id: 'amber', role: 'lead', machine: 'alpha' },
        matched_subscription: { match_type: 'mention' },
      });
      await author.call('message.edit', { message_id: id, content: 'hello again' });
      await reader.pushed('notification.message', 2);
      const { messages } = await reader.call('message.list');
      expect(messages).toMatchObject([{ body: { content: 'hello again' }, version: 2, is_read: false }]);
      await until(async () => (await healthOf(author)).not_sent === 0);
    }));

  test('threads, replies and deletions reach the other machine; read marks do not', () =>
    withJoinedHubs([server.options('alpha'), server.options('beta')], async (alpha, beta) => {
      const [author, reader] = [await alpha.agent('ash'), await beta.agent('beech')];
      await Promise.all([untilConnected(author), untilConnected(reader)]);
      const { message_id: question } = await author.call('message.send', { content: 'question', mentions: ['beech'] });
      await until(async () => has(reader, question));
      const { thread_id: thread } = await reader.call('message.send', { content: 'answer', reply_to: question });
      const { message_id: gone } = await reader.call('message.send', { content: 'nonsense', thread_id: thread });
      await reader.call('message.delete', { message_id: gone });
      await until(async () => (await get(author, gone))?.['deleted'] === true);
      const read = await author.call('thread.get', { thread_id: thread });
      expect(read['thread']).toMatchObject({ title: 'question', message_count: 2, created_by: 'beech' });
      expect(read['messages']).toMatchObject([
        { message_id: question },
        { body: { content: 'answer' } },
        { deleted: true },
      ]);
      expect(await get(author, question)).toMatchObject({ thread_id: thread });
      const admin = await server.connectAsAdmin();
      const manager = await jetstreamManager(admin);
      const count = async () => (await manager.streams.info('EAR_team')).state.messages;
      await until(async () => (await healthOf(reader)).not_sent === 0);
      const before = await count();
      await reader.call('message.markRead', { message_ids: [question] });
      expect(await get(reader, question)).toMatchObject({ is_read: true });
      await until(async () => (await healthOf(reader)).not_sent === 0);
      expect(await count()).toBe(before);
      await admin.close();
      await expect(author.call('message.edit', { message_id: gone, content: 'x' })).rejects.toThrow('only the author');
    }));

  test('agents of other machines are listed with machine, role and unread count; unregistering releases the name', () =>
    withJoinedHubs([server.options('alpha'), server.options('beta')], async (alpha, beta) => {
      const cedar = await alpha.agent('cedar', { role: 'reviewer', module: 'core' });
      const dune = await beta.agent('dune');
      await until(async () => agentOf(dune, 'cedar'));
      const { message_id: id } = await dune.call('message.send', { content: 'one', mentions: ['cedar'] });
      // The stream also has the messages of earlier tests, so wait for this one.
      await until(async () => has(cedar, id));
      // A heartbeat contains presence and counts; a new connection sends one at once.
      await alpha.restart();
      const again = await alpha.agent('cedar', { role: 'reviewer', module: 'core' });
      await untilConnected(again);
      await beta.restart();
      const other = await beta.agent('dune');
      const listed = await until(async () => {
        const agent = await agentOf(other, 'cedar');
        return agent?.['live'] === true && agent;
      });
      expect(listed).toMatchObject({ machine: 'alpha', role: 'reviewer', module: 'core', unread: 1 });
      await again.call('agent.unregister', { agent_id: 'cedar' });
      await until(async () => (await claimOn(server, 'cedar')) === undefined);
    }));

  test('an agent of another machine, its unread count and its read marks are listed long before the next heartbeat', () =>
    withJoinedHubs(
      [server.options('alpha'), server.options('beta')],
      async (alpha, beta) => {
        const writer = await beta.agent('drift');
        await untilConnected(writer);
        const reader = await alpha.agent('cliff');
        const listed = (unread: number) =>
          until(async () => {
            const agent = await agentOf(writer, 'cliff');
            return agent?.['live'] === true && agent['unread'] === unread;
          });
        await listed(0);
        const { message_id: id } = await writer.call('message.send', { content: 'one', mentions: ['cliff'] });
        await listed(1);
        await reader.call('message.markRead', { message_ids: [id] });
        await listed(0);
      },
      { beatEvery: 24 * 3600_000, lookEvery: 20 },
    ));

  test('two machines claim one name: the second is <name>-<machine> to the others, and mentions reach the right one', () =>
    withJoinedHubs(
      [server.options('alpha'), server.options('beta'), server.options('gamma')],
      async (alpha, beta, gamma) => {
        const first = await alpha.agent('elm');
        await until(async () => (await claimOn(server, 'elm')) === 'alpha');
        const second = await beta.agent('elm');
        const third = await gamma.agent('fir');
        await until(async () => (await second.call('agent.whoami'))['known_as'] === 'elm-beta');
        expect(await first.call('agent.whoami')).not.toHaveProperty('known_as');
        for (const client of [first, second]) await client.call('subscribe', { mention_role: 'elm' });
        await untilConnected(third);
        await third.call('message.send', { content: 'to alpha', mentions: ['elm'] });
        await third.call('message.send', { content: 'to beta', mentions: ['elm-beta'] });
        const [toFirst] = await first.pushed('notification.message');
        const [toSecond] = await second.pushed('notification.message');
        expect([toFirst?.params['preview'], toSecond?.params['preview']]).toEqual(['to alpha', 'to beta']);
        // Each agent addresses the other by the name that others know, since its own name is the same.
        await second.call('message.send', { content: 'from beta', mentions: ['elm-alpha'] });
        const [, fromBeta] = await first.pushed('notification.message', 2);
        expect(fromBeta?.params['author']).toMatchObject({ agent_id: 'elm-beta', machine: 'beta' });
        const { message_id: own } = await first.call('message.send', { content: 'from alpha', mentions: ['elm-beta'] });
        const [, fromAlpha] = await second.pushed('notification.message', 2);
        expect(fromAlpha?.params['author']).toMatchObject({ agent_id: 'elm-alpha', machine: 'alpha' });
        await expect(second.call('message.edit', { message_id: own, content: 'mine' })).rejects.toThrow(
          'only the author',
        );
        expect((await second.call('message.list', { unread: true }))['unread']).toBeGreaterThan(0);
      },
    ));

  test('records whose subject, body, id or claim disagree are refused, and others are still received', () =>
    withJoinedHubs([server.options('alpha'), server.options('beta')], async (alpha, beta) => {
      const victim = await alpha.agent('gorse');
      const reader = await beta.agent('hazel');
      await Promise.all([untilConnected(victim), untilConnected(reader)]);
      const { message_id: target } = await victim.call('message.send', { content: 'genuine' });
      await until(async () => has(reader, target));
      const forger = await server.connectAs('gamma');
      const client = jetstream(forger);
      const publish = (subject: string, record: object, id?: string) =>
        client.publish(subject, JSON.stringify(record), { msgID: id ?? (record as { event_id: string }).event_id });
      const forged = (author: string, changes: object = {}) => recordOf(author, 'forged', changes);
      // Uses the name of another machine's agent in the subject, in the body, and in an edit of its message.
      await publish('ear.team.msg.gamma.gorse._', forged('gorse'));
      await publish('ear.team.msg.gamma.mine._', forged('gorse'));
      await publish('ear.team.msg.gamma.mine._', forged('mine'), 'another-id');
      await publish('ear.team.msg.gamma.mine.thr_1', forged('mine'));
      await publish('ear.team.edit.gamma.mine._', forged('mine'));
      await publish('ear.team.msg.gamma.mine._', { event_id: 'damaged' });
      const edit = {
        v: 1,
        n: 1,
        event_id: 'edit-1',
        timestamp: new Date().toISOString(),
        type: 'message.edit',
        message_id: target,
        content: 'X',
      };
      await publish(`ear.team.edit.gamma.mine.${String(target)}`, { ...edit, author: 'mine' });
      await publish(`ear.team.edit.gamma.gorse.${String(target)}`, { ...edit, event_id: 'edit-2', author: 'gorse' });
      await client.publish('ear.team.msg.gamma.mine._', '['.repeat(100_000), { msgID: 'deep' });
      // The server refuses the subject of another machine.
      const denied = publish('ear.team.msg.alpha.gorse._', forged('gorse')).then(
        () => 'accepted',
        () => 'denied',
      );
      expect(await denied).toBe('denied');
      // The machine's own record is accepted.
      await publish('ear.team.msg.gamma.mine._', forged('mine', { content: 'honest' }));
      await forger.close();
      const listed = await until(async () => {
        const { messages } = (await reader.call('message.list')) as { messages: { body: { content: string } }[] };
        return messages.some(({ body }) => body.content === 'honest') && messages;
      });
      expect(listed.map(({ body }) => body.content)).not.toContain('forged');
      expect(await get(reader, target)).toMatchObject({ body: { content: 'genuine' }, version: 1 });
      expect(beta.reports.filter((line) => line.includes('was refused')).length).toBe(8);
    }));

  test('the same record again, inside and outside the duplicate window, is stored once', () =>
    withJoinedHubs([server.options('alpha'), server.options('beta')], async (alpha, beta) => {
      const reader = await beta.agent('iris');
      await Promise.all([untilConnected(reader), untilConnected(await alpha.agent('ivy'))]);
      const sender = await server.connectAs('gamma');
      const client = jetstream(sender);
      const record = recordOf('juniper', 'once');
      const edit = {
        ...{ v: 1, n: 1, event_id: `${record.event_id}-edit`, timestamp: new Date().toISOString() },
        ...{ type: 'message.edit', message_id: record.message_id, content: 'once, edited', author: 'juniper' },
      };
      for (const one of [record, record, edit, edit]) {
        const about =
          'thread' in one || one === record ? 'msg.gamma.juniper._' : `edit.gamma.juniper.${record.message_id}`;
        await client.publish(`ear.team.${about}`, JSON.stringify(one), { msgID: one.event_id });
      }
      // With a duplicate window of 100 ms, the server soon accepts the same records as new ones.
      const admin = await server.connectAsAdmin();
      const manager = await jetstreamManager(admin);
      await manager.streams.update('EAR_team', { duplicate_window: nanos(100) });
      for (const one of [record, edit]) {
        const about = one === record ? 'msg.gamma.juniper._' : `edit.gamma.juniper.${record.message_id}`;
        await until(async () => {
          const ack = await client.publish(`ear.team.${about}`, JSON.stringify(one), { msgID: one.event_id });
          return !ack.duplicate;
        });
      }
      await manager.streams.update('EAR_team', { duplicate_window: nanos(24 * 3600_000) });
      await client.publish(
        'ear.team.msg.gamma.juniper._',
        JSON.stringify(recordOf('juniper', 'last', { event_id: 'the-last' })),
        {
          msgID: 'the-last',
        },
      );
      await admin.close();
      await sender.close();
      const messages = await until(async () => {
        const found = (await reader.call('message.list', { author: 'juniper' }))['messages'] as Answer[];
        return found.some((message) => (message['body'] as Answer)['content'] === 'last') && found;
      });
      expect(messages).toMatchObject([
        { body: { content: 'once, edited' }, version: 2 },
        { body: { content: 'last' } },
      ]);
    }));
});

// Hubs of several machines, joined by a real nats-server.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { healthOf, until, untilConnected, withJoinedHubs } from '../../../support/nats/joinedHub.ts';
import { hasNatsServer, NatsServer } from '../../../support/nats/natsServer.ts';

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
});

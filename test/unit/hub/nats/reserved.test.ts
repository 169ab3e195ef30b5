// Another machine uses reserved names, against a real nats-server.
import { jetstream } from '@nats-io/jetstream';
import { Kvm } from '@nats-io/kv';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isReservedName } from '../../../../src/protocol/hub.ts';
import { until, untilConnected, withJoinedHubs } from '../../../support/nats/joinedHub.ts';
import { hasNatsServer, NAME, NatsServer } from '../../../support/nats/natsServer.ts';
import { recordOf } from '../../../support/nats/rawRecords.ts';

describe.skipIf(!hasNatsServer)('a record of another machine', () => {
  let server: NatsServer;
  beforeAll(async () => {
    server = await NatsServer.start(['alpha', 'gamma']);
  });
  afterAll(() => server.stop());

  test('under a reserved name or role is refused and logged; those before and after it are received in order', () =>
    withJoinedHubs([server.options('alpha')], async (alpha) => {
      const reader = await alpha.agent('hazel');
      await untilConnected(reader);
      const forger = await server.connectAs('gamma');
      const client = jetstream(forger);
      const publish = (subject: string, record: { event_id: string }) =>
        client.publish(subject, JSON.stringify(record), { msgID: record.event_id });
      const buckets = await new Kvm(client).open(`ear_agents_${NAME}`);
      const claim = { machine: 'gamma', role: '', module: '', display: '', since: 1 };
      for (const name of ['system', 'mine']) await buckets.put(name, JSON.stringify(claim));
      await publish('ear.team.msg.gamma.mine._', recordOf('mine', 'first'));
      for (const name of ['system', 'all', 'everyone', 'system-', '_all_'])
        await publish(`ear.team.msg.gamma.${name}._`, recordOf(name, 'forged'));
      await publish('ear.team.msg.gamma.system-gamma._', recordOf('system', 'forged'));
      const author = { agent_id: 'mine', name: 'mine', module: '' };
      await publish('ear.team.msg.gamma.mine._', recordOf('mine', 'forged', { author: { ...author, role: 'system' } }));
      const at = new Date().toISOString();
      const thread = { thread_id: 'thr_x', title: 'x', created_by: 'system', created_at: at, scopes: [] };
      await publish('ear.team.msg.gamma.mine.thr_x', recordOf('mine', 'forged', { thread }));
      await publish('ear.team.msg.gamma.mine._', recordOf('mine', 'last'));
      await forger.close();
      const contents = await until(async () => {
        const { messages } = (await reader.call('message.list')) as { messages: { body: { content: string } }[] };
        const found = messages.map(({ body }) => body.content);
        return found.includes('last') && found;
      });
      expect(contents).toEqual(['first', 'last']);
      expect(alpha.reports.filter((line) => /the name \S+ is reserved/.test(line))).toHaveLength(8);
      const { agents } = (await reader.call('agent.list')) as { agents: { agent_id: string }[] };
      expect(agents.map((agent) => agent.agent_id)).not.toContain('system');
    }));
});

test.each([
  'system',
  'SYSTEM',
  'sys\u200btem',
  'ｓystem',
  'sys-tem',
  '_all',
  'e\u0301veryone'.normalize('NFD'),
  'every one',
])('%j is reserved', (name) => expect(isReservedName(name)).toBe(true));

test.each(['systems', 'user', 'allen', ''])('%j is not reserved', (name) => expect(isReservedName(name)).toBe(false));

// A joined hub without its server, with a server that lost its data, with a full stream, and with hubs that conflict
// with each other.
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { describe, expect, test } from 'vitest';
import { createNatsLink } from '../../../../src/hub/nats/natsLink.ts';
import { tryKernelLock } from '../../../../src/node/kernelLock.ts';
import { healthOf, until, untilConnected, withJoinedHubs } from '../../../support/nats/joinedHub.ts';
import { hasNatsServer, NatsServer } from '../../../support/nats/natsServer.ts';
import { recordOf } from '../../../support/nats/rawRecords.ts';
import { TcpProxy } from '../../../support/nats/tcpProxy.ts';
import { type TestClient, withHub } from '../../../support/testHub.ts';

const MACHINES = ['alpha', 'beta', 'gamma'];

async function withServer(use: (server: NatsServer) => Promise<void>, options = {}): Promise<void> {
  const server = await NatsServer.start(MACHINES, options);
  try {
    await use(server);
  } finally {
    await server.stop();
  }
}

async function contents(client: TestClient): Promise<string[]> {
  const all: string[] = [];
  for (let after = 'c0', more = true; more; ) {
    const page = (await client.call('message.list', { after, limit: 100 })) as unknown as {
      messages: { body: { content: string } }[];
      after: string;
      more: boolean;
    };
    all.push(...page.messages.map(({ body }) => body.content));
    ({ after, more } = page);
  }
  return all;
}

async function send(client: TestClient, ...texts: string[]): Promise<void> {
  for (const content of texts) await client.call('message.send', { content });
}

async function untilHas(client: TestClient, ...texts: string[]): Promise<void> {
  await until(async () => {
    const found = await contents(client);
    return texts.every((text) => found.includes(text));
  });
}

describe.skipIf(!hasNatsServer)('a joined hub', () => {
  test('works without the server, counts what was not sent, and sends it in order when the server returns', () =>
    withServer(async (server) => {
      await server.kill();
      await withJoinedHubs([server.options('alpha'), server.options('beta')], async (alpha, beta) => {
        const [author, reader] = [await alpha.agent('amber'), await beta.agent('birch')];
        await send(author, '1', '2', '3');
        expect(await contents(author)).toEqual(['1', '2', '3']);
        const health = await until(async () => {
          const found = await healthOf(author);
          return found.server.error !== undefined && found;
        });
        expect(health).toMatchObject({ server: { state: 'connecting' }, not_sent: 3, stream_full: false });
        await alpha.restart();
        const again = await alpha.agent('amber');
        expect((await healthOf(again)).not_sent).toBe(3);
        await server.start();
        await untilHas(reader, '3');
        expect(await contents(reader)).toEqual(['1', '2', '3']);
        expect(await healthOf(again)).toMatchObject({ server: { state: 'connected' }, not_sent: 0 });
      });
    }));

  test('without stream and buckets it is refused with the command to run, and joins once they exist', () =>
    withServer(
      (server) =>
        withJoinedHubs([server.options('alpha')], async (alpha) => {
          const client = await alpha.agent('amber');
          await send(client, 'before');
          const refused = await until(async () => {
            const { server: found } = await healthOf(client);
            return found.state === 'refused' && found;
          });
          expect(refused.error).toContain('hub.js --set-up --server … --name team');
          await server.setUp();
          await untilConnected(client);
          await until(async () => (await healthOf(client)).not_sent === 0);
        }),
      { prepared: false },
    ));

  test('wrong credentials are refused with the reason', () =>
    withServer(async (server) => {
      const unknown = {
        ...server.options('alpha'),
        credentials: undefined,
        login: { user: 'admin', password: 'wrong' },
      };
      await withJoinedHubs([unknown], async (alpha) => {
        const client = await alpha.agent('amber');
        const refused = await until(async () => {
          const { server: found } = await healthOf(client);
          return found.state === 'refused' && found;
        });
        expect(refused.error).toContain('refuses the credentials');
        await send(client, 'local');
        expect(await contents(client)).toEqual(['local']);
      });
    }));

  test('with a full stream sends succeed and health reports it; a larger stream accepts the rest', () =>
    withServer(
      (server) =>
        withJoinedHubs([server.options('alpha'), server.options('beta')], async (alpha, beta) => {
          const [author, reader] = [await alpha.agent('amber'), await beta.agent('birch')];
          await Promise.all([untilConnected(author), untilConnected(reader)]);
          const long = (index: number) => `${index} ${'x'.repeat(300_000)}`;
          await send(author, ...[1, 2, 3, 4, 5].map(long));
          await until(async () => (await healthOf(author)).stream_full);
          const { not_sent: waiting } = await healthOf(author);
          expect(waiting).toBeGreaterThan(0);
          await server.setUp(1 << 26);
          await until(async () => (await healthOf(author)).not_sent === 0);
          expect((await healthOf(author)).stream_full).toBe(false);
          await untilHas(reader, long(5));
          expect((await contents(reader)).map((text) => text[0])).toEqual(['1', '2', '3', '4', '5']);
        }),
      { maxBytes: 1 << 20 },
    ));

  test('a server that lost its store gets everything again, from every machine, and nobody stores a message twice', () =>
    withServer((server) =>
      withJoinedHubs([server.options('alpha'), server.options('beta')], async (alpha, beta) => {
        const [one, two] = [await alpha.agent('amber'), await beta.agent('birch')];
        await send(one, 'a1', 'a2');
        await send(two, 'b1', 'b2');
        await Promise.all([untilHas(one, 'b2'), untilHas(two, 'a2')]);
        await server.kill();
        await server.deleteStore();
        await send(one, 'a3');
        await server.start();
        await server.setUp();
        await untilHas(two, 'a3');
        await withJoinedHubs([server.options('gamma')], async (gamma) => {
          const late = await gamma.agent('cedar');
          await untilHas(late, 'a3', 'b2');
          const found = await contents(late);
          expect(found.filter((text) => text.startsWith('a'))).toEqual(['a1', 'a2', 'a3']);
          expect(found.filter((text) => text.startsWith('b'))).toEqual(['b1', 'b2']);
        });
        for (const client of [one, two])
          expect((await contents(client)).sort()).toEqual(['a1', 'a2', 'a3', 'b1', 'b2']);
      }),
    ));

  test('a server that lost the end of the stream gets it again before new messages, and others miss nothing', () =>
    withServer(async (server) => {
      const proxy = await TcpProxy.start(server.port);
      const options = [server.options('alpha', proxy.port), server.options('beta', proxy.port)];
      await withJoinedHubs(options, async (alpha, beta) => {
        const [one, two] = [await alpha.agent('amber'), await beta.agent('birch')];
        await send(one, 'a1');
        await send(two, 'b1');
        await Promise.all([untilHas(one, 'b1'), untilHas(two, 'a1')]);
        await server.kill('SIGTERM');
        const old = await mkdtemp(join(tmpdir(), 'earshot-store-'));
        await cp(join(server.folder, 'store'), old, { recursive: true });
        await server.start();
        await Promise.all([untilConnected(one), untilConnected(two)]);
        await send(one, 'a2', 'a3');
        await send(two, 'b2');
        await Promise.all([untilHas(one, 'b2'), untilHas(two, 'a3')]);
        await until(async () => (await healthOf(one)).not_sent === 0);
        // The hubs are cut off until another machine has published.
        proxy.cut();
        await server.kill();
        await server.deleteStore();
        await cp(old, join(server.folder, 'store'), { recursive: true });
        await rm(old, { recursive: true });
        await send(one, 'a4');
        await server.start();
        // Messages that another machine publishes meanwhile get the lost sequence numbers.
        const other = await server.connectAs('gamma');
        const client = jetstream(other);
        for (const text of ['g1', 'g2', 'g3']) {
          const record = recordOf('grass', text);
          await client.publish('ear.team.msg.gamma.grass._', JSON.stringify(record), { msgID: record.event_id });
        }
        await other.close();
        proxy.open();
        for (const each of [one, two]) await untilHas(each, 'a4', 'g3', 'b2');
        await withJoinedHubs([server.options('gamma')], async (gamma) => {
          const late = await gamma.agent('cedar');
          await untilHas(late, 'a4', 'b2', 'g3');
          const found = await contents(late);
          expect(found.filter((text) => text.startsWith('a'))).toEqual(['a1', 'a2', 'a3', 'a4']);
          expect(found.filter((text) => text.startsWith('b'))).toEqual(['b1', 'b2']);
        });
        for (const each of [one, two]) {
          const found = await contents(each);
          expect([...found].sort()).toEqual(['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'g1', 'g2', 'g3']);
          expect(found.filter((text) => text.startsWith('g'))).toEqual(['g1', 'g2', 'g3']);
        }
      });
      await proxy.close();
    }));

  test('messages that the server sent into a stalled connection arrive in order over the next one', () =>
    withServer(async (server) => {
      const proxy = await TcpProxy.start(server.port);
      try {
        await withJoinedHubs([server.options('alpha'), server.options('beta', proxy.port)], async (alpha, beta) => {
          const [author, reader] = [await alpha.agent('amber'), await beta.agent('birch')];
          await Promise.all([untilConnected(author), untilConnected(reader)]);
          await send(author, '1');
          await untilHas(reader, '1');
          proxy.stall();
          await send(author, '2', '3', '4');
          await until(async () => (await healthOf(author)).not_sent === 0);
          // The server has sent them into the stalled connection and waits for their acknowledgement.
          const admin = await server.connectAsAdmin();
          const manager = await jetstreamManager(admin);
          await until(async () => (await manager.consumers.info('EAR_team', 'm_beta')).num_ack_pending >= 3);
          await admin.close();
          proxy.cut();
          proxy.open();
          await send(author, '5');
          await untilHas(reader, '5');
          expect(await contents(reader)).toEqual(['1', '2', '3', '4', '5']);
        });
      } finally {
        await proxy.close();
      }
    }));

  test('after the loss of the state file or the folder, everything is sent and received again without duplicates', () =>
    withServer((server) =>
      withJoinedHubs([server.options('alpha'), server.options('beta')], async (alpha, beta) => {
        const [one, two] = [await alpha.agent('amber'), await beta.agent('birch')];
        await send(one, 'a1', 'a2');
        await send(two, 'b1');
        await Promise.all([untilHas(one, 'b1'), untilHas(two, 'a2')]);
        await alpha.stop();
        for (const suffix of ['', '-wal', '-shm']) await rm(join(alpha.folder, `nats.db${suffix}`), { force: true });
        await alpha.restart();
        const again = await alpha.agent('amber');
        await send(again, 'a3');
        await untilHas(two, 'a3');
        await beta.stop();
        await rm(beta.folder, { recursive: true });
        await beta.restart();
        const wiped = await beta.agent('birch');
        await untilHas(wiped, 'a1', 'a2', 'a3', 'b1');
        expect((await contents(wiped)).sort()).toEqual(['a1', 'a2', 'a3', 'b1']);
        expect((await contents(again)).sort()).toEqual(['a1', 'a2', 'a3', 'b1']);
      }),
    ));

  test('a second hub that joins as the same machine is refused until the first is gone', () =>
    withServer(async (server) => {
      const join = createNatsLink(server.options('alpha'), { tryLock: tryKernelLock, beatEvery: 100 });
      await withHub(
        async (first) => {
          const client = await first.agent('amber');
          await untilConnected(client);
          await withHub(
            async (second) => {
              const other = await second.agent('birch');
              const refused = await until(async () => {
                const { server: found } = await healthOf(other);
                return found.state === 'refused' && found;
              });
              expect(refused.error).toContain('another hub has joined as machine alpha');
              await first.stop();
              await untilConnected(other);
            },
            { join },
          );
        },
        { join },
      );
    }));

  test('the hub of a second folder on one machine waits for the first to close', () =>
    withServer((server) => {
      let locked = true;
      const tryLock = () => (locked ? undefined : { release: () => undefined });
      return withHub(
        async (hub) => {
          const client = await hub.agent('amber');
          const { error } = await until(async () => {
            const { server: found } = await healthOf(client);
            return found.state === 'refused' && found;
          });
          expect(error).toContain('the hub of another folder has joined “team” as machine alpha');
          locked = false;
          await untilConnected(client);
        },
        { join: createNatsLink(server.options('alpha'), { tryLock }) },
      );
    }));

  test('a record larger than the server accepts stays on this machine and does not delay others', () =>
    withServer((server) =>
      withJoinedHubs([server.options('alpha'), server.options('beta')], async (alpha, beta) => {
        const [author, reader] = [await alpha.agent('amber'), await beta.agent('birch')];
        const scopes = Array.from({ length: 60 }, (_, index) => ({
          type: 'file',
          value: `${index}${'y'.repeat(4000)}`,
        }));
        const { thread_id: thread } = await author.call('thread.create', { title: 'wide', scopes });
        await author.call('message.send', { content: 'z'.repeat(900 * 1024 - 10), thread_id: thread });
        await send(author, 'small');
        await untilHas(reader, 'small');
        expect(await contents(reader)).toEqual(['small']);
        expect(alpha.reports.filter((line) => line.includes('too large for the server'))).toHaveLength(1);
        expect((await healthOf(author)).not_sent).toBe(0);
      }),
    ));
});

// Three machines, each a process with its own HOME and network, through partitions and a killed server: afterwards
// every machine has the same messages, each once, in the order of their authors. `npm run test:full` adds more faults.
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { nanos } from '@nats-io/transport-node';
import { describe, expect, test } from 'vitest';
import { until } from '../../../support/nats/joinedHub.ts';
import { Machine } from '../../../support/nats/machine.ts';
import { hasNatsServer, NatsServer } from '../../../support/nats/natsServer.ts';
import { recordOf } from '../../../support/nats/rawRecords.ts';
import { runs } from '../../../support/runs.ts';
import { type TestClient } from '../../../support/testHub.ts';
import { hasFaketime } from '../../../support/walk/fakeTime.ts';

const NAMES = ['alpha', 'beta', 'gamma'] as const;
const AUTHORS = 4;
const isFull = runs(0, 1) === 1;
/** The number of messages of all machines together. */
const MESSAGES = runs(500, 10_000);

interface Author {
  readonly machine: Machine;
  readonly name: string;
  /** The first word of its messages; unique, also for agents with the same name on several machines. */
  readonly label: string;
  client: TestClient;
  sent: number;
}

interface Listed {
  readonly author: { readonly agent_id: string; readonly machine?: string };
  readonly body: { readonly content: string };
  readonly version: number;
}

async function listAll(client: TestClient): Promise<Listed[]> {
  const all: Listed[] = [];
  for (let after = 'c0', more = true; more; ) {
    const page = (await client.call('message.list', { after, limit: 100 })) as unknown as {
      messages: Listed[];
      after: string;
      more: boolean;
    };
    all.push(...page.messages);
    ({ after, more } = page);
  }
  return all;
}

/** Sends with a `client_id`, so that a message whose answer was lost with the hub is not sent twice. */
async function sendNext(author: Author): Promise<void> {
  const content = `${author.label} ${author.sent}`;
  const text = `${content} ${'.'.repeat(author.sent % 300)}`;
  await until(async () => {
    try {
      await author.client.call('message.send', { content: text, client_id: content });
      return true;
    } catch {
      author.client.close();
      author.client = await author.machine.agent(author.name).catch(() => author.client);
      return false;
    }
  });
  author.sent += 1;
}

/** A fault that happens while messages are sent. */
type Fault = (index: number) => Promise<void>;

async function sendAll(authors: readonly Author[], total: number, faults: ReadonlyMap<number, Fault>): Promise<void> {
  let sent = 0;
  const running: Promise<void>[] = [];
  const sendShare = async (author: Author) => {
    while (sent < total) {
      sent += 1;
      const now = faults.get(sent);
      if (now !== undefined) running.push(now(sent));
      await sendNext(author);
    }
  };
  await Promise.all(authors.map(sendShare));
  await Promise.all(running);
}

function pauseFor(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

function describeDifference(expected: readonly string[], found: readonly string[]): string {
  const [has, wanted] = [new Set(found), new Set(expected)];
  const missing = expected.filter((text) => !has.has(text));
  const foreign = found.filter((text) => !wanted.has(text));
  const twice = found.length - has.size;
  return `${missing.length} missing (${missing.slice(0, 3).join(', ')}), ${foreign.length} foreign, ${twice} twice`;
}

async function expectSameEverywhere(machines: readonly Machine[], authors: readonly Author[]): Promise<void> {
  const expected = authors.flatMap(({ label, sent }) =>
    Array.from({ length: sent }, (_, index) => `${label} ${index}`),
  );
  for (const machine of machines) {
    const reader = await machine.agent(`reader-${machine.name}`);
    await until(async () => ((await reader.call('health'))['messages'] as number) >= expected.length);
    const listed = await listAll(reader);
    const found = listed.map(({ body }) => body.content.split(' ').slice(0, 2).join(' '));
    expect(describeDifference(expected, found), machine.name).toBe('0 missing (), 0 foreign, 0 twice');
    for (const { label, sent } of authors) {
      const own = found.filter((text) => text.startsWith(`${label} `));
      const inOrder = Array.from({ length: sent }, (_, index) => `${label} ${index}`);
      expect(own, `${label} on ${machine.name}`).toEqual(inOrder);
    }
    reader.close();
  }
}

async function startAll(server: NatsServer, clocks: readonly (string | undefined)[]): Promise<Machine[]> {
  return Promise.all(NAMES.map((name, index) => Machine.start(name, server, { clock: clocks[index] })));
}

async function startAuthors(machines: readonly Machine[]): Promise<Author[]> {
  const authors: Author[] = [];
  for (const machine of machines) {
    for (let index = 0; index < AUTHORS; index += 1) {
      // The first author has the same name on all machines: one of them gets it, the others become known by another
      // name.
      const label = `${machine.name}${index}`;
      const name = index === 0 ? 'twin' : label;
      authors.push({ machine, name, label, client: await machine.agent(name), sent: 0 });
    }
  }
  return authors;
}

async function withMachines(
  clocks: readonly (string | undefined)[],
  use: (server: NatsServer, machines: Machine[], authors: Author[]) => Promise<void>,
): Promise<void> {
  const server = await NatsServer.start(NAMES);
  let machines: Machine[] = [];
  let authors: Author[] = [];
  try {
    machines = await startAll(server, clocks);
    authors = await startAuthors(machines);
    await use(server, machines, authors);
  } finally {
    for (const { client } of authors) client.close();
    for (const machine of machines) await machine.remove();
    await server.stop();
  }
}

/**
 * Publishes a forged record in the name of another machine's agent, and real records again, inside and outside the
 * duplicate window.
 */
async function publishAgain(server: NatsServer): Promise<void> {
  const [raw, admin] = [await server.connectAs('gamma'), await server.connectAsAdmin()];
  try {
    const client = jetstream(raw);
    const manager = await jetstreamManager(admin);
    const forged = recordOf('alpha1', 'forged 1');
    await client.publish('ear.team.msg.gamma.alpha1._', JSON.stringify(forged), { msgID: forged.event_id });
    const { state } = await manager.streams.info('EAR_team');
    for (const window of [24 * 3600_000, 100]) {
      await manager.streams.update('EAR_team', { duplicate_window: nanos(window) });
      for (let seq = state.last_seq; seq > Math.max(0, state.last_seq - 30); seq -= 1) {
        const message = await manager.streams.getMessage('EAR_team', { seq });
        if (message?.subject.startsWith('ear.team.msg.gamma.') !== true) continue;
        await client.publish(message.subject, message.data, { msgID: message.header.get('Nats-Msg-Id') });
      }
    }
    await manager.streams.update('EAR_team', { duplicate_window: nanos(24 * 3600_000) });
  } finally {
    await Promise.all([raw.close(), admin.close()]);
  }
}

const USUAL_TITLE = `${MESSAGES} messages, one partition, one server kill: the same messages everywhere, once, in order`;
const FULL_TITLE = `${MESSAGES} messages, clocks an hour apart, random partitions, sleep, killed hubs, and a server killed and without its store`;

function usualRun(): Promise<void> {
  return withMachines([], async (server, [alpha, beta, gamma], authors) => {
    if (alpha === undefined || beta === undefined || gamma === undefined) return;
    const faults = new Map<number, Fault>([
      [
        100,
        async () => {
          beta.proxy.cut();
          await pauseFor(300);
          beta.proxy.open();
        },
      ],
      [
        300,
        async () => {
          await server.kill();
          await server.start();
        },
      ],
    ]);
    await sendAll(authors, MESSAGES, faults);
    await expectSameEverywhere([alpha, beta, gamma], authors);
  });
}

function fullRun(): Promise<void> {
  return withMachines(['+0', '+1h', '-1h'], async (server, machines, authors) => {
    const random = seeded(20_261_117);
    const pick = () => machines[Math.floor(random() * machines.length)] as Machine;
    const faults = new Map<number, Fault>();
    const every = (step: number, first: number, one: Fault) => {
      for (let at = first; at < MESSAGES; at += step) faults.set(at, one);
    };
    let serverBusy: Promise<void> = Promise.resolve();
    const alone = (work: () => Promise<void>) => () => (serverBusy = serverBusy.then(work));
    every(700, 150, async () => {
      const { proxy } = pick();
      proxy.cut();
      await pauseFor(random() * 2000);
      proxy.open();
    });
    every(900, 333, async () => {
      const { proxy } = pick();
      proxy.stall();
      await pauseFor(random() * 7000);
      proxy.cut();
      proxy.open();
    });
    every(1100, 477, async () => {
      const { proxy } = pick();
      proxy.delay(random() * 40);
      await pauseFor(3000);
      proxy.delay(0);
    });
    every(2300, 801, async () => {
      const machine = pick();
      machine.sleep();
      await pauseFor(3000 + random() * 5000);
      machine.wake();
    });
    every(
      2100,
      1203,
      alone(async () => {
        await server.kill();
        await pauseFor(random() * 1000);
        await server.start();
      }),
    );
    every(
      4000,
      2999,
      alone(async () => {
        await server.kill();
        await server.deleteStore();
        await server.start();
        await server.setUp();
      }),
    );
    every(3000, 1999, async () => {
      const machine = pick();
      await machine.kill();
      await machine.start();
    });
    every(
      1300,
      650,
      alone(async () => {
        await Promise.race([publishAgain(server), pauseFor(5000)]).catch(() => undefined);
      }),
    );
    const start = performance.now();
    await sendAll(authors, MESSAGES, faults);
    const sent = performance.now();
    await serverBusy;
    await expectSameEverywhere(machines, authors);
    const seconds = (from: number) => ((performance.now() - from) / 1000).toFixed(0);
    process.stdout.write(
      `${MESSAGES} messages on ${machines.length} machines, ${faults.size} faults: sent in ${((sent - start) / 1000).toFixed(0)} s, the same everywhere ${seconds(sent)} s later\n`,
    );
  });
}

describe.skipIf(!hasNatsServer)('three machines', () => {
  if (isFull) test.skipIf(!hasFaketime)(FULL_TITLE, { timeout: 1_200_000 }, fullRun);
  else test(USUAL_TITLE, usualRun);
});

/** Pseudo-random numbers, so that each run has the same faults. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

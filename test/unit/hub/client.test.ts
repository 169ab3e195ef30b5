// Hub clients while the hub moves from one process to another: each message arrives exactly once.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { type HubAgentDeps } from '../../../src/hub/client/hubAgent.ts';
import { connectToHub, readAddress } from '../../../src/hub/client/hubConnection.ts';
import { HubMember } from '../../../src/hub/client/hubMember.ts';
import { startHubServer } from '../../../src/hub/hubServer.ts';
import { realFileSystem } from '../../../src/node/files/fileSystem.ts';
import { realClock } from '../../../src/node/realClock.ts';
import { atTestEnd } from '../../support/endings.ts';
import { createManualClock } from '../../support/manualClock.ts';
import { type ListeningAgent, listeningAgent, realHubDeps } from '../../support/testHub.ts';

let folder: string;
let members: HubMember[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'earshot-hub-'));
  members = [];
  atTestEnd(async () => {
    for (const member of members) await member.close();
    await rm(folder, { recursive: true, force: true });
  });
});

async function joinHub(): Promise<HubMember> {
  const member = new HubMember({
    clock: realClock,
    serve: () =>
      startHubServer({
        ...realHubDeps,
        folder,
        report: (message, error) => {
          throw new Error(message, { cause: error });
        },
      }),
    follow: async () => {
      const address = await readAddress(realFileSystem, folder);
      return (
        address &&
        connectToHub(
          address,
          () => undefined,
          () => undefined,
        )
      );
    },
    report: (message, error) => {
      throw new Error(message, { cause: error });
    },
  });
  members.push(member);
  await member.start();
  return member;
}

function agent(name: string, more: Partial<HubAgentDeps> = {}): ListeningAgent {
  const onAbsent = () => {
    for (const member of members) member.look().catch(() => undefined);
  };
  return listeningAgent({ folder, name, onAbsent, ...more });
}

test('one of two members serves the hub, and the other takes over when it leaves', async () => {
  const [first, second] = [await joinHub(), await joinHub()];
  expect([first.isServing, second.isServing]).toEqual([true, false]);
  const author = agent('author');
  const reader = agent('reader');
  reader.client.subscribe({ mentionRole: 'reader' });
  await Promise.all([author.client.connected(), reader.client.connected()]);
  await author.client.call('message.send', { content: 'one', mentions: ['reader'] });
  await expect.poll(() => reader.previews()).toEqual(['one']);
  await first.close();
  await expect.poll(() => second.isServing).toBe(true);
  await Promise.all([author.client.connected(), reader.client.connected()]);
  await author.client.call('message.send', { content: 'two', mentions: ['reader'] });
  await expect.poll(() => reader.previews()).toEqual(['one', 'two']);
});

test('messages sent while an agent is away are received once on its return, and only those for it', async () => {
  await joinHub();
  const author = agent('author');
  await author.client.connected();
  const first = agent('reader');
  first.client.subscribe({ scope: { type: 'file', value: 'a.ts' } });
  await first.client.connected();
  await author.client.call('message.send', { content: 'live', scopes: [{ type: 'file', value: 'a.ts' }] });
  await expect.poll(() => first.previews()).toEqual(['live']);
  const { cursor } = first.received.at(-1) ?? {};
  await first.client.close();
  await author.client.call('message.send', { content: 'missed', scopes: [{ type: 'file', value: 'a.ts' }] });
  await author.client.call('message.send', { content: 'other', scopes: [{ type: 'file', value: 'b.ts' }] });
  const second = agent('reader', { cursor });
  second.client.subscribe({ scope: { type: 'file', value: 'a.ts' } });
  await second.client.connected();
  await author.client.call('message.send', { content: 'live again', scopes: [{ type: 'file', value: 'a.ts' }] });
  await expect.poll(() => second.previews()).toEqual(['missed', 'live again']);
});

test('an agent can return although it missed more than a client may leave unread', async () => {
  await joinHub();
  const author = agent('author');
  await author.client.connected();
  const first = agent('reader');
  first.client.subscribe({});
  await first.client.connected();
  await author.client.call('message.send', { content: 'live' });
  await expect.poll(() => first.previews()).toEqual(['live']);
  await first.client.close();
  // Each character takes six on the wire.
  const content = '\0'.repeat(150_000);
  await Promise.all(Array.from({ length: 20 }, () => author.client.call('message.send', { content })));
  await author.client.call('message.send', { content: 'last' });
  const second = agent('reader', { cursor: first.received.at(-1)?.cursor });
  second.client.subscribe({});
  await expect.poll(() => second.previews().at(-1), { timeout: 20_000 }).toBe('last');
  expect(second.received).toHaveLength(21);
});

test('under load, with the hub restarted again and again, each message arrives exactly once and in order', async () => {
  const member = await joinHub();
  let current = member;
  const author = agent('author');
  const reader = agent('reader');
  reader.client.subscribe({});
  await Promise.all([author.client.connected(), reader.client.connected()]);
  const sent = 200;
  const sending = (async () => {
    for (let index = 0; index < sent; index++) {
      // A sender whose request was lost sends again with the same client_id.
      for (let done = false; !done; ) {
        await author.client.connected();
        done = await author.client.call('message.send', { content: String(index), client_id: `c${index}` }).then(
          () => true,
          () => false,
        );
      }
    }
  })();
  for (let round = 0; round < 3; round++) {
    await expect.poll(() => reader.received.length, { timeout: 30_000 }).toBeGreaterThan(round * 40);
    await current.close();
    current = await joinHub();
  }
  await sending;
  await expect.poll(() => reader.received.length, { timeout: 30_000 }).toBe(sent);
  expect(reader.previews()).toEqual(Array.from({ length: sent }, (_, index) => String(index)));
});

test('an agent receives mentions of its name and role made while it was away, whatever it subscribed to', async () => {
  await joinHub();
  const author = agent('author');
  await author.client.connected();
  const role = { role: 'tester', module: '', display: '' };
  const first = agent('reader', { agent: role });
  first.client.subscribe({ mentionRole: 'reviewer' });
  await first.client.connected();
  await author.client.call('message.send', { content: 'start', mentions: ['reviewer'] });
  await expect.poll(() => first.previews()).toEqual(['start']);
  await first.client.close();
  for (const mention of ['reader', 'tester', 'reviewer', 'other']) {
    await author.client.call('message.send', { content: mention, mentions: [mention] });
  }
  const second = agent('reader', { agent: role, cursor: first.received[0]?.cursor });
  second.client.subscribe({ mentionRole: 'reviewer' });
  await expect.poll(() => second.previews()).toEqual(['reader', 'tester', 'reviewer']);
  expect(second.received.map(({ matched_subscription: { match_type: match } }) => match)).toEqual([
    'mention',
    'mention',
    'mention',
  ]);
});

test('an agent whose hub lost its files starts again from the beginning of the new hub', async () => {
  const member = await joinHub();
  const author = agent('author');
  const reader = agent('reader');
  reader.client.subscribe({});
  await Promise.all([author.client.connected(), reader.client.connected()]);
  for (let index = 0; index < 20; index++) await author.client.call('message.send', { content: `old ${index}` });
  await expect.poll(() => reader.received.length).toBe(20);
  const { cursor } = reader.received.at(-1) ?? {};
  for (const one of [author, reader]) await one.client.close();
  await member.close();
  await rm(folder, { recursive: true });
  await joinHub();
  const other = agent('author');
  await other.client.connected();
  await other.client.call('message.send', { content: 'new' });
  const again = agent('reader', { cursor });
  again.client.subscribe({});
  await expect.poll(() => again.previews()).toEqual(['new']);
});

test('a member that cannot serve reports it once, and follows the serving member without polling', async () => {
  await joinHub();
  const reports: string[] = [];
  let tries = 0;
  const address = await readAddress(realFileSystem, folder);
  const clock = createManualClock();
  const member = new HubMember({
    clock,
    serve: async () => {
      tries += 1;
      throw new Error('no port is free');
    },
    follow: async () =>
      tries < 3 || address === undefined
        ? undefined
        : connectToHub(
            address,
            () => undefined,
            () => undefined,
          ),
    report: (message) => reports.push(message),
  });
  members.push(member);
  await member.start();
  await member.look();
  expect([tries, clock.waiting]).toEqual([2, 1]);
  clock.advance(2000);
  await expect.poll(() => tries).toBe(3);
  await member.look();
  expect([reports, clock.waiting]).toEqual([['the hub cannot be served'], 0]);
});

test('an agent that the hub refuses reports it once, and joins when it is accepted', async () => {
  await joinHub();
  const taken = agent('finch');
  await taken.client.connected();
  const reports: string[] = [];
  const clock = createManualClock();
  const second = agent('finch', { clock, report: (message) => reports.push(message) });
  await expect.poll(() => reports).toEqual(['the hub refuses this agent: name is in use']);
  for (let round = 0; round < 3; round++) {
    await expect.poll(() => clock.waiting).toBe(1);
    clock.advance(10_000);
  }
  await expect.poll(() => clock.waiting).toBe(1);
  await taken.client.close();
  clock.advance(10_000);
  await expect.poll(() => (clock.advance(10_000), second.client.isConnected)).toBe(true);
  expect(reports).toHaveLength(1);
});

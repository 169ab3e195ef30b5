// The hub of a window: on or off by settings, folder and trust; conversations join whenever it is on.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { toDisposable } from '../../../../src/base/disposable.ts';
import { type AgentConversation, type HubPlace, type OutgoingMessage } from '../../../../src/core/ports/agentHub.ts';
import { joinAsWindow } from '../../../../src/hub/agents/windowMembership.ts';
import { type HubOptions, WindowHub } from '../../../../src/vscode/hub/windowHub.ts';
import { atTestEnd } from '../../../support/endings.ts';
import { realHubDeps } from '../../../support/testHub.ts';
import { listAgents } from '../../../support/walk/hubWalks.ts';

interface TestWindow {
  readonly hub: WindowHub;
  /** How often the hub's code was loaded. */
  joins(): number;
  set(options: Partial<HubOptions> | undefined): Promise<void>;
}

async function openWindow(home: string): Promise<TestWindow> {
  const base: HubOptions = { folder: home, role: '', port: 0, identity: '', allowedOrigins: [] };
  let options: HubOptions | undefined;
  let joins = 0;
  const hub = new WindowHub({
    options: () => options,
    join: (chosen, events) => {
      joins += 1;
      return joinAsWindow({
        ...realHubDeps,
        ...chosen,
        workspaceFolder: chosen.folder,
        home,
        identity: undefined,
        toScope: (path) => path,
        ...events,
      });
    },
    report: (message, error) => {
      throw new Error(message, { cause: error });
    },
  });
  atTestEnd(async () => {
    await hub.close();
    hub.dispose();
  });
  return {
    hub,
    joins: () => joins,
    set: (next) => {
      options = next && { ...base, ...next };
      return hub.refresh();
    },
  };
}

function conversation(id: string): AgentConversation {
  const places = new Map<string, HubPlace>();
  const never = () => toDisposable(() => undefined);
  return {
    id,
    title: () => id,
    seenPaths: () => [],
    place: (hub) => places.get(hub),
    name: () => [...places.values()][0]?.name,
    remember: async (hub, place) => void places.set(hub, place),
    onDidChangeTitle: never,
    onDidSee: never,
  };
}

async function makeHome(): Promise<string> {
  const home = await mkdtemp(join(tmpdir(), 'earshot-window-'));
  atTestEnd(() => rm(home, { recursive: true, force: true }));
  return home;
}

async function send(hub: WindowHub, conversation: string, message: OutgoingMessage) {
  const agent = hub.agentOf(conversation);
  return agent.ok ? agent.value.send(message) : agent;
}

const hello = { content: 'Hello.', to: ['x'], files: [] };

test('without a folder, trust or the setting nothing is loaded, and the tools say why', async () => {
  const { hub, joins, set } = await openWindow(await makeHome());
  await set(undefined);
  const member = hub.join(conversation('one'));
  expect([joins(), hub.isOn, hub.nameOf('one')]).toEqual([0, false, undefined]);
  expect(await send(hub, 'one', hello)).toMatchObject({ ok: false, failure: { code: 'hub_off' } });
  expect(await listAgents(hub, 'one')).toMatchObject({ ok: false, failure: { code: 'hub_off' } });
  await hub.forget(['x']);
  member.dispose();
});

test('a conversation that was open before joins when the hub is switched on, keeps its name, and leaves when it is switched off', async () => {
  const { hub, set } = await openWindow(await makeHome());
  const member = hub.join(conversation('one'));
  const changed: boolean[] = [];
  const listening = hub.onDidChange(() => changed.push(hub.isOn));
  await set({});
  await expect.poll(() => hub.nameOf('one')).toBeDefined();
  const name = hub.nameOf('one');
  expect(changed[0]).toBe(true);
  await set(undefined);
  expect([hub.isOn, hub.nameOf('one')]).toEqual([false, undefined]);
  await set({ role: 'reviewer' });
  expect(hub.nameOf('one')).toBe(name);
  await expect
    .poll(async () => {
      const listed = await listAgents(hub, 'one');
      return listed.ok ? listed.value.map((agent) => [agent.name, agent.role, agent.live]) : listed.failure.code;
    })
    .toContainEqual([name, 'reviewer', true]);
  listening.dispose();
  member.dispose();
});

test('the user is on the hub as soon as the window is: a message to the user is stored and unread', async () => {
  const { hub, set } = await openWindow(await makeHome());
  const member = hub.join(conversation('one'));
  await set({});
  const users = async () => {
    const listed = await listAgents(hub, 'one');
    return listed.ok ? listed.value.filter(({ role, live }) => role === 'user' && live) : [];
  };
  await expect.poll(async () => (await users()).length).toBe(1);
  const [user] = await users();
  const to = [user?.name ?? ''];
  expect(await send(hub, 'one', { content: 'Which tea?', to, files: [] })).toMatchObject({ ok: true });
  expect((await hub.user()?.overview())?.threads).toMatchObject([{ preview: 'Which tea?', unread_count: 1 }]);
  member.dispose();
});

test('after many changes at once the last one applies', async () => {
  const { hub, joins, set } = await openWindow(await makeHome());
  const steps = [{}, undefined, { role: 'a' }, { role: 'b' }, undefined, { role: 'c' }].map((next) => set(next));
  await Promise.all(steps);
  expect([hub.isOn, joins()]).toEqual([true, 1]);
});

test('a window that closes releases the hub at once for the next', async () => {
  const home = await makeHome();
  const [one, two] = [await openWindow(home), await openWindow(home)];
  await one.set({});
  await two.set({});
  const member = two.hub.join(conversation('two'));
  await expect.poll(() => two.hub.nameOf('two')).toBeDefined();
  await one.hub.close();
  await expect.poll(async () => (await listAgents(two.hub, 'two')).ok).toBe(true);
  member.dispose();
});

test('every window reports unsent messages to other machines: the serving one, a following one, and the one that takes over', async () => {
  const home = await makeHome();
  // No server listens at this address.
  const machines = { server: 'nats://127.0.0.1:1', name: 'team', machine: 'alpha', credentials: '' };
  const [one, two] = [await openWindow(home), await openWindow(home)];
  await one.set({ machines });
  await two.set({ machines });
  const member = two.hub.join(conversation('one'));
  await expect.poll(() => two.hub.nameOf('one')).toBeDefined();
  await expect.poll(() => send(two.hub, 'one', { ...hello, to: [], files: ['a.ts'] })).toMatchObject({ ok: true });
  const waits = {
    server: { state: 'connecting', error: expect.stringContaining('cannot be reached') as string },
    not_sent: 1,
    stream_full: false,
  };
  for (const { hub } of [one, two]) await expect.poll(() => hub.link).toMatchObject(waits);
  expect(await two.hub.readState()).toMatchObject({
    messages: 1,
    pid: process.pid,
    link: waits,
    agents: expect.arrayContaining([expect.objectContaining({ display: 'one', live: true })]) as unknown,
  });
  await one.hub.close();
  expect(one.hub.link).toBeUndefined();
  await expect.poll(() => two.hub.link).toMatchObject(waits);
  member.dispose();
});

test('a server without a name is not used, and the window shows why', async () => {
  const { hub, set } = await openWindow(await makeHome());
  await set({ machines: { server: 'nats://127.0.0.1:1', name: '', machine: '', credentials: '' } });
  await expect
    .poll(() => hub.link?.server)
    .toMatchObject({ state: 'refused', error: expect.stringContaining('earshot.hub.name is missing') as string });
  await set({});
  expect(hub.link).toBeUndefined();
});

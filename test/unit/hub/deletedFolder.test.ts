// The folder of a hub is deleted while processes use it: it is made again, and everybody meets on one hub.
import { mkdtemp, rm, stat, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as sqlite from 'node:sqlite';
import { expect, test } from 'vitest';
import { joinHub, type Membership } from '../../../src/hub/agents/windowMembership.ts';
import { HubAgent } from '../../../src/hub/client/hubAgent.ts';
import { type ReceivedMessage } from '../../../src/hub/client/receivedMessage.ts';
import { realFileSystem } from '../../../src/node/files/fileSystem.ts';
import { tryKernelLock } from '../../../src/node/kernelLock.ts';
import { realClock } from '../../../src/node/realClock.ts';
import { realIds } from '../../../src/node/realIds.ts';
import { atTestEnd } from '../../support/endings.ts';

async function createHome() {
  const home = await mkdtemp(join(tmpdir(), 'earshot-home-'));
  atTestEnd(() => rm(home, { recursive: true, force: true }));
  const windows: Membership[] = [];
  const openWindow = async (): Promise<Membership> => {
    const window = await joinHub({
      files: realFileSystem,
      clock: realClock,
      tryLock: tryKernelLock,
      sqlite,
      workspaceFolder: home,
      home,
      version: 'test',
      port: 0,
      allowedOrigins: [],
      ulid: () => realIds.ulid(),
      report: () => undefined,
    });
    atTestEnd(async () => {
      window.link.dispose();
      await window.member.close();
    });
    windows.push(window);
    return window;
  };
  const addAgent = ({ folder, member }: Membership, name: string) => {
    const agent = new HubAgent({
      files: realFileSystem,
      folder,
      clock: realClock,
      name,
      agent: { role: '', module: '', display: '' },
      report: () => undefined,
      onAbsent: () => void member.look().catch(() => undefined),
    });
    agent.subscribe({ mentionRole: name });
    const received: ReceivedMessage[] = [];
    const listening = agent.onMessage((message) => received.push(message));
    atTestEnd(async () => {
      listening.dispose();
      await agent.close();
    });
    return { agent, previews: () => received.map(({ preview }) => preview) };
  };
  const deleteFolder = () => rm(join(home, '.earshot'), { recursive: true });
  const serving = () => windows.filter(({ member }) => member.isServing).length;
  return { home, openWindow, addAgent, deleteFolder, serving };
}

const mode = async (path: string) => (await stat(path)).mode & 0o777;

test('a new agent of the window that serves the hub is served again, and older agents are on the same hub', async () => {
  const { openWindow, addAgent, deleteFolder } = await createHome();
  const window = await openWindow();
  const older = addAgent(window, 'older');
  await older.agent.connected();
  await deleteFolder();
  const newer = addAgent(window, 'newer');
  await newer.agent.connected();
  expect(await mode(window.folder)).toBe(0o700);
  await expect.poll(() => older.agent.isConnected).toBe(true);
  const send = () => newer.agent.call('message.send', { content: 'tea?', mentions: ['older'] });
  await expect.poll(() => send().then(() => older.previews()[0])).toBe('tea?');
  expect(window.member.isServing).toBe(true);
});

test('without any new agent, the serving window notices the deletion', async () => {
  const { openWindow, addAgent, deleteFolder } = await createHome();
  const window = await openWindow();
  const older = addAgent(window, 'older');
  await older.agent.connected();
  await deleteFolder();
  await expect.poll(() => mode(window.folder).catch(() => undefined)).toBe(0o700);
  await expect.poll(() => older.agent.isConnected).toBe(true);
});

test('the agents of two windows meet on one hub again', async () => {
  const { openWindow, addAgent, deleteFolder, serving } = await createHome();
  const [first, second] = [await openWindow(), await openWindow()];
  const [one, two] = [addAgent(first, 'one'), addAgent(second, 'two')];
  await Promise.all([one.agent.connected(), two.agent.connected()]);
  await deleteFolder();
  const late = addAgent(second, 'late');
  await late.agent.connected();
  const send = () =>
    late.agent.call('message.send', { content: 'tea?', mentions: ['one', 'two'] }).catch(() => undefined);
  await expect.poll(() => send().then(() => [one.previews()[0], two.previews()[0]])).toEqual(['tea?', 'tea?']);
  await expect.poll(serving).toBe(1);
});

test('a hub whose socket alone was deleted is served again', async () => {
  const { openWindow, addAgent } = await createHome();
  const window = await openWindow();
  await unlink(join(window.folder, 'hub.sock'));
  await addAgent(window, 'newer').agent.connected();
  expect(window.member.isServing).toBe(true);
});

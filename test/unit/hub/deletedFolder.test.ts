// The folder of a hub is deleted while processes use it: it is made again, and everybody meets on one hub.
import { mkdtemp, rm, stat, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Membership } from '../../../src/hub/client/joinHub.ts';
import { atTestEnd } from '../../support/endings.ts';
import { joinHubOf, listeningAgent } from '../../support/testHub.ts';

async function createHome() {
  const home = await mkdtemp(join(tmpdir(), 'earshot-home-'));
  atTestEnd(() => rm(home, { recursive: true, force: true }));
  const deleteFolder = () => rm(join(home, '.earshot'), { recursive: true });
  return { openWindow: () => joinHubOf(home), deleteFolder };
}

function addAgent({ folder, member }: Membership, name: string) {
  const added = listeningAgent({ folder, name, onAbsent: () => void member.look().catch(() => undefined) });
  added.client.subscribe({ mentionRole: name });
  return added;
}

/** A window with an agent that was on the hub before its folder was deleted. */
async function beginDeleted() {
  const { openWindow, deleteFolder } = await createHome();
  const window = await openWindow();
  const older = addAgent(window, 'older');
  await older.client.connected();
  await deleteFolder();
  return { window, older };
}

const mode = async (path: string) => (await stat(path)).mode & 0o777;

test('a new agent of the window that serves the hub is served again, and older agents are on the same hub', async () => {
  const { window, older } = await beginDeleted();
  const newer = addAgent(window, 'newer');
  await newer.client.connected();
  expect(await mode(window.folder)).toBe(0o700);
  await expect.poll(() => older.client.isConnected).toBe(true);
  const send = () => newer.client.call('message.send', { content: 'tea?', mentions: ['older'] });
  await expect.poll(() => send().then(() => older.previews()[0])).toBe('tea?');
  expect(window.member.isServing).toBe(true);
});

test('without any new agent, the serving window notices the deletion', async () => {
  const { window, older } = await beginDeleted();
  await expect.poll(() => mode(window.folder).catch(() => undefined)).toBe(0o700);
  await expect.poll(() => older.client.isConnected).toBe(true);
});

test('the agents of two windows meet on one hub again', async () => {
  const { openWindow, deleteFolder } = await createHome();
  const [first, second] = [await openWindow(), await openWindow()];
  const [one, two] = [addAgent(first, 'one'), addAgent(second, 'two')];
  await Promise.all([one.client.connected(), two.client.connected()]);
  await deleteFolder();
  const late = addAgent(second, 'late');
  await late.client.connected();
  const send = () =>
    late.client.call('message.send', { content: 'tea?', mentions: ['one', 'two'] }).catch(() => undefined);
  await expect.poll(() => send().then(() => [one.previews()[0], two.previews()[0]])).toEqual(['tea?', 'tea?']);
  await expect.poll(() => [first, second].filter(({ member }) => member.isServing).length).toBe(1);
});

test('a hub whose socket alone was deleted is served again', async () => {
  const { openWindow } = await createHome();
  const window = await openWindow();
  await unlink(join(window.folder, 'hub.sock'));
  await addAgent(window, 'newer').client.connected();
  expect(window.member.isServing).toBe(true);
});

// Whichever program is killed, an outside agent is notified exactly once: what was not delivered is offered again.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { hubFolder } from '../../../src/node/hubFolder.ts';
import { type HostMessage } from '../../../src/protocol/plugin.ts';
import { compileCache } from '../../support/compileCache.ts';
import { atTestEnd } from '../../support/endings.ts';
import { startMcpAgent, useTool } from '../../support/plugins/outsideAgents.ts';
import {
  changedTo,
  MENU,
  makeOutsideFolders,
  openOutsideWorld,
  type OutsideFolders,
  readFileAs,
} from '../../support/plugins/outsideWorld.ts';
import { attachRaw } from '../../support/plugins/rawPlugin.ts';
import { runs } from '../../support/runs.ts';

const program = resolve(import.meta.dirname, '../../support/plugins/listeningWindow.ts');

async function startWindow({ root, home }: OutsideFolders): Promise<ChildProcess> {
  const env = { PATH: process.env['PATH'] ?? '', HOME: home, EARSHOT_HOME: home, ...compileCache };
  const child = spawn(process.execPath, ['--no-warnings', program, root], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  atTestEnd(async () => void child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  return child;
}

async function kill(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}

async function socketOf({ folder, home }: OutsideFolders, pid?: number): Promise<string> {
  const sockets = await hubFolder(folder, home);
  const names = (await readdir(sockets)).filter((name) => (pid === undefined ? true : name.includes(String(pid))));
  return join(sockets, names.find((name) => name.endsWith('.sock')) ?? '');
}

const textOf = (message: HostMessage) => (message.type === 'pending' ? message.text : '');
const attach = { type: 'attach', name: 'claude-code', version: '1', listener: 'claude-code', session: 's1' };

test('notifications offered to a program that dies are offered again to the next one that asks', async () => {
  const world = await openOutsideWorld();
  await readFileAs(world);
  await world.write('src/menu.txt', `${MENU}milk\n`);
  await world.event(changedTo('+milk'));
  const dying = await attachRaw(await socketOf(world), attach);
  await dying.next('init');
  const given = await dying.ask({ type: 'pending' });
  expect(textOf(given)).toContain('+milk');
  // While the first program lives, its notifications are not offered to another.
  expect(await useTool(world)).toBe('');
  dying.destroy();
  await dying.closed;
  const other = await attachRaw(await socketOf(world), attach);
  await other.next('init');
  // The bytes must be the same as before.
  const again = await other.ask({ type: 'pending' });
  expect(textOf(again)).toBe(textOf(given));
  expect(await other.ask({ type: 'delivered', through: 'through' in again ? again.through : 0 })).toMatchObject({
    type: 'done',
  });
  other.destroy();
  expect(await useTool(world)).toBe('');
  expect(world.window.errors).toEqual([]);
});

test('what a killed MCP server has not returned is delivered by the next one', async () => {
  const world = await openOutsideWorld();
  const first = await startMcpAgent(world);
  await first.call('watch', { files: ['src/menu.txt'] });
  const waiting = first.call('wait_for_notification', { timeout_seconds: 600 }).catch(() => 'killed');
  process.kill(first.pid, 'SIGKILL');
  expect(await waiting).toBe('killed');
  await world.write('src/menu.txt', `${MENU}milk\n`);
  await world.event(changedTo('+milk'));
  const second = await startMcpAgent(world);
  expect(await second.call('pending_notifications')).toContain('+milk');
  expect(await second.call('pending_notifications')).toBe('No notifications.');
});

// `npm test` runs this once; the moment of the kill is random.
test.each(Array.from({ length: runs(1, 5) }, (_, index) => index))(
  'a killed window loses nothing that it had queued or offered (%i)',
  async () => {
    const folders = await makeOutsideFolders();
    const first = await startWindow(folders);
    expect(await readFileAs(folders)).toBe('');
    const watching = await attachRaw(await socketOf(folders, first.pid), attach);
    await watching.next((message) => message.type === 'pending_changed' && message.count === 0);
    await folders.write('src/menu.txt', `${MENU}milk\n`);
    await watching.next((message) => message.type === 'pending_changed' && message.count > 0);
    // Offered, but not confirmed as delivered.
    expect(textOf(await watching.ask({ type: 'pending' }))).toContain('+milk');
    await kill(first);
    expect(await useTool(folders)).toBe('');
    await folders.write('src/menu.txt', `${MENU}milk\njuice\n`);
    const second = await startWindow(folders);
    const texts: string[] = [];
    for (const event of ['SessionStart', 'PostToolUse']) texts.push(await useTool(folders, { event }));
    // The first text repeats what was offered before; the later change follows, now or with the next call.
    expect(texts[0]).toContain('+milk');
    expect(texts.join('\n').match(/^\+milk\b/gm)).toHaveLength(1);
    const again = await attachRaw(await socketOf(folders, second.pid), attach);
    if (!texts.join('').includes('+juice')) {
      await again.next((message) => message.type === 'pending_changed' && message.count > 0);
      texts.push(await useTool(folders));
    }
    texts.push(await useTool(folders));
    expect(texts.join('\n').match(/^\+juice\b/gm)).toHaveLength(1);
    again.destroy();
  },
);

// Outside agents get notifications of the workspace through the MCP server and the hook: everything once, nothing lost.
import { execFileSync } from 'node:child_process';
import { mkdir, unlink } from 'node:fs/promises';
import { devNull } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openListeningWindow } from '../../support/plugins/listeningWindow.ts';
import { runRawHook, startMcpAgent, useTool } from '../../support/plugins/outsideAgents.ts';
import { changedTo, MENU, openOutsideWorld, queuedAs, readFileAs } from '../../support/plugins/outsideWorld.ts';
import { runs } from '../../support/runs.ts';

function git(folder: string, ...args: readonly string[]): void {
  const env = { ...process.env, GIT_CONFIG_GLOBAL: devNull, GIT_CONFIG_NOSYSTEM: '1' };
  const user = ['-c', 'user.name=A', '-c', 'user.email=a@example.com'];
  execFileSync('git', ['-C', folder, ...user, ...args], { env, stdio: 'pipe' });
}

test('an MCP client sees a change, a deletion, a new file, a failed task and a switched branch once each', async () => {
  const world = await openOutsideWorld();
  const { folder, write, event, window } = world;
  git(folder, 'init', '-q', '--initial-branch=main');
  await write('src/list.txt', 'one\n');
  git(folder, 'add', '-A');
  git(folder, 'commit', '-qm', 'one');
  git(folder, 'branch', 'other');
  const agent = await startMcpAgent(world, { modern: true });
  expect((await agent.client.listTools()).tools.map(({ name }) => name)).toEqual([
    ...['watch', 'wake_when', 'pending_notifications', 'wait_for_notification', 'read_notifications'],
  ]);
  expect(await agent.call('pending_notifications')).toBe('No notifications.');
  const files = ['src/menu.txt', join(folder, 'src/list.txt')];
  expect(await agent.call('watch', { files, add: ['docs/**/*.md'] })).toBe('Followed: 2 files. Watched: docs/**/*.md.');

  const waiting = agent.call('wait_for_notification', { timeout_seconds: 60 });
  await write('src/menu.txt', MENU.replace('coffee', 'cocoa'));
  const change = await waiting;
  expect(change).toContain('<notification source="file" name="changed" level="warning" key="');
  expect(change).toContain('-coffee\n+cocoa');
  expect(await agent.call('pending_notifications')).toBe('No notifications.');

  await unlink(join(folder, 'src/menu.txt'));
  await event(queuedAs('file.deleted', 'file:src/menu.txt'));
  await mkdir(join(folder, 'docs'));
  await write('docs/new.md', '# New\n');
  await event(queuedAs('file.created', 'file:docs/new.md'));
  await window.headless.earshot.publish({
    kind: { source: 'task', name: 'ended' },
    level: 'error',
    message: 'The task “build” of the user failed with exit code 1 after 3 s.',
    subject: 'task:build',
    scopes: ['task:build'],
    origin: 'process',
    at: new Date().toISOString(),
  });
  const block = await agent.call('pending_notifications');
  for (const part of ['src/menu.txt, which you read, is no longer there', 'docs/new.md', 'failed with exit code 1'])
    expect(block).toContain(part);
  expect(await agent.call('pending_notifications')).toBe('No notifications.');

  await agent.call('watch', { files: ['src/list.txt'] });
  git(folder, 'switch', '-q', 'other');
  await write('src/list.txt', 'two\n');
  git(folder, 'commit', '-qam', 'two');
  git(folder, 'switch', '-q', 'main');
  git(folder, 'switch', '-q', 'other');
  expect(await agent.call('wait_for_notification', { timeout_seconds: 60 })).toMatch(/branch|src\/list\.txt/);
  const all = await agent.call('read_notifications', { kind: 'task' });
  expect(all).toMatch(/task\.ended \[error\].*\(delivered\):\n> The task/);
  const { contents } = await agent.client.readResource({ uri: 'earshot://notifications' });
  expect(JSON.stringify(contents)).toContain('file.deleted [warning]');
  expect(window.errors).toEqual([]);
});

test('the hook reports changes against what was read, once for each session, but neither own edits nor reverted changes', async () => {
  const world = await openOutsideWorld();
  const { write, event, folder } = world;
  expect(await readFileAs(world)).toBe('');
  await write('src/menu.txt', MENU.replace('coffee', 'cocoa'));
  await event(changedTo('+cocoa'));
  expect(await readFileAs(world, 'src/menu.txt', 's2')).toBe('');
  const delivered = await useTool(world);
  expect(delivered).toContain('-coffee\n+cocoa');
  expect(await useTool(world)).toBe('');

  // An edit by the agent itself, as Claude's tool makes it.
  await write('src/menu.txt', MENU.replace('coffee', 'juice'));
  expect(await useTool(world, { tool: 'Edit', input: { file_path: join(folder, 'src/menu.txt') } })).toBe('');
  // The other session has read the earlier version.
  await event(changedTo('+juice'));
  expect(await useTool(world, { session: 's2' })).toContain('-cocoa\n+juice');

  // A change that is reverted before anybody is notified.
  await write('src/menu.txt', 'spilled\n');
  await event(changedTo('spilled'));
  const back = event(({ type }) => type === 'notification_withdrawn');
  await write('src/menu.txt', MENU.replace('coffee', 'juice'));
  await back;
  expect(await useTool(world, { event: 'UserPromptSubmit' })).toBe('');
  expect(world.window.errors).toEqual([]);
});

test('the hook reports somebody else’s change if the agent edited the file without having seen that change', async () => {
  const world = await openOutsideWorld();
  const { write, event, folder } = world;
  expect(await readFileAs(world)).toBe('');
  await write('src/menu.txt', `${MENU}soda\n`);
  await event(changedTo('+soda'));
  await write('src/menu.txt', `${MENU}soda\ncider\n`);
  await event(changedTo('+cider'));
  const edited = await useTool(world, { tool: 'Edit', input: { file_path: join(folder, 'src/menu.txt') } });
  expect(edited).toContain('+soda');
  expect(await useTool(world)).toBe('');
  expect(world.window.errors).toEqual([]);
});

test('MCP server and hook of one agent are one listener: only one of them delivers a notification, also after a restart', async () => {
  const world = await openOutsideWorld();
  const { write, event } = world;
  const agent = await startMcpAgent(world);
  expect(await agent.call('pending_notifications')).toBe('No notifications.');
  await readFileAs(world);
  await write('src/menu.txt', `${MENU}milk\n`);
  await event(changedTo('+milk'));
  expect(await agent.call('pending_notifications')).toContain('+milk');
  expect(await useTool(world, { tool: 'mcp__earshot__pending_notifications' })).toBe('');
  await write('src/menu.txt', `${MENU}milk\njuice\n`);
  await event(changedTo('+juice'));
  expect(await useTool(world)).toContain('+juice');
  expect(await agent.call('pending_notifications')).toBe('No notifications.');
  expect(world.window.listeners.live).toHaveLength(1);

  await world.window.close();
  expect(await agent.call('pending_notifications')).toContain('Nothing is running');
  expect(await useTool(world)).toBe('');
  await write('src/menu.txt', MENU);
  world.window = await openListeningWindow(world.root, { home: world.home });
  await event(changedTo('-milk'));
  expect(await useTool(world, { event: 'SessionStart' })).toContain('-milk\n-juice');
  expect(await agent.call('pending_notifications')).toBe('No notifications.');
  expect(world.window.listeners.live).toHaveLength(1);
});

test.each([false, true])(
  'a client that subscribes to the resource is notified of a change; a cancelled wait consumes nothing (modern: %s)',
  async (modern) => {
    const world = await openOutsideWorld();
    const agent = await startMcpAgent(world, { modern });
    const uri = 'earshot://notifications';
    const updated = Promise.withResolvers<string>();
    agent.client.setNotificationHandler('notifications/resources/updated', ({ params }) => updated.resolve(params.uri));
    if (modern) await agent.client.listen({ resourceSubscriptions: [uri] });
    else await agent.client.subscribeResource({ uri });
    await agent.call('watch', { files: ['src/menu.txt'] });
    const aborter = new AbortController();
    const waiting = agent.call('wait_for_notification', { timeout_seconds: 600 }, aborter.signal);
    aborter.abort();
    await expect(waiting).rejects.toThrow();
    await world.write('src/menu.txt', `${MENU}milk\n`);
    expect(await updated.promise).toBe(uri);
    await world.event(changedTo('+milk'));
    expect(await agent.call('pending_notifications')).toContain('+milk');
  },
);

test('an agent in a subfolder gets the notifications of the workspace folder, and the folder that paths are relative to', async () => {
  const world = await openOutsideWorld();
  const place = { ...world, folder: join(world.folder, 'src') };
  await useTool(place, { tool: 'Read', input: { file_path: 'menu.txt' } });
  await world.write('src/menu.txt', `${MENU}milk\n`);
  await world.event(changedTo('+milk'));
  const text = await useTool(place);
  expect(text).toContain(`Paths in this block are relative to ${world.folder}.\n<notification`);
  expect(text).toContain('src/menu.txt');
});

test('many hooks at once deliver a notification once', async () => {
  const world = await openOutsideWorld();
  await readFileAs(world);
  await world.write('src/menu.txt', `${MENU}milk\n`);
  await world.event(changedTo('+milk'));
  const input = JSON.stringify({ session_id: 's1', cwd: world.folder, hook_event_name: 'PostToolUse' });
  // Some hooks run as processes, the others in this one.
  const processes = Array.from({ length: runs(3, 50) }, () => runRawHook(world, input));
  const here = Array.from({ length: 50 }, () => useTool(world));
  const ends = await Promise.all(processes);
  for (const { code, errors } of ends) expect([code, errors]).toEqual([0, '']);
  const texts = [...(await Promise.all(here)), ...ends.map(({ output }) => output)];
  expect(texts.filter((text) => text.includes('+milk'))).toHaveLength(1);
  expect(texts.filter((text) => text === '')).toHaveLength(texts.length - 1);
});

// What outside agents must not cause: a hook that fails or blocks its agent, private files in notifications, a question
// for every call.
import { spawn } from 'node:child_process';
import { chmod, mkdir, rename, symlink, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { hubFolder } from '../../../src/node/hubFolder.ts';
import { findSockets } from '../../../src/plugins/client/windowSockets.ts';
import { listenPrivately } from '../../../src/node/privateSocket.ts';
import { readHookInput } from '../../../src/plugins/hook/hookInput.ts';
import { compileCache } from '../../support/compileCache.ts';
import { atTestEnd } from '../../support/endings.ts';
import { type AgentPlace, runRawHook, startMcpAgent, useTool } from '../../support/plugins/outsideAgents.ts';
import {
  changedTo,
  MENU,
  makeOutsideFolders,
  openOutsideWorld,
  readFileAs,
} from '../../support/plugins/outsideWorld.ts';
import { attachRaw } from '../../support/plugins/rawPlugin.ts';
import { isFull } from '../../support/runs.ts';

const nothing = { code: 0, output: '', errors: '' };

test('the hook succeeds and does nothing for invalid, huge or deeply nested input, and without a window', async () => {
  const world = await openOutsideWorld();
  const valid = { session_id: 's1', cwd: world.folder, hook_event_name: 'PostToolUse', tool_name: 'Read' };
  const inputs = [
    '',
    'no json',
    '[]',
    'null',
    '{"session_id": 1, "cwd": [], "hook_event_name": {}}',
    Buffer.from([0xff, 0xfe, 0x00]),
    `${'['.repeat(100_000)}${']'.repeat(100_000)}`,
    JSON.stringify({ ...valid, tool_response: 'x'.repeat(50_000_000) }),
    JSON.stringify({ ...valid, tool_input: { file_path: '/dev/zero' } }),
    JSON.stringify({ ...valid, tool_input: { file_path: '../../etc/passwd', offset: -1, limit: 1e99 } }),
    JSON.stringify({ ...valid, tool_input: { file_path: 'a\0b' } }),
    JSON.stringify({ ...valid, hook_event_name: '__proto__', tool_input: { __proto__: { file_path: 'x' } } }),
    JSON.stringify({ ...valid, session_id: 'x'.repeat(100_000), cwd: '/' }),
  ];
  // `npm test` runs only the inputs that are expensive to read; the others are passed to `readHookInput` below.
  for (const input of isFull ? inputs : inputs.slice(6, 9)) expect(await runRawHook(world, input)).toEqual(nothing);
  for (const input of inputs.slice(0, 7)) expect(readHookInput(input.toString())).toBeUndefined();
  expect(world.window.errors).toEqual([]);
  expect(world.window.listeners.live.flatMap(({ log }) => [...log.state.seen.paths()])).toEqual([]);
  await world.window.close();
  expect(await runRawHook(world, JSON.stringify(valid))).toEqual(nothing);
});

test('private files, files outside the workspace and links out of it are not followed', async () => {
  const world = await openOutsideWorld();
  await world.write('.env', 'TOKEN=1\n');
  await world.write('.earshotignore', 'secret/\n');
  await mkdir(join(world.folder, 'secret'));
  await world.write('secret/plan.txt', 'a\n');
  await writeFile(join(world.root, 'outside.txt'), 'a\n');
  await symlink(join(world.root, 'outside.txt'), join(world.folder, 'link.txt'));
  const paths = ['.env', 'secret/plan.txt', '../outside.txt', 'link.txt'];
  await Promise.all(paths.map((path) => readFileAs(world, path)));
  const agent = await attachRaw((await findWindowsIn(world))[0] ?? '', {
    ...{ type: 'attach', name: 'claude-code', version: '1', listener: 'claude-code', session: 's1' },
  });
  await agent.next('init');
  for (const path of paths) {
    const refused = await agent.ask({ type: 'seen', path: join(world.folder, path), hash: '0'.repeat(64) });
    expect(refused).toMatchObject({ type: 'error', request: 'seen' });
  }
  // A listener cannot use requests of plugins, and gets no conversation's key.
  const conversation = await world.window.headless.earshot.create();
  if (!conversation.ok) throw new Error(conversation.failure.message);
  for (const request of [{ type: 'list_conversations' }, { type: 'read_config' }, { type: 'notify' }]) {
    expect(await agent.ask(request)).toMatchObject({ type: 'error' });
  }
  expect(agent.lines.join('\n')).not.toContain(conversation.value.log.state.turn.key);
  agent.destroy();
  expect(world.window.listeners.live.flatMap(({ log }) => [...log.state.seen.paths()])).toEqual([]);
});

async function findWindowsIn({ folder, home }: AgentPlace): Promise<readonly string[]> {
  return (await findSockets(folder, home)).map(({ path }) => path);
}

test('the user is asked once, nobody waits for the answer, and an untrusted workspace reports nothing', async () => {
  const { promise, resolve: answer } = Promise.withResolvers<boolean>();
  let trusted = true;
  const world = await openOutsideWorld({ allows: () => promise, trusted: () => trusted });
  expect(await Promise.all([useTool(world), useTool(world), useTool(world)])).toEqual(['', '', '']);
  const agent = await startMcpAgent(world);
  expect(await agent.call('pending_notifications')).toContain('The user is asked in VS Code whether claude-code may');
  expect(world.window.asked).toEqual(['claude-code']);
  answer(true);
  await expect.poll(() => agent.call('pending_notifications')).toBe('No notifications.');
  await readFileAs(world);
  trusted = false;
  expect(await useTool(world)).toBe('');
  trusted = true;
  await readFileAs(world);
  await world.write('src/menu.txt', `${MENU}milk\n`);
  await world.event(changedTo('+milk'));
  expect(await useTool(world)).toContain('+milk');
  expect(world.window.asked).toEqual(['claude-code']);
});

test('the user is not asked again about an agent that was refused', async () => {
  const world = await openOutsideWorld({ allows: () => false });
  const agent = await startMcpAgent(world, { client: 'Codex CLI' });
  await expect
    .poll(() => agent.call('pending_notifications'))
    .toContain('The user has not allowed codex to get notifications.');
  expect(await useTool(world, { session: 's2' })).toBe('');
  expect(world.window.asked).toEqual(['codex', 'claude-code']);
});

test('a socket or a folder that others can write to is not used', async () => {
  const folders = await makeOutsideFolders();
  const sockets = await hubFolder(folders.folder, folders.home);
  await mkdir(sockets, { recursive: true, mode: 0o700 });
  const path = join(sockets, 'window-1.sock');
  let connected = 0;
  const listener = await listenPrivately(path, (socket) => {
    connected += 1;
    socket.destroy();
  });
  atTestEnd(() => listener.close());
  await chmod(path, 0o666);
  expect(await findWindowsIn(folders)).toEqual([]);
  await chmod(path, 0o600);
  expect(await findWindowsIn(folders)).toEqual([path]);
  await chmod(sockets, 0o777);
  expect(await findWindowsIn(folders)).toEqual([]);
  await chmod(sockets, 0o700);
  // A link to a folder of somebody else.
  await rename(sockets, `${sockets}-real`);
  await symlink(`${sockets}-real`, sockets);
  expect(await findWindowsIn(folders)).toEqual([]);
  expect(connected).toBe(0);
});

test('two agents of the same name in one folder are two listeners', async () => {
  const world = await openOutsideWorld();
  await startMcpAgent(world);
  // Starts the server through another process, so that it belongs to another agent.
  const bin = resolve(import.meta.dirname, '../../../src/bin/notificationsMcp.ts');
  const initialize = {
    ...{ jsonrpc: '2.0', id: 1, method: 'initialize' },
    params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'claude-code', version: '1' } },
  };
  const code = `const { spawn } = require('node:child_process');
    const child = spawn(process.execPath, ['--no-warnings', ${JSON.stringify(bin)}], { stdio: ['pipe', 'ignore', 'inherit'] });
    child.stdin.write(${JSON.stringify(`${JSON.stringify(initialize)}\n{"jsonrpc":"2.0","method":"notifications/initialized"}\n`)});
    process.on('SIGTERM', () => { child.kill(); process.exit(0); });`;
  const env = { PATH: process.env['PATH'] ?? '', HOME: world.home, EARSHOT_HOME: world.home, ...compileCache };
  const other = spawn(process.execPath, ['-e', code], {
    cwd: world.folder,
    env,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  atTestEnd(async () => void other.kill('SIGTERM'));
  await expect.poll(() => world.window.listeners.live.length, { timeout: 20_000 }).toBe(2);
});

// The agent as a process that loses the connection to its window: it joins again by itself.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, test } from 'vitest';
import { compileCache } from '../../support/compileCache.ts';
import { createPluginWorld, type PluginWorld } from '../../support/plugins/pluginWorld.ts';

const program = resolve(import.meta.dirname, '../../../src/bin/acp.ts');

interface Frame {
  readonly id?: number;
  readonly result?: { readonly sessionId?: string; readonly stopReason?: string };
  readonly error?: { readonly message: string };
}

/** The agent with one session, of which `prompt` runs a turn. */
async function startAgent(world: PluginWorld) {
  const env = { PATH: process.env['PATH'] ?? '', HOME: '/nowhere', EARSHOT_HOME: world.home, ...compileCache };
  const agent = spawn(process.execPath, ['--no-warnings', program], { env, stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = once(agent, 'close');
  const lines: string[] = [];
  const waiting = new Map<number, (frame: Frame) => void>();
  createInterface({ input: agent.stdout }).on('line', (line) => {
    lines.push(line);
    const frame = JSON.parse(line) as Frame;
    waiting.get(frame.id ?? 0)?.(frame);
  });
  let requests = 0;
  const request = (method: string, params: object) => {
    const id = ++requests;
    const answered = new Promise<Frame>((done) => waiting.set(id, done));
    agent.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    return answered;
  };
  await request('initialize', { protocolVersion: 1, clientCapabilities: {} });
  const created = await request('session/new', { cwd: world.headless.folder, mcpServers: [] });
  const { sessionId = '' } = created.result ?? {};
  const prompt = () => request('session/prompt', { sessionId, prompt: [{ type: 'text', text: 'Count.' }] });
  const end = async () => {
    agent.stdin.end();
    await ended;
  };
  return { lines, sessionId, prompt, end };
}

test('acp.js joins its window again when that comes back, sends what was missed, and its sessions go on', async () => {
  const answers = [{ text: ['One.'] }, { text: ['Two.'] }, { text: ['Three.'] }];
  const world = await createPluginWorld({ answers });
  const { lines, sessionId, prompt, end } = await startAgent(world);
  expect((await prompt()).result).toEqual({ stopReason: 'end_turn' });
  world.attached.dispose();
  await world.turn(sessionId, 'Count in the window.');
  await expect.poll(() => lines.join('')).toContain('Two.');
  expect((await prompt()).result).toEqual({ stopReason: 'end_turn' });
  await expect.poll(() => lines.join('')).toContain('Three.');
  expect(lines.filter((line) => line.includes('One.'))).toHaveLength(1);
  await end();
});

test('acp.js joins the window that is opened after its window has ended, and its session goes on', async () => {
  const world = await createPluginWorld({ answers: [{ text: ['One.'] }, { text: ['Two.'] }] });
  const { lines, prompt, end } = await startAgent(world);
  expect((await prompt()).result).toEqual({ stopReason: 'end_turn' });
  await world.host.close();
  await world.attached.close();
  await world.listener.close();
  await world.headless.close();
  await world.second();
  await expect.poll(async () => (await prompt()).result, { interval: 200 }).toEqual({ stopReason: 'end_turn' });
  await expect.poll(() => lines.join('')).toContain('Two.');
  expect(lines.filter((line) => line.includes('One.'))).toHaveLength(1);
  await end();
});

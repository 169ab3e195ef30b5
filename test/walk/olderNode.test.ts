// The programs outside the editor on a real Node 20.0, the oldest version that the README promises, and on one that is too
// old for them.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { build } from 'esbuild';
import { beforeAll, afterAll, expect, test } from 'vitest';
import { hook, nodePrograms, programs } from '../../esbuild.mjs';
import { plainCrc32 } from '../../src/node/crc32.ts';
import { spoolFolder } from '../../src/node/scripts/scriptSpool.ts';
import { provideNodeVersion } from '../host/install/nodeRuntime.mjs';
import { startHubMcp } from '../support/hubMcpClient.ts';
import { runRawHook, startMcpAgent } from '../support/plugins/outsideAgents.ts';
import { changedTo, MENU, openOutsideWorld } from '../support/plugins/outsideWorld.ts';

const OLDEST = '20.0.0';
const TOO_OLD = '18.0.0';
const silent = {
  line: () => undefined,
  step: <T>(_: string, work: (say: () => void) => Promise<T>) => work(() => undefined),
};

let [folder, oldest, tooOld] = ['', '', ''];
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'earshot-programs-'));
  const quiet = { outdir: folder, logLevel: 'error', sourcemap: false } as const;
  // As in the extension's folder.
  await writeFile(join(folder, 'package.json'), '{"type":"module"}');
  await Promise.all([nodePrograms, programs, hook].map((options) => build({ ...options, ...quiet })));
  oldest = await provideNodeVersion(OLDEST, silent);
  tooOld = await provideNodeVersion(TOO_OLD, silent);
}, 300_000);
afterAll(() => rm(folder, { recursive: true, force: true }));

interface Frame {
  readonly id?: number;
  readonly method?: string;
  readonly params?: { readonly options?: readonly { readonly optionId: string; readonly kind: string }[] };
  readonly result?: { readonly sessionId?: string; readonly stopReason?: string };
}

async function run(node: string, [program = '', ...args]: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const child = spawn(node, [join(folder, program), ...args], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, output };
}

test('acp.js runs a command of a turn and reports its output', async () => {
  const home = join(folder, 'acp-home');
  const work = join(folder, 'work');
  await mkdir(home);
  await mkdir(work);
  const env = { PATH: process.env['PATH'] ?? '', HOME: home, EARSHOT_HOME: home };
  const agent = spawn(oldest, [join(folder, 'acp.js')], { cwd: work, env, stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = once(agent, 'close');
  const lines: string[] = [];
  const waiting = new Map<number, (frame: Frame) => void>();
  const send = (frame: object) => agent.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...frame })}\n`);
  createInterface({ input: agent.stdout }).on('line', (line) => {
    lines.push(line);
    const { id = 0, method, params, result } = JSON.parse(line) as Frame;
    if (method === undefined) waiting.get(id)?.({ ...(result && { result }) });
    const { optionId } = params?.options?.find(({ kind }) => kind === 'allow_once') ?? {};
    if (method === 'session/request_permission') send({ id, result: { outcome: { outcome: 'selected', optionId } } });
  });
  let requests = 0;
  const request = (method: string, params: object) => {
    const id = ++requests;
    const answered = new Promise<Frame>((resolve) => waiting.set(id, resolve));
    send({ id, method, params });
    return answered;
  };
  await request('initialize', { protocolVersion: 1, clientCapabilities: {} });
  const { sessionId } = (await request('session/new', { cwd: work, mcpServers: [] })).result ?? {};
  const prompt = [{ type: 'text', text: 'run echo boiling' }];
  expect((await request('session/prompt', { sessionId, prompt })).result).toEqual({ stopReason: 'end_turn' });
  expect(lines.some((line) => line.includes('"completed"') && line.includes('boiling'))).toBe(true);
  agent.stdin.end();
  expect(await ended).toEqual([0, null]);
});

test('notifications-mcp.js and the hook deliver a change', async () => {
  const world = await openOutsideWorld();
  const place = { ...world, built: { node: oldest, folder } };
  const agent = await startMcpAgent(place);
  await agent.call('watch', { files: ['src/menu.txt'] });
  const changed = agent.call('wait_for_notification', { timeout_seconds: 60 });
  await world.write('src/menu.txt', MENU.replace('coffee', 'cocoa'));
  expect(await changed).toContain('-coffee\n+cocoa');
  await agent.close();
  const file_path = join(world.folder, 'src/menu.txt');
  const use = (tool_name: string, tool_input: object) => {
    const event = { session_id: 's1', cwd: world.folder, hook_event_name: 'PostToolUse' };
    return runRawHook(place, JSON.stringify({ ...event, tool_name, tool_input }));
  };
  expect(await use('Read', { file_path })).toEqual({ code: 0, output: '', errors: '' });
  const queued = world.event(changedTo('+cider'));
  await world.write('src/menu.txt', MENU.replace('coffee', 'cider'));
  await queued;
  const delivered = await use('Bash', {});
  expect(delivered).toMatchObject({ code: 0, errors: '' });
  expect(delivered.output).toContain(String.raw`-cocoa\n+cider`);
  expect(await use('Bash', {})).toEqual({ code: 0, output: '', errors: '' });
});

test('hub-mcp.js offers its tools; hub.js says which version of Node it needs', async () => {
  const home = join(folder, 'hub-home');
  await mkdir(home);
  const client = await startHubMcp({ home, folder: home, command: [oldest, join(folder, 'hub-mcp.js')] });
  expect(await client.tools()).toContain('send_message');
  await client.close();
  const { code, output } = await run(oldest, ['hub.js', '--dir', home]);
  expect(output).toBe(`The hub needs Node 22.13 or later; this is ${OLDEST}.\n`);
  expect(code).toBe(1);
});

test.each([['install', 'claude-code'], ['serve']])(
  'ears.js %s says which version of Node it needs',
  async (...args) => {
    const { code, output } = await run(oldest, ['ears.js', ...args]);
    expect(output).toBe(`earshot-ears needs Node 22.13 or later; this is Node ${OLDEST}.\n`);
    expect(code).toBe(1);
  },
);

test('ears.js shows the state of a folder, and ends and removes what is there', async () => {
  const world = await openOutsideWorld();
  const env = { HOME: world.home, EARSHOT_HOME: world.home };
  const ears = (...args: string[]) => run(oldest, ['ears.js', ...args], env);
  const watched = await ears('status', '--dir', world.folder);
  expect(watched.output).toContain('earshot-ears is not installed for hooks.\nNot installed: Claude Code,');
  expect(watched.output).toContain(`A window of VS Code watches ${world.folder}`);
  expect(watched.code).toBe(0);
  expect(await ears('stop', '--dir', join(folder, 'nowhere'))).toMatchObject({ code: 0 });
  expect(await ears('remove', 'claude-code')).toEqual({ code: 0, output: 'Claude Code: was not installed.\n' });
});

test('earshot-notify queues a line for the conversations of the folder', async () => {
  const world = await openOutsideWorld();
  const env = { HOME: world.home, EARSHOT_HOME: world.home };
  const args = ['earshot-notify.js', '--dir', world.folder, '--name', 'deploy', 'deployed'];
  expect(await run(oldest, args, env)).toEqual({ code: 3, output: '0: kept until a window takes it\n' });
  const [name = ''] = (await readdir(spoolFolder(world.home))).filter((one) => one.endsWith('.json'));
  expect(JSON.parse(await readFile(join(spoolFolder(world.home), name), 'utf8'))).toMatchObject({
    ...{ dir: world.folder, text: 'deployed', name: 'deploy' },
  });
});

test.each([
  'acp.js',
  'ears.js',
  'earshot-notify.js',
  'hub.js',
  'hub-mcp.js',
  'notifications-mcp.js',
  'notifications-hook.js',
])('%s says that a Node before 20 is too old, and fails in a way that blocks no agent', async (program) => {
  const { code, output } = await run(tooOld, [program]);
  expect(output).toBe(`Earshot needs Node 20 or later; this is Node ${TOO_OLD}.\n`);
  // A hook that exits with 2 would refuse the agent's tool.
  expect(code).toBe(1);
});

test('checksums that an older Node computes are those of zlib', () => {
  expect(plainCrc32('123456789')).toBe(0xcbf43926);
  expect(plainCrc32(Buffer.from('6789'), plainCrc32('12345'))).toBe(0xcbf43926);
});

// Real MCP servers in the real editor: over stdio and HTTP, in both eras, lost and found again, and never without approval.
import * as assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { type Earshot } from '../../../src/core/earshot.ts';
import { call, inFolder, type Listening, setting, useListening } from '../../support/vscode/listeningConversation.ts';
import { checkLeaks, eventually, startedExtension } from '../../support/vscode/startedExtension.ts';

describe('MCP servers', function () {
  this.timeout(120_000);
  const listening = useListening();
  checkLeaks('once');
  let agent: Listening;
  let earshot: Earshot;
  const children: ChildProcess[] = [];

  function repository(...path: string[]): string {
    const root = vscode.extensions.getExtension('earshot.earshot')?.extensionUri.fsPath ?? '';
    return join(root, ...path);
  }
  const official = (name: string, ...args: string[]) => ({
    command: 'node',
    args: [repository('node_modules/@modelcontextprotocol', name, 'dist/index.js'), ...args],
  });
  const modern = (...args: string[]) => [repository('test/support/mcp/modernServer.mjs'), ...args];

  /** Resolves with the port that it prints. */
  async function started(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<number> {
    const child = spawn('node', args, { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...env } });
    children.push(child);
    return new Promise((done) => {
      const take = (text: Buffer) => {
        const port = /(?:^|port )(\d+)/.exec(text.toString())?.[1];
        if (port !== undefined) done(Number(port));
      };
      child.stdout.on('data', take);
      child.stderr.on('data', take);
    });
  }

  const offers = (...names: string[]) =>
    eventually(
      () => earshot.tools.names,
      (all) => names.every((name) => all.includes(name)),
    );

  before(async () => {
    ({ earshot } = await startedExtension());
    await setting('approvals.mode', 'all');
    await setting('notifications.activation', 'passive');
  });
  beforeEach(async () => {
    agent = await listening.begin();
  });
  afterEach(async () => {
    await setting('mcp.servers', undefined);
    for (const child of children.splice(0)) child.kill('SIGKILL');
    await eventually(
      () => earshot.tools.names.filter((name) => name.includes('__')),
      (left) => left.length === 0,
    );
  });
  after(async () => {
    await setting('approvals.mode', undefined);
    await setting('notifications.activation', undefined);
  });

  it('the official servers and one of 2026-07-28 are used over stdio and HTTP', async () => {
    const everything = official('server-everything', 'streamableHttp').args;
    // The official filesystem server has no HTTP of its own: a bridge serves it.
    const bridge = repository('test/support/mcp/httpBridge.mjs');
    const filesystem = official('server-filesystem', inFolder('.')).args;
    const [port, everyweb, fileweb] = await Promise.all([
      started(modern('--http', '0')),
      started(everything, { PORT: String(await freePort()) }),
      started([bridge, 'node', ...filesystem]),
    ]);
    await setting('mcp.servers', {
      everything: official('server-everything'),
      everyweb: { url: `http://127.0.0.1:${everyweb}/mcp` },
      fileweb: { url: `http://127.0.0.1:${fileweb}/mcp` },
      files: official('server-filesystem', '${workspaceFolder}'),
      modern: { command: 'node', args: modern() },
      web: { url: `http://127.0.0.1:${port}/mcp` },
    });
    await offers('everything__echo', 'files__read_text_file', 'modern__add', 'web__add');
    await offers('everyweb__echo', 'fileweb__read_text_file');
    await writeFile(inFolder('mcp-tea.txt'), 'Oolong');
    try {
      assert.match(await agent.turn(call('everything__echo', { message: 'steeped' })), /Echo: steeped/);
      assert.match(await agent.turn(call('everyweb__echo', { message: 'poured' })), /Echo: poured/);
      assert.match(await agent.turn(call('fileweb__read_text_file', { path: inFolder('mcp-tea.txt') })), /Oolong/);
      assert.match(await agent.turn(call('files__read_text_file', { path: inFolder('mcp-tea.txt') })), /Oolong/);
      assert.match(await agent.turn(call('modern__add', { a: 2, b: 40 })), /42/);
      assert.match(await agent.turn(call('web__add', { a: 3, b: 40 })), /43/);
    } finally {
      await rm(inFolder('mcp-tea.txt'));
    }
  });

  it('kill -9: the model is notified of the loss and of the recovery', async () => {
    await setting('mcp.servers', { modern: { command: 'node', args: modern() } });
    await offers('modern__pid');
    const answer = await agent.turn(call('modern__pid', {}));
    process.kill(Number(/\d{2,}/.exec(answer)?.[0]), 'SIGKILL');
    await agent.waitForPending(/^mcp.disconnected The MCP server “modern” is not connected any more: /);
    const body = await agent.turn();
    assert.match(body, /name=\\"disconnected\\"/);
    await eventually(
      async () => {
        await agent.turn();
        return JSON.stringify(agent.log.state.messages.all);
      },
      (text) => text.includes('The MCP server “modern” is connected again.'),
    );
    assert.match(await agent.turn(call('modern__add', { a: 1, b: 1 })), /2/);
  });

  it('a server of the workspace does not start without approval', async () => {
    const trace = inFolder('mcp-started');
    await mkdir(inFolder('.vscode'), { recursive: true });
    const program = `require('fs').writeFileSync(${JSON.stringify(trace)}, '')`;
    const file = inFolder('.mcp.json');
    await writeFile(file, JSON.stringify({ mcpServers: { sneaky: { command: 'node', args: ['-e', program] } } }));
    try {
      // A server of the user that is configured at the same time is connected: the files have been read by then.
      await setting('mcp.servers', { modern: { command: 'node', args: modern() } });
      await offers('modern__add');
      await agent.turn(call('modern__add', { a: 1, b: 1 }));
      await assert.rejects(Promise.resolve(vscode.workspace.fs.stat(vscode.Uri.file(trace))));
    } finally {
      await rm(file);
    }
  });
});

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  await new Promise((done) => server.close(done));
  return port;
}

// Real MCP servers in the real editor: over stdio and HTTP, in both eras, lost and reconnected, and never without
// approval.
import * as assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdir, rm, writeFile } from 'node:fs/promises';
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

  /** Starts the server and resolves with its port. */
  async function startHttp(): Promise<number> {
    const child = spawn('node', modern('--http', '0'), { stdio: ['ignore', 'pipe', 'ignore'] });
    children.push(child);
    return new Promise((done) => child.stdout.once('data', (text) => done(Number(text))));
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
    const port = await startHttp();
    await setting('mcp.servers', {
      everything: official('server-everything'),
      files: official('server-filesystem', '${workspaceFolder}'),
      modern: { command: 'node', args: modern() },
      web: { url: `http://127.0.0.1:${port}/mcp` },
    });
    await offers('everything__echo', 'files__read_text_file', 'modern__add', 'web__add');
    await writeFile(inFolder('mcp-tea.txt'), 'Oolong');
    try {
      assert.match(await agent.turn(call('everything__echo', { message: 'steeped' })), /Echo: steeped/);
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
      // Once a server of the user that is configured at the same time is connected, the workspace's files have been
      // read too.
      await setting('mcp.servers', { modern: { command: 'node', args: modern() } });
      await offers('modern__add');
      await agent.turn(call('modern__add', { a: 1, b: 1 }));
      await assert.rejects(Promise.resolve(vscode.workspace.fs.stat(vscode.Uri.file(trace))));
    } finally {
      await rm(file);
    }
  });
});

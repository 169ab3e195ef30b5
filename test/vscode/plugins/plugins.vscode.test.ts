// The conformance suite of WIRE A against the extension in the real editor, with plugins in their own processes.
import * as assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import * as vscode from 'vscode';
import { hubFolder } from '../../../src/node/hubFolder.ts';
import { baseCases } from '../../support/plugins/conformance/baseCases.ts';
import { type ConformanceWorld } from '../../support/plugins/conformance/conformance.ts';
import { conversationCases } from '../../support/plugins/conformance/conversationCases.ts';
import { interactiveCases } from '../../support/plugins/conformance/interactiveCases.ts';
import { queryCases } from '../../support/plugins/conformance/queryCases.ts';
import { streamCases } from '../../support/plugins/conformance/streamCases.ts';
import { turnCases } from '../../support/plugins/conformance/turnCases.ts';
import { attachRaw, type Relay, startRelay } from '../../support/plugins/rawPlugin.ts';
import { runs } from '../../support/runs.ts';
import { call, folder, setting, useListening } from '../../support/vscode/listeningConversation.ts';
import { eventually } from '../../support/vscode/startedExtension.ts';

interface AcpFrame {
  readonly id?: number;
  readonly method?: string;
  readonly result?: { readonly sessionId?: string; readonly stopReason?: string };
  readonly params?: { readonly update?: { readonly status?: string } };
}

describe('program plugins', () => {
  const listening = useListening();
  const relays: Relay[] = [];
  const names: string[] = [];
  let plugins = 0;
  /** The programs configured by the current test. */
  let programs: object = {};

  before(() => setting('approvals.mode', 'reads'));
  afterEach(async () => {
    programs = {};
    // The processes end with their relays, so nothing waits for them.
    for (const relay of relays.splice(0)) await relay.close();
    await Promise.all(names.splice(0).map((name) => vscode.commands.executeCommand('earshot.stopPlugin', { name })));
  });
  after(() => setting('plugins.programs', undefined));

  const configure = async (wanted: object) => {
    await setting('plugins.programs', wanted);
    await eventually(
      () => vscode.workspace.getConfiguration('earshot').inspect('plugins.programs')?.globalValue,
      (value) => JSON.stringify(value) === JSON.stringify(wanted),
    );
  };

  const world: ConformanceWorld = {
    get earshot() {
      return listening.earshot;
    },
    conversation: async () => {
      const { log } = await listening.begin();
      // Joining the hub under a name appends another event.
      await eventually(
        () => log.state.turn.lastSeq,
        (last) => last >= 2,
      );
      return log.id;
    },
    plugin: async ({ name = `tea-${plugins++}`, ...program } = {}) => {
      const relay = await startRelay(name);
      relays.push(relay);
      names.push(name);
      programs = { ...programs, [name]: { command: relay.command, run: 'allow', ...program } };
      await configure(programs);
      await vscode.commands.executeCommand('earshot.runPlugin', { name, args: [] });
      const plugin = await relay.connected();
      await plugin.next('init');
      return plugin;
    },
    script: (...answers) => {
      const isOver = answers.every(({ calls = [] }) => calls.length > 0);
      const played = answers.map(({ fails, ...answer }) =>
        fails === true ? { refuse: { status: 400, message: 'The model is gone.' } } : answer,
      );
      listening.server.restart(...played, ...(isOver ? [{ text: ['Done.'] }] : []));
    },
    release: () => listening.server.release(),
  };

  // `npm test` runs every sixth case here; the unit tests run all of them.
  const cases = [...baseCases, ...streamCases, ...interactiveCases, ...queryCases, ...turnCases, ...conversationCases];
  for (const { title, run } of cases.filter((_, index) => index % runs(6, 1) === 0)) it(title, () => run(world));

  it('rights that workspace settings grant are ignored', async () => {
    const configuration = vscode.workspace.getConfiguration('earshot');
    const evil = { evil: { command: ['/bin/sh', '-c', 'touch evil'], run: 'allow', start: 'window', approve: true } };
    await configuration.update('plugins.programs', evil, vscode.ConfigurationTarget.Workspace);
    try {
      const { readPrograms } = await import('../../../src/vscode/plugins/pluginSettings.ts');
      await eventually(
        () => readPrograms().programs.get('evil'),
        (program) => program !== undefined,
      );
      const program = readPrograms().programs.get('evil');
      assert.deepEqual([program?.run, program?.start, program?.approve], ['ask', 'manual', false]);
      await configure({ evil: { command: ['/bin/true'], run: 'deny' } });
      assert.deepEqual(
        readPrograms().programs.get('evil')?.command,
        ['/bin/true'],
        'the user’s entry replaces the whole entry of the workspace',
      );
    } finally {
      await configuration.update('plugins.programs', undefined, vscode.ConfigurationTarget.Workspace);
      await configure({});
    }
  });

  it('an outside agent is notified over the window’s private socket of changes since it read a file', async () => {
    const path = join(await hubFolder(folder()), `window-${process.pid}.sock`);
    assert.equal((await stat(path)).mode & 0o777, 0o600);
    await configure({ claude: { command: ['x'], run: 'allow' } });
    const file = join(folder(), 'listened.txt');
    await writeFile(file, 'tea\n');
    const agent = await attachRaw(path, {
      type: 'attach',
      name: 'claude',
      version: '1',
      listener: 'claude',
      session: 's',
    });
    try {
      await agent.next('init');
      const hash = createHash('sha256').update('tea\n').digest('hex');
      assert.equal((await agent.ask({ type: 'seen', path: file, hash })).type, 'done');
      await writeFile(file, 'coffee\n');
      await agent.next((message) => message.type === 'pending_changed' && message.count > 0);
      const pending = await agent.ask({ type: 'pending' });
      assert.match(pending.type === 'pending' ? pending.text : '', /-tea\n\+coffee/);
      assert.equal((await agent.ask({ type: 'list_conversations' })).type, 'error');
    } finally {
      agent.destroy();
      await agent.closed;
      await rm(file);
      await configure({});
    }
  });

  it('the ACP agent joins the window: a prompt runs in a conversation of it', async () => {
    // The client cannot be allowed to answer here: VS Code shows no dialogs during these tests.
    await configure({ acp: { command: ['node'], run: 'allow' } });
    await setting('approvals.mode', 'all');
    const agent = spawn(
      process.execPath,
      [join(vscode.extensions.getExtension('earshot.earshot')?.extensionPath ?? '', 'dist', 'acp.js')],
      {
        cwd: folder(),
        env: { ...process.env, ELECTRON_RUN_AS_NODE: '1' },
        stdio: ['pipe', 'pipe', 'inherit'],
      },
    );
    const ended = once(agent, 'close');
    const frames: AcpFrame[] = [];
    createInterface({ input: agent.stdout }).on('line', (line) => {
      frames.push(JSON.parse(line) as AcpFrame);
    });
    const send = (frame: object) => agent.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...frame })}\n`);
    const request = async (id: number, method: string, params: object) => {
      send({ id, method, params });
      const answered = (frame: AcpFrame) => frame.id === id && frame.method === undefined;
      const all = await eventually(
        () => frames,
        (received) => received.some(answered),
      );
      return all.find(answered)?.result;
    };
    try {
      await request(1, 'initialize', { protocolVersion: 1, clientCapabilities: {} });
      const { sessionId = '' } = (await request(2, 'session/new', { cwd: folder(), mcpServers: [] })) ?? {};
      listening.server.restart(call('run_command', { command: 'echo boiling' }), { text: ['Done.'] });
      const prompt = [{ type: 'text', text: 'Boil water.' }];
      assert.equal((await request(3, 'session/prompt', { sessionId, prompt }))?.stopReason, 'end_turn');
      const updates = frames.flatMap(({ params }) => params?.update ?? []);
      const completed = updates.find(({ status }) => status === 'completed');
      assert.match(JSON.stringify(completed), /boiling/);
      // The agent itself has no model, so the window's model was used.
      assert.match(listening.server.requests.at(-1)?.body ?? '', /boiling/);
    } finally {
      agent.stdin.end();
      await ended;
      await setting('approvals.mode', 'reads');
      await configure({});
    }
  });

  it('the MCP server for notifications and the commands that install the hook are registered in the editor', async () => {
    const manifest = vscode.extensions.getExtension('earshot.earshot')?.packageJSON as {
      contributes: { mcpServerDefinitionProviders: { id: string }[] };
    };
    // VS Code refuses to register a server that is not contributed, and then the extension would not be active.
    assert.deepEqual(
      manifest.contributes.mcpServerDefinitionProviders.map(({ id }) => id),
      ['earshot.notifications'],
    );
  });
});

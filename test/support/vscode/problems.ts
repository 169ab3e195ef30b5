// The producer and the tool of diagnostics in the real editor, with a manual clock, a scripted model and servers of the test.
import * as assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { type ConversationLog } from '../../../src/core/conversation/log.ts';
import { createChatModel } from '../../../src/models/chat/chatModel.ts';
import { createDiagnosticsProducer } from '../../../src/producers/diagnostics/diagnostics.ts';
import { readFileTool } from '../../../src/tools/files/readFile.ts';
import { createDiagnosticsTool } from '../../../src/tools/language/diagnostics.ts';
import { DiagnosticsSource } from '../../../src/vscode/sources/diagnostics.ts';
import { createWorkspace } from '../../../src/vscode/workspace/editorWorkspace.ts';
import { createManualClock, type ManualClock } from '../manualClock.ts';
import { type ScriptedServer, startScriptedServer } from '../models/scriptedServer.ts';
import { recordingLogger } from '../recordingLogger.ts';
import { onDisk } from './editing.ts';
import { eventually } from './startedExtension.ts';
import { writeTool } from './writeTool.ts';
import { type Headless, startHeadless } from '../walk/headless.ts';

/** Registers the hooks of a suite; the functions are for its tests. */
export function useProblems() {
  let server: ScriptedServer;
  let headless: Headless;
  let clock: ManualClock;
  let source: DiagnosticsSource;
  /** The messages that the editor last reported for each file; earlier listeners have handled them too. */
  let announced: Map<string, readonly string[]>;
  const touched = new Set<string>();
  let servers: vscode.DiagnosticCollection[];
  let number = 0;

  beforeEach(async () => {
    clock = createManualClock();
    servers = [];
    server = await startScriptedServer();
    source = new DiagnosticsSource(recordingLogger([]));
    announced = new Map();
    const workspace = createWorkspace();
    const log = recordingLogger([]);
    const producer = createDiagnosticsProducer({ clock, logger: log, problems: source, workspace });
    headless = await startHeadless({
      model: createChatModel({ baseUrl: server.baseUrl, model: 'm', apiKey: async () => 'k' }),
      settings: { 'approvals.mode': 'edits' },
      ports: {
        clock,
        workspace,
        problems: producer,
        producers: [producer],
        tools: [readFileTool, writeTool, createDiagnosticsTool({ problems: source, reported: producer })],
      },
    });
  });
  beforeEach(() => {
    source.onDidChange(({ type, files }) => {
      if (type === 'changed') for (const { path } of files) touched.add(path);
      if (type !== 'reported') return;
      for (const file of files)
        announced.set(
          file.path,
          source.of(file).problems.map(({ message }) => message),
        );
    });
  });
  afterEach(async () => {
    for (const one of servers) one.dispose();
    source.dispose();
    await headless.end();
    await server.stop();
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
  });

  const call = (name: string, args: unknown) => ({ id: `call${++number}`, name, arguments: args });
  const ended = { text: ['Done.'] };

  async function create(): Promise<ConversationLog> {
    const opened = await headless.earshot.create();
    assert.ok(opened.ok);
    return opened.value.log;
  }

  /** Runs a turn that calls these tools in parallel, advancing the clock meanwhile; resolves with their results. */
  async function run(
    log: ConversationLog,
    calls: readonly unknown[],
    meanwhile: () => Promise<void> = async () => undefined,
  ) {
    const first = server.requests.length;
    server.script({ calls: calls as never }, ended);
    const sent = await headless.earshot.send(log.id, 'Go on.');
    assert.ok(sent.ok);
    await meanwhile();
    const settled = headless.earshot.settled(log.id).then(() => true);
    const moment = () => new Promise<boolean>((resolve) => setTimeout(resolve, 5, false));
    const end = Date.now() + 60_000;
    while (!(await Promise.race([settled, moment()]))) {
      clock.advance(100);
      assert.ok(
        Date.now() < end,
        `the turn never ended after ${JSON.stringify(await headless.events(log.id)).slice(-2000)}`,
      );
    }
    const { messages } = JSON.parse((await server.request(first + 1)).body) as {
      messages: { role: string; content: string }[];
    };
    return messages
      .filter(({ role }) => role === 'tool')
      .slice(-calls.length)
      .map(({ content }) => content);
  }

  /** Reads the files, so that they are seen, and waits until the servers have reported them. */
  async function see(log: ConversationLog, ...paths: string[]): Promise<void> {
    await run(
      log,
      paths.map((path) => call('read_file', { path })),
    );
    const isChecked = (path: string) => isOpen(path) && (announced.has(path) || !path.endsWith('.ts'));
    await eventually(
      () => paths.every(isChecked),
      (all) => all,
    );
    clock.advance(20_000);
  }

  /** Waits until the servers report this for the file; all earlier listeners have got it then. */
  async function untilReported(path: string, what: (messages: readonly string[]) => boolean): Promise<void> {
    await eventually(() => announced.get(path) ?? [], what);
  }

  /** The notification block at the start of the last turn. */
  function lastBlock(): string {
    const { messages } = JSON.parse(server.requests.at(-1)?.body ?? '{"messages":[]}') as {
      messages: { role: string; content: string }[];
    };
    return messages.findLast(({ role }) => role === 'user')?.content ?? '';
  }

  const waiting = (log: ConversationLog) =>
    log.state.pending.notifications.map(({ kind, level, message }) => `${kind.name} ${level} ${message}`);

  function waits(log: ConversationLog, count: number): Promise<unknown> {
    return eventually(
      () => waiting(log),
      (all) => all.length === count,
    );
  }

  function ownServer(name: string): vscode.DiagnosticCollection {
    const own = vscode.languages.createDiagnosticCollection(name);
    servers.push(own);
    return own;
  }

  const diagnostic = (message: string, severity = vscode.DiagnosticSeverity.Error, line = 0) =>
    new vscode.Diagnostic(new vscode.Range(line, 0, line, 1), message, severity);

  return {
    /** Moves the time of the producer. */
    advance: (milliseconds: number) => clock.advance(milliseconds),
    /** Files that the editor reported as changed. */
    touched,
    ...{ call, create, run, see, untilReported, lastBlock, waiting, waits, ownServer, diagnostic },
  };
}

export const uriOf = (path: string) => vscode.Uri.file(onDisk(path.slice(path.lastIndexOf('/') + 1)));

export function isOpen(path: string): boolean {
  return vscode.workspace.textDocuments.some(({ uri }) => uri.toString() === uriOf(path).toString());
}

// A client of the Agent Client Protocol for tests, joined to the agent in the same process.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { AcpAgent, type AcpAgentDeps } from '../../../src/acp/agent.ts';
import { type Earshot } from '../../../src/core/earshot.ts';
import { openFolderAgent } from '../../../src/bin/acp/folderAgent.ts';
import { createChatModel } from '../../../src/models/chat/chatModel.ts';
import { readSettings, type SettingName } from '../../../src/protocol/settings.ts';
import { atTestEnd } from '../endings.ts';
import { type ScriptedAnswer, startScriptedServer } from '../models/scriptedServer.ts';
import { recordingLogger } from '../recordingLogger.ts';
import { judgeWire, type WireLine } from './wireJudge.ts';

export interface Update {
  readonly sessionUpdate: string;
  readonly [name: string]: unknown;
}

interface Frame {
  readonly id?: number;
  readonly method?: string;
  readonly params?: { readonly sessionId: string; readonly update: Update };
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string };
}

export class AcpClient {
  readonly updates: (Update & { readonly session: string })[] = [];
  readonly asked: { readonly method: string; readonly params: unknown }[] = [];
  /** Every line in both directions; checked against the official schema when the test ends. */
  readonly lines: WireLine[] = [];
  /** False if the test sends lines that the schema does not allow: then only the agent's lines are checked. */
  sendsValidLines = true;
  readonly errors: string[];
  readonly agent: AcpAgent;
  /** Answers the agent's requests. */
  answer: (method: string, params: unknown) => unknown = () => ({ outcome: { outcome: 'cancelled' } });
  readonly #waiting = new Map<number, (frame: Frame) => void>();
  #watching: (() => void)[] = [];
  #next = 1;

  constructor(openFolder: AcpAgentDeps['openFolder'], errors: string[] = []) {
    this.errors = errors;
    this.agent = new AcpAgent({
      logger: recordingLogger(errors),
      version: '1',
      send: (frame) => this.#receive(frame),
      openFolder,
    });
    atTestEnd(async () => {
      await this.agent.close();
      expect(judgeWire(this.lines, this.sendsValidLines ? ['agent', 'client'] : ['agent'])).toEqual([]);
    });
  }

  async request(method: string, params: object): Promise<Frame> {
    const id = this.#next++;
    const answered = new Promise<Frame>((resolve) => this.#waiting.set(id, resolve));
    this.#send({ jsonrpc: '2.0', id, method, params });
    return answered;
  }

  notify(method: string, params: object): void {
    this.#send({ jsonrpc: '2.0', method, params });
  }

  async newSession(cwd: string): Promise<string> {
    const { result } = await this.request('session/new', { cwd, mcpServers: [] });
    return (result as { sessionId: string }).sessionId;
  }

  prompt(sessionId: string, text: string): Promise<Frame> {
    return this.request('session/prompt', { sessionId, prompt: [{ type: 'text', text }] });
  }

  /** Resolves with the first update that fits, whether it has already arrived or arrives later. */
  async update(fits: (update: Update) => boolean): Promise<Update> {
    for (;;) {
      const found = this.updates.find(fits);
      if (found !== undefined) return found;
      await new Promise<void>((resolve) => this.#watching.push(resolve));
    }
  }

  #send(frame: object): void {
    const line = JSON.stringify(frame);
    this.lines.push({ from: 'client', line });
    this.agent.receive(line);
  }

  #receive(line: string): void {
    this.lines.push({ from: 'agent', line });
    const frame = JSON.parse(line) as Frame;
    if (frame.method === 'session/update' && frame.params !== undefined) {
      this.updates.push({ ...frame.params.update, session: frame.params.sessionId });
    } else if (frame.method !== undefined && frame.id !== undefined)
      this.#answer(frame.id, frame.method, frame.params).catch((error: unknown) => this.errors.push(String(error)));
    else this.#waiting.get(frame.id ?? 0)?.(frame);
    const watching = this.#watching;
    this.#watching = [];
    for (const wake of watching) wake();
  }

  async #answer(id: number, method: string, params: unknown): Promise<void> {
    this.asked.push({ method, params });
    const result = await this.answer(method, params);
    this.#send({ jsonrpc: '2.0', id, result });
  }
}

/**
 * A folder, a scripted endpoint, and a function that connects clients. Each client has its own agent; all agents share
 * one storage, as successive processes do.
 */
export async function startAcp(...answers: readonly ScriptedAnswer[]) {
  const root = await mkdtemp(join(tmpdir(), 'earshot-acp-'));
  const folder = await mkdtemp(join(tmpdir(), 'earshot-acp-folder-'));
  const server = await startScriptedServer(...answers);
  atTestEnd(async () => {
    await server.stop();
    await rm(root, { recursive: true, force: true, maxRetries: 10 });
    await rm(folder, { recursive: true, force: true, maxRetries: 10 });
  });
  /** The agent of each folder that was opened. */
  const folders: { readonly earshot: Earshot }[] = [];
  const connect = async (
    settings: Partial<Record<SettingName, unknown>> = {},
    clientCapabilities: object = {},
  ): Promise<AcpClient> => {
    const errors: string[] = [];
    const model = createChatModel({ baseUrl: server.baseUrl, model: 'm', options: {}, apiKey: async () => 'k' });
    const deps = {
      logger: recordingLogger(errors),
      settings: readSettings((name) => settings[name]).settings,
      supervisor: join(root, 'absent.cjs'),
      notifyProgram: async () => undefined,
      pdfText: join(root, 'absent.js'),
      storage: join(root, 'storage'),
      userFolder: join(root, 'user'),
      // A capture could still be running after a short turn.
      capture: false,
      model: () => model,
    };
    const client = new AcpClient(async (cwd, asks) => {
      const opened = await openFolderAgent(deps, cwd, asks);
      if (opened.ok) folders.push(opened.value);
      return opened;
    }, errors);
    await client.request('initialize', { protocolVersion: 1, clientCapabilities });
    return client;
  };
  return { folder, folders, server, connect };
}

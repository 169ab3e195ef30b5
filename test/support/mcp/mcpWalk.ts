// Walks with real MCP servers: a conversation with a scripted model, and the servers of a configuration.
import { join, resolve } from 'node:path';
import { type Disposable } from '../../../src/base/disposable.ts';
import { type Earshot } from '../../../src/core/earshot.ts';
import { readConfigValue } from '../../../src/mcp/config/configuration.ts';
import { type McpMemory } from '../../../src/mcp/serverPort.ts';
import { McpServers, type McpServersDeps } from '../../../src/mcp/servers.ts';
import { openSession } from '../../../src/mcp/session/openSession.ts';
import { LIMITS, type SessionLimits } from '../../../src/mcp/session/sessionPort.ts';
import { createConfigProducer } from '../../../src/producers/config.ts';
import { createMcpProducer } from '../../../src/producers/mcp.ts';
import { type ServerState } from '../../../src/protocol/mcp.ts';
import { atTestEnd } from '../endings.ts';
import { createManualClock, type ManualClock } from '../manualClock.ts';
import { type ScriptedAnswer } from '../models/scriptedServer.ts';
import { recordingLogger } from '../recordingLogger.ts';
import { beginWalk, type Walked, type WalkOptions } from '../walk/walking.ts';

const root = resolve(import.meta.dirname, '../../..');

/** Configurations of the servers that tests use. */
export const servers = {
  everything: (): object => official('server-everything', 'stdio'),
  filesystem: (folder: string): object => official('server-filesystem', folder),
  modern: (...args: string[]): object => ({
    command: process.execPath,
    args: [join(root, 'test/support/mcp/modernServer.ts'), ...args],
  }),
  scripted: (options: object): object => ({
    command: process.execPath,
    args: [join(root, 'test/support/mcp/scriptedServer.mjs'), JSON.stringify(options)],
  }),
};

export function official(name: string, ...args: string[]): object {
  return {
    command: process.execPath,
    args: [join(root, 'node_modules/@modelcontextprotocol', name, 'dist/index.js'), ...args],
  };
}

export function createTestMemory(): McpMemory & { readonly keys: Set<string> } {
  const keys = new Set<string>();
  return {
    keys,
    ready: Promise.resolve(),
    has: (key) => keys.has(key),
    set: async (key, on) => {
      if (on) keys.add(key);
      else keys.delete(key);
    },
  };
}

export interface McpWalkOptions extends WalkOptions {
  readonly limits?: Partial<SessionLimits>;
  readonly host?: Partial<McpServersDeps>;
}

export interface McpWalked extends Walked {
  readonly mcp: McpServers;
  /** Of reconnections. */
  readonly mcpClock: ManualClock;
  readonly serverLog: string[];
  /** Resolves once the server is in this state. */
  until(server: string, state: ServerState): Promise<void>;
  /** The texts of tool results, oldest first. */
  results(): readonly string[];
  /** The names of the tools in a request. */
  offered(request: number): readonly string[];
}

/** All servers are connected, or have failed, when it resolves. */
export async function beginMcpWalk(
  configuration: Readonly<Record<string, object>>,
  answers: readonly ScriptedAnswer[],
  options: McpWalkOptions = {},
): Promise<McpWalked> {
  const errors: string[] = [];
  const logger = recordingLogger(errors);
  const mcpClock = createManualClock();
  const serverLog: string[] = [];
  const part: { earshot?: Earshot } = {};
  const mcp = new McpServers({
    clock: mcpClock,
    logger,
    memory: createTestMemory(),
    client: { name: 'Earshot', version: 'test' },
    limits: { ...LIMITS, ...options.limits },
    open: openSession,
    trusted: true,
    variables: () => ({
      folder: root,
      folders: [],
      environment: process.env,
      input: async () => undefined,
      setting: () => undefined,
    }),
    approve: async () => true,
    openExternal: async () => false,
    log: (server, line) => serverLog.push(`${server}: ${line}`),
    register: (tools): Disposable => (part.earshot as Earshot).tools.register(tools),
    trustsHints: () => false,
    ...options.host,
  });
  const walk = await beginWalk(answers, {
    ...options,
    settings: { 'approvals.mode': 'all', ...options.settings },
    ports: {
      producers: [createMcpProducer({ source: mcp, clock: mcpClock, logger }), createConfigProducer()],
      ...options.ports,
    },
  });
  part.earshot = walk.headless.earshot;
  atTestEnd(async () => {
    await mcp.close();
    mcp.dispose();
  });
  const source = { label: 'the test', workspace: false };
  const { servers: configured, problems } = readConfigValue({ servers: configuration }, source);
  if (problems.length > 0) throw new Error(problems.join('\n'));
  const until = (name: string, state: ServerState) => untilState(mcp, name, state);
  await mcp.configure(configured);
  await Promise.all(mcp.all.map((server) => untilStarted(mcp, server.name)));
  return {
    ...walk,
    mcp,
    mcpClock,
    serverLog,
    until,
    results: () => walk.log.state.messages.all.flatMap((message) => (message.role === 'tool' ? [message.content] : [])),
    offered: (request) => {
      const { tools } = JSON.parse(walk.server.requests[request]?.body ?? '{"tools":[]}') as {
        tools: { function: { name: string } }[];
      };
      return tools.map((tool) => tool.function.name);
    },
  };
}

function untilState(mcp: McpServers, name: string, state: ServerState): Promise<void> {
  return until(mcp, () => mcp.get(name)?.state === state);
}

function untilStarted(mcp: McpServers, name: string): Promise<void> {
  return until(mcp, () => !['starting', 'off'].includes(mcp.get(name)?.state ?? ''));
}

export function until(mcp: McpServers, holds: () => boolean): Promise<void> {
  return new Promise((resolve) => {
    if (holds()) return resolve();
    const listening = mcp.onDidChangeRows(() => {
      if (!holds()) return;
      listening.dispose();
      resolve();
    });
  });
}

export function call(name: string, args: object = {}, id = `c${name}`): ScriptedAnswer {
  return { calls: [{ id, name, arguments: args }] };
}

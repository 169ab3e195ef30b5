// Walks with real MCP servers: a conversation with a scripted model, and the servers of a configuration.
import { join, resolve } from 'node:path';
import { type Disposable, DisposableStore } from '../../../src/base/disposable.ts';
import { type RemoteTasks } from '../../../src/core/ports/processes.ts';
import { readConfigValue } from '../../../src/mcp/config/configuration.ts';
import { createMcpPart } from '../../../src/mcp/mcpPart.ts';
import { type McpMemory } from '../../../src/mcp/serverPort.ts';
import { type McpServers, type McpServersDeps } from '../../../src/mcp/servers.ts';
import { openSession } from '../../../src/mcp/session/openSession.ts';
import { type McpSessionLimits } from '../../../src/mcp/session/sessionPort.ts';
import { CommandApprovals } from '../../../src/node/files/commandApprovals.ts';
import { realClock } from '../../../src/node/realClock.ts';
import { createConfigProducer } from '../../../src/producers/config.ts';
import { createHandlesProducer } from '../../../src/producers/handles.ts';
import { createMcpProducer } from '../../../src/producers/mcp.ts';
import { type McpEvents } from '../../../src/producers/mcpEvents/mcpEvents.ts';
import { type ServerState } from '../../../src/protocol/outside/mcp.ts';
import { atTestEnd } from '../endings.ts';
import { createManualClock, type ManualClock } from '../manualClock.ts';
import { type ScriptedAnswer } from '../models/scriptedServer.ts';
import { recordingLogger } from '../recordingLogger.ts';
import { type Headless } from '../walk/headless.ts';
import { beginWalk, type Walked, type WalkOptions } from '../walk/walking.ts';

const root = resolve(import.meta.dirname, '../../..');

/** As long as a test may take. */
const PATIENT: McpSessionLimits = { request: 60_000, probe: 60_000, connect: 60_000, era: 60_000 };

/** Configurations of the servers that tests use. */
export const servers = {
  everything: (): object => official('server-everything', 'stdio'),
  filesystem: (folder: string): object => official('server-filesystem', folder),
  modern: (...args: string[]): object => ({
    command: process.execPath,
    args: [join(root, 'test/support/mcp/modernServer.mjs'), ...args],
  }),
  /** The server keeps its tasks in the folder. */
  modernTasks: (folder: string): object => ({
    command: process.execPath,
    args: [join(root, 'test/support/mcp/modernTaskServer.mjs'), folder],
  }),
  scripted: (options: object): object => ({
    command: process.execPath,
    args: [join(root, 'test/support/mcp/scriptedServer.mjs'), JSON.stringify(options)],
  }),
};

function official(name: string, ...args: string[]): object {
  return {
    command: process.execPath,
    args: [join(root, 'node_modules/@modelcontextprotocol', name, 'dist/index.js'), ...args],
  };
}

export function createTestMemory(): McpMemory {
  const keys = new Set<string>();
  return {
    ready: Promise.resolve(),
    has: (key) => keys.has(key),
    keys: (prefix) => [...keys].filter((key) => key.startsWith(prefix)),
    set: async (key, on) => {
      if (on) keys.add(key);
      else keys.delete(key);
    },
  };
}

export interface McpWalkOptions extends WalkOptions {
  /** Whether the servers are configured by the workspace. */
  readonly ofWorkspace?: boolean;
  readonly inputs?: readonly object[];
  /** Time limits of servers by name, for servers that do not answer. The others have time, however slow the machine is. */
  readonly limits?: Readonly<Record<string, Partial<McpSessionLimits>>>;
  /** The servers that are connected or have failed when the walk begins; without it, all of them. */
  readonly started?: readonly string[];
  readonly host?: Partial<McpServersDeps>;
}

export interface McpWalked extends Walked {
  readonly mcp: McpServers;
  /** The clock that times reconnections. */
  readonly mcpClock: ManualClock;
  readonly serverLog: string[];
  readonly producers: Disposable;
  readonly events: McpEvents;
  readonly configuration: Readonly<Record<string, object>>;
  readonly options: McpWalkOptions;
  /** Resolves once the server is in this state. */
  until(server: string, state: ServerState): Promise<void>;
  /** Changes time limits of a server that is connected. */
  limit(server: string, limits: Partial<McpSessionLimits>): void;
  /** The texts of tool results, oldest first. */
  results(): readonly string[];
  /** The names of the tools in a request. */
  offered(request: number): readonly string[];
}

/** Resolves once every server, or those of `started`, is connected or has failed. */
export async function beginMcpWalk(
  configuration: Readonly<Record<string, object>>,
  answers: readonly ScriptedAnswer[],
  options: McpWalkOptions = {},
): Promise<McpWalked> {
  const walk = await beginWalk(answers, {
    ...options,
    settings: { 'approvals.mode': 'all', ...options.settings },
    ports: { producers: [], ...options.ports },
  });
  return withServers(walk, walk.headless, configuration, options);
}

/** Closes the window without ending anything on the servers, calls `meanwhile`, and opens the window again. */
export async function reloadMcp(walk: McpWalked, meanwhile: () => void): Promise<McpWalked> {
  const { configuration, options } = walk;
  walk.mcp.dispose();
  walk.producers.dispose();
  meanwhile();
  const later: { mcp?: McpServers } = {};
  const tasks: RemoteTasks = {
    reattach: async (task) => later.mcp?.reattachTask(task),
  };
  const headless = await walk.headless.restart({ tasks });
  atTestEnd(() => headless.end());
  const again = await withServers(walk, headless, configuration, options, (mcp) => {
    later.mcp = mcp;
  });
  const opened = await headless.earshot.open(walk.id);
  if (!opened.ok) throw new Error(opened.failure.message);
  const { log } = opened.value;
  const go = async (text = 'Go on.') => {
    const sent = await headless.earshot.send(walk.id, text);
    if (!sent.ok) throw new Error(sent.failure.message);
    await headless.earshot.settled(walk.id);
  };
  return { ...again, log, go };
}

async function withServers(
  walk: Walked,
  headless: Headless,
  configuration: Readonly<Record<string, object>>,
  options: McpWalkOptions,
  created: (mcp: McpServers) => void = () => undefined,
): Promise<McpWalked> {
  const logger = recordingLogger([]);
  const mcpClock = createManualClock();
  const serverLog: string[] = [];
  const limits = new Map(Object.keys(configuration).map((name) => [name, { ...PATIENT, ...options.limits?.[name] }]));
  const memory = options.host?.memory ?? createTestMemory();
  const { handles, earshot, ports } = headless;
  const { settings, snapshots } = ports;
  const clock = options.host?.clock ?? mcpClock;
  const part = createMcpPart({
    ...{ earshot, settings },
    createProducer: (from) =>
      createMcpProducer({ source: from, snapshots, clock, logger, settings, settingsOf: 'editor' }),
    variables: () => ({ folder: root, folders: [], input: async () => undefined, setting: () => undefined }),
    host: {
      clock: mcpClock,
      logger,
      memory,
      approvals: new CommandApprovals({ has: (key) => memory.has(key), add: (key) => memory.set(key, true) }),
      roots: () => [],
      client: { name: 'Earshot', version: 'test' },
      limits: PATIENT,
      open: (deps, signal) => openSession({ ...deps, limits: limits.get(deps.server) ?? PATIENT }, signal),
      isTrusted: () => true,
      approve: async () => true,
      openExternal: async () => false,
      log: (server, line) => serverLog.push(`${server}: ${line}`),
      ...options.host,
    },
  });
  const { servers: mcp, events } = part;
  created(mcp);
  const producers = new DisposableStore();
  producers.add(part);
  for (const producer of [createConfigProducer(), createHandlesProducer({ handles, clock: realClock, logger })]) {
    producers.add(earshot.producers.register(producer));
  }
  atTestEnd(async () => {
    await mcp.close();
    mcp.dispose();
    producers.dispose();
  });
  const source = { label: 'the test', workspace: options.ofWorkspace === true, folder: root };
  const { servers: configured, problems } = readConfigValue({ servers: configuration, inputs: options.inputs }, source);
  if (problems.length > 0) throw new Error(problems.join('\n'));
  await mcp.configure(configured);
  await Promise.all((options.started ?? Object.keys(configuration)).map((name) => untilStarted(mcp, name)));
  return {
    ...walk,
    headless,
    mcp,
    mcpClock,
    serverLog,
    producers,
    events,
    configuration,
    options,
    until: (name, state) => untilState(mcp, name, state),
    limit: (name, changed) => Object.assign(limits.get(name) ?? {}, changed),
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

function until(mcp: McpServers, holds: () => boolean): Promise<void> {
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

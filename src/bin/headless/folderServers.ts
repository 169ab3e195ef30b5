// MCP servers of a folder without an editor: those of the settings file and those that the client passes. Loads their
// code with the first server.
import { homedir } from 'node:os';
import { basename } from 'node:path';
import { type Earshot } from '../../core/earshot.ts';
import { type Logger } from '../../core/ports/ports.ts';
import { type RemoteTasks } from '../../core/ports/processes.ts';
import { type Snapshots } from '../../core/ports/storage.ts';
import { type ConfiguredServer, mergeConfigurations, readConfigValue } from '../../mcp/config/configuration.ts';
import { LoadedServers } from '../../mcp/loadedServers.ts';
import { type McpServer } from '../../mcp/server.ts';
import { type McpPart } from '../../mcp/mcpPart.ts';
import { CommandApprovals } from '../../node/files/commandApprovals.ts';
import { realFileSystem } from '../../node/files/fileSystem.ts';
import { realClock } from '../../node/realClock.ts';
import { createMcpProducer } from '../../producers/mcp.ts';
import { type McpEvents } from '../../producers/mcpEvents/mcpEvents.ts';
import { type SourceProblems } from '../../producers/sourceProblems.ts';
import { type ClientServer } from '../../protocol/outside/acp.ts';
import { type Settings } from '../../protocol/settings.ts';
import { createKeySet } from '../../storage/keySet.ts';

const OF_CLIENT = 'the client';

export interface FolderServersDeps {
  readonly logger: Logger;
  readonly folder: string;
  /** The folder in which facts about servers are stored. */
  readonly storage: string;
  readonly earshot: Earshot;
  readonly snapshots: Pick<Snapshots, 'put'>;
  readonly problems: SourceProblems;
  settings(): Settings;
}

export interface FolderServers {
  /** Passed to Earshot as ports. */
  readonly ports: LoadedServers<McpPart<McpEvents>>['ports'];
  readonly tasks: RemoteTasks;
  /** Adds servers that the client passes with a session. All sessions of the folder use them. */
  add(servers: readonly ClientServer[]): void;
  /** Call it when the settings have changed. */
  refresh(): void;
  close(): Promise<void>;
}

/**
 * Servers that a workspace configures (`.vscode/mcp.json`, `.mcp.json`) are left out: they start only after the user
 * has seen and approved their command and files, which clients of the protocol cannot show.
 */
export function createFolderServers(deps: FolderServersDeps): FolderServers {
  /** Servers of the client by name; a later one replaces an earlier one. */
  const passed = new Map<string, ClientServer>();
  const loaded = new LoadedServers<McpPart<McpEvents>>({
    read: () => configuredServers(deps, [...passed.values()]),
    load: () => loadServers(deps),
    report: (error) => deps.logger.error('MCP servers cannot be started', error),
  });
  return {
    ports: loaded.ports,
    tasks: loaded.tasks,
    add: (servers) => {
      for (const server of servers) passed.set(server.name, server);
      if (servers.length > 0) loaded.refresh();
    },
    refresh: () => {
      loaded.refresh();
      loaded.part?.events.refresh();
    },
    close: async () => {
      await loaded.close();
      loaded.dispose();
    },
  };
}

function configuredServers(
  { logger, folder, settings, problems: reported }: FolderServersDeps,
  passed: readonly ClientServer[],
): readonly ConfiguredServer[] {
  const ofClient = Object.fromEntries(passed.map((server) => [server.name, configOf(server)]));
  const { servers, problems } = mergeConfigurations([
    readConfigValue({ servers: settings()['mcp.servers'] }, { label: 'the settings file', workspace: false, folder }),
    readConfigValue({ servers: ofClient }, { label: OF_CLIENT, workspace: false, folder }),
  ]);
  for (const problem of problems) logger.warn(`MCP: ${problem}`);
  reported.set('mcp', problems.length === 0 ? undefined : `MCP servers: ${problems.join(' ')}`);
  return servers;
}

function configOf(server: ClientServer): object {
  const byName = (pairs: readonly { readonly name: string; readonly value: string }[]) =>
    Object.fromEntries(pairs.map(({ name, value }) => [name, value]));
  if ('url' in server) return { type: server.type, url: server.url, headers: byName(server.headers) };
  return { command: server.command, args: server.args, env: byName(server.env) };
}

async function loadServers(deps: FolderServersDeps): Promise<McpPart<McpEvents>> {
  const { logger, folder, storage, settings, earshot, snapshots, problems } = deps;
  const { createMcpPart } = await import('../../mcp/mcpPart.ts');
  const refused = (entry: string, failure: string | undefined) =>
    problems.set(`mcp.events/${entry}`, failure && `Events of MCP servers: ${failure}`);
  const watched = { snapshots, clock: realClock, logger, settings, settingsOf: 'program', refused } as const;
  const part = createMcpPart({
    ...{ earshot, settings },
    createProducer: (source) => createMcpProducer({ source, ...watched }),
    variables: ({ source }) => ({
      folder: source.folder ?? homedir(),
      folders: [{ name: basename(folder), absolute: folder }],
      input: async () => undefined,
      setting: () => undefined,
    }),
    host: {
      logger,
      memory: createKeySet({ files: realFileSystem, folder: storage, name: 'mcp-servers.json', logger }),
      approvals: new CommandApprovals({ has: () => false, add: async () => undefined }),
      // The client starts servers in its own way and has asked its user; those of the settings file count for all folders.
      roots: ({ source }) => (source.label === OF_CLIENT ? [] : [folder]),
      client: { name: 'Earshot', version: '1' },
      isTrusted: () => true,
      approve: async ({ name }) => {
        logger.warn(
          `The MCP server “${name}” is not started: it runs code of the folder, which only VS Code can show you.`,
        );
        return false;
      },
      openExternal: async () => false,
      log: (server, line) => logger.debug(`${server}: ${line}`),
    },
  });
  const noticing = part.servers.onDidChangeRows(() => {
    for (const server of part.servers.all) problems.set(`mcp/${server.name}`, describeProblem(server));
  });
  return {
    ...part,
    dispose: () => {
      noticing.dispose();
      part.dispose();
    },
  };
}

/** Undefined: it works, or may soon. */
function describeProblem({ name, state, absence, problem }: McpServer): string | undefined {
  const why = {
    sign_in: 'the user has to sign in to it. Give it an access token as a header in the settings file.',
    approval: 'it runs code of the folder, which only VS Code can show and approve.',
    failed: `${absence}. Correct its entry in the settings file.`,
    lost: problem === undefined ? undefined : `${absence}.`,
    starting: problem === undefined ? undefined : `${absence}.`,
    ready: undefined,
    off: undefined,
  }[state];
  return why && `The MCP server “${name}”: ${why}`;
}

// Composes MCP servers: reads their configuration, and loads the rest once there is a server.
import { join } from 'node:path';
import * as vscode from 'vscode';
import { type Earshot } from '../../core/earshot.ts';
import { type RemoteTasks } from '../../core/ports/processes.ts';
import { type Snapshots } from '../../core/ports/storage.ts';
import { type Workspace } from '../../core/ports/workspace.ts';
import { LoadedServers } from '../../mcp/loadedServers.ts';
import { type ServerResources } from '../../mcp/resources/serverResources.ts';
import { type McpServer } from '../../mcp/server.ts';
import { realFileSystem } from '../../node/files/fileSystem.ts';
import { type SubscriptionRow } from '../../producers/mcpEvents/mcpEvents.ts';
import { createKeySet } from '../../storage/keySet.ts';
import { type CommandHandlers } from '../commands.ts';
import { COMMANDS, type CommandId, HAS_MCP_SERVERS } from '../ids.ts';
import { onDidChangeConfiguration, readConfiguration } from '../mcp/configurationFiles.ts';
import { type McpWindow } from '../mcp/mcpWindow.ts';
import { isSameRow } from '../mcp/eventRows.ts';
import { ReportedProblems } from '../mcp/reportedProblems.ts';
import { type Window } from './window.ts';

type McpCommand = Extract<CommandId, `earshot.mcp.${string}`>;

export interface ComposedMcp {
  readonly commands: Pick<CommandHandlers, McpCommand>;
  /** Ports that are passed to Earshot. */
  readonly ports: LoadedServers<McpWindow>['ports'];
  readonly tasks: RemoteTasks;
  /** Undefined while no server is configured. */
  resources(): ServerResources | undefined;
  close(): Promise<void>;
}

export function composeMcp(
  window: Window,
  earshot: Earshot,
  { workspace, snapshots }: { readonly workspace: Workspace; readonly snapshots: Snapshots },
  notice: (text: string) => void,
): ComposedMcp {
  const { context, logger, settings, held, report, waiting } = window;
  const memory = createKeySet({
    files: realFileSystem,
    folder: context.globalStorageUri.fsPath,
    name: 'mcp-servers.json',
    logger,
  });
  const profileFile = join(context.globalStorageUri.fsPath, '..', '..', 'mcp.json');
  const reported = new ReportedProblems();
  const loaded = held.add(
    new LoadedServers<McpWindow>({
      read: async () => {
        const { servers, problems } = await readConfiguration({ workspace, files: realFileSystem, profileFile });
        for (const problem of reported.take(problems)) {
          logger.warn(`MCP: ${problem}`);
          notice(vscode.l10n.t('MCP servers: {0}', problem));
        }
        await vscode.commands.executeCommand('setContext', HAS_MCP_SERVERS, servers.length > 0);
        return servers;
      },
      load: async () => {
        const [{ McpWindow: Loaded }, { ServerLog: Log }] = await Promise.all([
          import('../mcp/mcpWindow.ts'),
          import('../mcp/serverLog.ts'),
        ]);
        return new Loaded({ context, logger, settings, memory, earshot, snapshots, log: new Log(), waiting, notice });
      },
      report: report('MCP servers could not be configured'),
    }),
  );
  held.add(onDidChangeConfiguration(() => loaded.refresh()));
  const choose = async (target: unknown, title: string): Promise<McpServer | undefined> => {
    const all = loaded.part?.servers.all ?? [];
    const given = all.find((server) => server === target);
    if (given !== undefined) return given;
    if (all.length === 0) {
      void vscode.window.showInformationMessage(
        vscode.l10n.t('No MCP server is configured. Add one to the setting earshot.mcp.servers.'),
      );
      return undefined;
    }
    const picked = await vscode.window.showQuickPick(
      all.map((server) => ({ label: server.name, server })),
      { title },
    );
    return picked?.server;
  };
  const on = (title: string, act: (mcp: McpWindow, server: McpServer) => Promise<void>) => async (target?: unknown) => {
    const server = await choose(target, title);
    if (server !== undefined && loaded.part !== undefined) await act(loaded.part, server);
  };
  const onEvents = (act: (mcp: McpWindow, row: SubscriptionRow) => Promise<void>) => async (target?: unknown) => {
    const { part } = loaded;
    const row = part?.servers.all.flatMap(({ name }) => part.events.rows(name)).find((one) => isSameRow(one, target));
    if (part !== undefined && row !== undefined) await act(part, row);
  };
  return {
    commands: {
      [COMMANDS.restartServer]: on(vscode.l10n.t('Restart MCP Server'), (mcp, server) => mcp.restart(server)),
      [COMMANDS.disableServer]: on(vscode.l10n.t('Disable MCP Server'), (mcp, server) =>
        mcp.servers.setOff(server, true),
      ),
      [COMMANDS.enableServer]: on(vscode.l10n.t('Enable MCP Server'), (mcp, server) =>
        mcp.servers.setOff(server, false),
      ),
      [COMMANDS.signInToServer]: on(vscode.l10n.t('Sign In to MCP Server'), (mcp, server) => mcp.signIn(server)),
      [COMMANDS.signOutOfServer]: on(vscode.l10n.t('Sign Out of MCP Server'), (mcp, server) => mcp.signOut(server)),
      [COMMANDS.forgetServerInputs]: on(vscode.l10n.t('Forget Inputs of MCP Server'), (mcp, server) =>
        mcp.forgetInputs(server),
      ),
      [COMMANDS.showServerLog]: () => loaded.part?.log.show(),
      [COMMANDS.pauseEvents]: onEvents((mcp, row) => mcp.events.setPaused(row, true)),
      [COMMANDS.resumeEvents]: onEvents((mcp, row) => mcp.events.setPaused(row, false)),
      [COMMANDS.unsubscribeEvents]: onEvents((mcp, row) => mcp.events.end(row)),
    },
    ports: loaded.ports,
    tasks: loaded.tasks,
    resources: () => loaded.part?.servers.resources,
    close: () => loaded.close(),
  };
}

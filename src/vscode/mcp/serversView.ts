// The view of MCP servers: a row for each server with its state, and below it its tools with their switches.
import * as vscode from 'vscode';
import { type Disposable, DisposableStore } from '../../base/disposable.ts';
import { Coalescer } from '../../base/async.ts';
import { type McpServer } from '../../mcp/server.ts';
import { type McpServers } from '../../mcp/servers.ts';
import { type McpTool } from '../../mcp/session/sessionPort.ts';
import { type ServerState } from '../../protocol/outside/mcp.ts';
import { realClock } from '../../node/realClock.ts';
import { type McpEvents, type SubscriptionRow } from '../../producers/mcpEvents/mcpEvents.ts';
import { COMMANDS, MCP_VIEW } from '../ids.ts';
import { subscriptionItem } from './eventRows.ts';

/** Events may come fast. */
const SHOWN_EVERY = 500;

export interface ToolRow {
  readonly server: McpServer;
  readonly tool: McpTool;
}

type Row = McpServer | ToolRow | SubscriptionRow;

const STATES: Readonly<Record<ServerState, { readonly text: string; readonly icon: string; readonly color?: string }>> =
  {
    off: { text: 'Off', icon: 'circle-slash' },
    approval: { text: 'Waiting for your approval', icon: 'shield', color: 'list.warningForeground' },
    starting: { text: 'Starting…', icon: 'loading~spin' },
    ready: { text: '', icon: 'plug', color: 'testing.iconPassed' },
    lost: { text: 'Reconnecting…', icon: 'debug-disconnect', color: 'list.warningForeground' },
    failed: { text: 'Failed', icon: 'error', color: 'list.errorForeground' },
    sign_in: { text: 'Sign in to use it', icon: 'account', color: 'list.warningForeground' },
  };

export class ServersView implements vscode.TreeDataProvider<Row>, Disposable {
  readonly #servers: McpServers;
  readonly #events: McpEvents;
  readonly #held = new DisposableStore();
  readonly #changed = new vscode.EventEmitter<undefined>();
  readonly onDidChangeTreeData = this.#changed.event;
  #starting: (() => void) | undefined;

  constructor(servers: McpServers, events: McpEvents, report: (error: unknown) => void) {
    this.#servers = servers;
    this.#events = events;
    this.#held.add(this.#changed);
    this.#held.add(servers.onDidChangeRows(() => this.#refresh()));
    const shown = this.#held.add(new Coalescer(realClock, SHOWN_EVERY, () => this.#refresh()));
    this.#held.add(events.onDidChange(() => shown.changed('rows')));
    const view = this.#held.add(
      vscode.window.createTreeView<Row>(MCP_VIEW, { treeDataProvider: this, manageCheckboxStateManually: true }),
    );
    this.#held.add(
      view.onDidChangeCheckboxState(({ items }) => {
        for (const [row, state] of items) void this.#switch(row, state).catch(report);
      }),
    );
  }

  getChildren(row?: Row): Row[] {
    if (row === undefined) return [...this.#servers.all];
    if ('tool' in row || 'subscription' in row) return [];
    return [...this.#events.rows(row.name), ...row.tools.map((tool) => ({ server: row, tool }))];
  }

  getTreeItem(row: Row): vscode.TreeItem {
    if ('subscription' in row) return subscriptionItem(row);
    return 'tool' in row ? this.#toolItem(row) : this.#serverItem(row);
  }

  dispose(): void {
    this.#starting?.();
    this.#held.dispose();
  }

  /** Shows progress above the rows while one of them starts. */
  #refresh(): void {
    this.#changed.fire(undefined);
    const isStarting = this.#servers.all.some(({ state }) => state === 'starting');
    if (!isStarting) {
      this.#starting?.();
      this.#starting = undefined;
    } else if (this.#starting === undefined) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#starting = resolve;
      void vscode.window.withProgress({ location: { viewId: MCP_VIEW } }, () => promise);
    }
  }

  async #switch(row: Row, state: vscode.TreeItemCheckboxState): Promise<void> {
    if (!('tool' in row)) return;
    await this.#servers.setToolOff(row.server, row.tool.name, state === vscode.TreeItemCheckboxState.Unchecked);
  }

  #serverItem(server: McpServer): vscode.TreeItem {
    const { name, state, problem, tools, session, configured } = server;
    const { icon, color } = STATES[state];
    const text = vscode.l10n.t(STATES[state].text);
    const subscriptions = this.#events.rows(name).length;
    const isEmpty = tools.length + subscriptions === 0;
    const open = isEmpty ? vscode.TreeItemCollapsibleState.None : vscode.TreeItemCollapsibleState.Collapsed;
    const item = new vscode.TreeItem(name, open);
    const isHttp = 'url' in configured.config;
    item.id = configured.identity;
    const { searched } = this.#servers;
    const found = searched === undefined || tools.length === 0 ? '' : ` · ${vscode.l10n.t('found by search')}`;
    const subscribed = subscriptions === 0 ? '' : ` · ${countSubscriptions(subscriptions)}`;
    const connected = `${session?.version ?? ''} · ${countTools(tools.length)}${found}`;
    item.description = `${state === 'ready' ? connected : text}${subscribed}`;
    item.iconPath = new vscode.ThemeIcon(icon, color === undefined ? undefined : new vscode.ThemeColor(color));
    item.contextValue = `server ${state} ${isHttp ? 'http' : 'stdio'}`;
    item.tooltip = [
      `${name}: ${state === 'ready' ? vscode.l10n.t('Connected') : text}`,
      ...(problem === undefined ? [] : [problem]),
      ...(searched === undefined || tools.length === 0
        ? []
        : [
            vscode.l10n.t(
              'The {0} tools of all servers have {1} KB, too much for each request: the model finds them by search.',
              searched.tools,
              searched.kilobytes,
            ),
          ]),
      ...(session === undefined
        ? []
        : [
            `${session.title}, ${vscode.l10n.t('revision {0}', session.version)} (${session.era === 'modern' ? vscode.l10n.t('stateless') : vscode.l10n.t('with sessions')})`,
          ]),
      vscode.l10n.t('Configured in {0}', configured.source.label),
    ].join('\n');
    const click = clickOf(server);
    if (click !== undefined) item.command = click;
    item.accessibilityInformation = { label: `${name}, ${state === 'ready' ? vscode.l10n.t('Connected') : text}` };
    return item;
  }

  #toolItem({ server, tool }: ToolRow): vscode.TreeItem {
    const item = new vscode.TreeItem(tool.title ?? tool.name);
    const off = this.#servers.isToolOff(server, tool.name);
    const hints = describeHints(tool);
    item.id = `${server.configured.identity}:${tool.name}`;
    item.checkboxState = off ? vscode.TreeItemCheckboxState.Unchecked : vscode.TreeItemCheckboxState.Checked;
    item.description = hints;
    item.tooltip = [this.#servers.nameOf(server.name, tool.name) ?? tool.name, tool.description?.slice(0, 1000)]
      .filter((one) => one !== undefined)
      .join('\n');
    item.contextValue = 'tool';
    return item;
  }
}

/** What a click on a row does: the next step of its state. A connected server with tools shows or hides these. */
function clickOf(server: McpServer): vscode.Command | undefined {
  const { state, tools } = server;
  const run = (title: string, command: string) => ({ title, command, arguments: [server] });
  switch (state) {
    case 'approval':
      return run(vscode.l10n.t('Review…'), COMMANDS.restartServer);
    case 'sign_in':
      return run(vscode.l10n.t('Sign In'), COMMANDS.signInToServer);
    case 'off':
      return run(vscode.l10n.t('Enable MCP Server'), COMMANDS.enableServer);
    case 'starting':
    case 'lost':
    case 'failed':
      return run(vscode.l10n.t('Show Log'), COMMANDS.showServerLog);
    case 'ready':
      return tools.length > 0 ? undefined : run(vscode.l10n.t('Show Log'), COMMANDS.showServerLog);
  }
}

function countTools(count: number): string {
  return count === 1 ? vscode.l10n.t('1 tool') : vscode.l10n.t('{0} tools', count);
}

function countSubscriptions(count: number): string {
  return count === 1 ? vscode.l10n.t('1 subscription') : vscode.l10n.t('{0} subscriptions', count);
}

function describeHints({ annotations }: McpTool): string {
  if (annotations?.readOnlyHint === true) return vscode.l10n.t('read-only');
  return annotations?.destructiveHint === true ? vscode.l10n.t('destructive') : '';
}

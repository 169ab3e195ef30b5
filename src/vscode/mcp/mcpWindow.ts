// The MCP servers of this window: configuration, approvals, sign-in, view and log. Loaded with the first configured server.
import { createHash } from 'node:crypto';
import { homedir } from 'node:os';
import * as vscode from 'vscode';
import { type Disposable, DisposableStore } from '../../base/disposable.ts';
import { type McpServer } from '../../mcp/server.ts';
import { McpServers, type McpServersDeps } from '../../mcp/servers.ts';
import { openSession } from '../../mcp/session/openSession.ts';
import { LIMITS } from '../../mcp/session/sessionPort.ts';
import { CommandApprovals } from '../../node/files/commandApprovals.ts';
import { realClock } from '../../node/realClock.ts';
import { createMcpProducer } from '../../producers/mcp.ts';
import { type KeySet } from '../../storage/keySet.ts';
import { type Earshot } from '../../core/earshot.ts';
import { userSetting } from '../configuration.ts';
import { type Output } from '../output.ts';
import { workspaceRoots } from '../plugins/windowListening.ts';
import { type SettingsReader } from '../settings.ts';
import { showPassing } from '../passingMessage.ts';
import { type WaitingApprovals } from '../waitingApprovals.ts';
import { serverQuestion, serverSubject } from './approveServer.ts';
import { forgetInputs, inputValue } from './serverInputs.ts';
import { type ServerLog } from './serverLog.ts';
import { ServersView } from './serversView.ts';
import { createSignIn, serverSecrets, signOut } from './signInWindow.ts';

export interface McpWindowDeps {
  readonly context: vscode.ExtensionContext;
  readonly logger: Output;
  readonly settings: SettingsReader;
  readonly memory: KeySet;
  readonly earshot: Earshot;
  /** Disposed of with the window. */
  readonly log: ServerLog;
  readonly waiting: WaitingApprovals;
  notice(text: string): void;
}

export class McpWindow implements Disposable {
  readonly servers: McpServers;
  readonly log: ServerLog;
  readonly #deps: McpWindowDeps;
  readonly #held = new DisposableStore();
  /** Servers that the user is signing in to, with the receiver of the browser's redirect. */
  readonly #signingIn = new Map<string, DisposableStore>();
  readonly #offered = new Set<string>();
  /** By the name of the server. */
  readonly #signInOffers = new Map<string, AbortController>();

  constructor(deps: McpWindowDeps) {
    this.#deps = deps;
    this.log = this.#held.add(deps.log);
    const { logger, earshot, settings } = deps;
    const report = (error: unknown) => logger.error('an MCP server could not be managed', error);
    this.servers = this.#held.add(new McpServers(this.#host()));
    this.#held.add(new ServersView(this.servers, report));
    this.#held.add(earshot.producers.register(createMcpProducer({ source: this.servers, clock: realClock, logger })));
    this.#held.add(this.servers.onDidChangeRows(() => this.#noticeChanges()));
    this.#held.add(settings.onDidChange(() => this.servers.reconsider()));
    this.#held.add(vscode.workspace.onDidGrantWorkspaceTrust(() => this.servers.reconsider()));
  }

  async restart(server: McpServer): Promise<void> {
    if (await this.#deps.waiting.review(serverSubject(server.name))) return;
    if (this.servers.isOff(server)) await this.servers.setOff(server, false);
    else await server.restart();
  }

  async signIn(server: McpServer): Promise<void> {
    if (this.#signingIn.has(server.name)) return;
    const receiving = this.#held.add(new DisposableStore());
    this.#signingIn.set(server.name, receiving);
    try {
      await vscode.window.withProgress(
        {
          location: vscode.ProgressLocation.Notification,
          title: vscode.l10n.t('Signing in to the MCP server “{0}”…', server.name),
        },
        () => server.restart(),
      );
    } finally {
      this.#signingIn.delete(server.name);
      this.#held.release(receiving);
    }
  }

  async signOut(server: McpServer): Promise<void> {
    await signOut(this.#deps.context.secrets, server.configured);
    await server.restart();
  }

  async forgetInputs(server: McpServer): Promise<void> {
    await forgetInputs(this.#deps.context.secrets, server.configured);
    await server.restart();
  }

  dispose(): void {
    for (const offer of this.#signInOffers.values()) offer.abort();
    this.#held.dispose();
  }

  #host(): McpServersDeps {
    const { context, logger, memory, settings, earshot, log, waiting } = this.#deps;
    const { secrets } = context;
    const report = (error: unknown) => logger.error('a page could not be opened', error);
    return {
      clock: realClock,
      logger,
      memory,
      approvals: new CommandApprovals({ has: (key) => memory.has(key), add: (key) => memory.set(key, true) }),
      roots: workspaceRoots,
      client: { name: 'Earshot', version: versionOf(context) },
      get limits() {
        return { ...LIMITS, request: settings.current['mcp.timeout'] * 1000 };
      },
      open: openSession,
      get trusted() {
        return vscode.workspace.isTrusted;
      },
      register: (tools) => earshot.tools.register(tools),
      trustsHints: (server) => settings.current['mcp.trustedReadOnly'].includes(server),
      variables: (server) => ({
        folder: server.source.folder ?? homedir(),
        folders: (vscode.workspace.workspaceFolders ?? []).map(({ name, uri }) => ({ name, absolute: uri.fsPath })),
        environment: process.env,
        input: (id) => inputValue(secrets, server, id, (value) => log.hide(value)),
        setting: (name) => settingText(name),
      }),
      approve: (server, proof, changed, signal) => waiting.ask(serverQuestion(server, proof, changed), signal),
      signIn: async (server) => {
        const receiving = this.#signingIn.get(server.name);
        const made = await createSignIn(
          log.hiding(serverSecrets(secrets, server)),
          () => receiving !== undefined,
          report,
        );
        receiving?.add(made);
        return made;
      },
      openExternal: async (url) => vscode.env.openExternal(vscode.Uri.parse(url, true)),
      log: (server, line) => log.write(server, line),
    };
  }

  /** Shows the user new instructions before a request contains them, and offers each needed sign-in once. */
  #noticeChanges(): void {
    const { notice, memory, logger } = this.#deps;
    for (const server of this.servers.all) {
      const { name, instructions, state, configured } = server;
      const text = createHash('sha256')
        .update(instructions ?? '')
        .digest('hex');
      const key = `instructions:${configured.identity}:${text}`;
      if (instructions !== undefined && !memory.has(key) && !this.#offered.has(key)) {
        this.#offered.add(key);
        notice(`${vscode.l10n.t('The MCP server “{0}” gives the model these instructions:', name)}\n\n${instructions}`);
        void memory
          .set(key, true)
          .catch((error: unknown) => logger.error('the shown instructions could not be recorded', error));
      }
      if (state !== 'sign_in') this.#withdrawOffer(name);
      else if (!this.#signInOffers.has(name)) this.#offerSignIn(server);
    }
  }

  #offerSignIn(server: McpServer): void {
    const offer = new AbortController();
    this.#signInOffers.set(server.name, offer);
    if (this.#signingIn.has(server.name)) return;
    const report = (error: unknown) => this.#deps.logger.error('signing in failed', error);
    const ask = async () => {
      const text = vscode.l10n.t('The MCP server “{0}” requires you to sign in.', server.name);
      const isChosen = await showPassing({ text, action: vscode.l10n.t('Sign In'), gone: offer.signal });
      if (isChosen) await this.signIn(server);
    };
    void ask().catch(report);
  }

  #withdrawOffer(server: string): void {
    this.#signInOffers.get(server)?.abort();
    this.#signInOffers.delete(server);
  }
}

/** The user's value: a program that the user configured or approved does not become another one by a workspace's. */
function settingText(name: string): string | undefined {
  const value = userSetting(name);
  return ['string', 'number', 'boolean'].includes(typeof value) ? String(value) : undefined;
}

function versionOf(context: vscode.ExtensionContext): string {
  const { version } = context.extension.packageJSON as { version?: unknown };
  return typeof version === 'string' ? version : '0';
}

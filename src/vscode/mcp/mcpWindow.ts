// The MCP servers of this window: configuration, approvals, sign-in, view and log. Loaded with the first configured server.
import { createHash } from 'node:crypto';
import { homedir } from 'node:os';
import * as vscode from 'vscode';
import { type Disposable, DisposableStore } from '../../base/disposable.ts';
import { type McpServer } from '../../mcp/server.ts';
import { createMcpPart, type McpPartDeps } from '../../mcp/mcpPart.ts';
import { type McpServers } from '../../mcp/servers.ts';
import { CommandApprovals } from '../../node/files/commandApprovals.ts';
import { realClock } from '../../node/realClock.ts';
import { createMcpProducer } from '../../producers/mcp.ts';
import { type McpEvents } from '../../producers/mcpEvents/mcpEvents.ts';
import { type KeySet } from '../../storage/keySet.ts';
import { type Earshot } from '../../core/earshot.ts';
import { type Snapshots } from '../../core/ports/storage.ts';
import { versionOf } from '../compose/window.ts';
import { userSettingText } from '../configuration.ts';
import { type Output } from '../output.ts';
import { workspaceRoots } from '../plugins/windowListening.ts';
import { type SettingsReader } from '../settings.ts';
import { type WaitingApprovals, type ApprovalQuestion } from '../waitingApprovals.ts';
import { type ServerLog } from './serverLog.ts';
import { ServersView } from './serversView.ts';
import { createSignIn, serverSecrets, signOut } from './signInWindow.ts';
import { type ConfiguredServer } from '../../mcp/config/configuration.ts';
import { type LaunchProof } from '../../mcp/config/launch.ts';
import { describePins } from '../approvalTexts.ts';
import { Sequence } from '../../base/async.ts';
import { defined } from '../../base/json/defined.ts';
import { type ServerInput } from '../../protocol/outside/mcp.ts';

export interface McpWindowDeps {
  readonly context: vscode.ExtensionContext;
  readonly logger: Output;
  readonly settings: SettingsReader;
  readonly memory: KeySet;
  readonly earshot: Earshot;
  readonly snapshots: Snapshots;
  /** Disposed of with the window. */
  readonly log: ServerLog;
  readonly waiting: WaitingApprovals;
  notice(text: string): void;
}

export class McpWindow implements Disposable {
  readonly servers: McpServers;
  readonly events: McpEvents;
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
    const { logger, earshot, settings, snapshots } = deps;
    const report = (error: unknown) => logger.error('an MCP server could not be managed', error);
    const current = () => settings.current;
    const watched = { snapshots, clock: realClock, logger, settings: current, settingsOf: 'editor' } as const;
    const part = this.#held.add(
      createMcpPart({
        ...{ earshot, settings: current, host: this.#host() },
        variables: (server) => this.#variables(server),
        createProducer: (source) => createMcpProducer({ source, ...watched }),
      }),
    );
    this.servers = part.servers;
    this.events = part.events;
    this.#held.add(new ServersView(this.servers, this.events, report));
    this.#held.add(settings.onDidChange(() => this.events.refresh()));
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
      // Without success it is offered again.
      this.#withdrawOffer(server.name);
      if (this.servers.all.includes(server)) this.#noticeChanges();
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

  #variables(server: ConfiguredServer): ReturnType<McpPartDeps<McpEvents>['variables']> {
    const { context, log } = this.#deps;
    return {
      folder: server.source.folder ?? homedir(),
      folders: (vscode.workspace.workspaceFolders ?? []).map(({ name, uri }) => ({ name, absolute: uri.fsPath })),
      input: (id) => inputValue(context.secrets, server, id, (value) => log.hide(value)),
      // The user's: a program that was configured or approved does not become another one by a workspace's.
      setting: (name) => userSettingText(name),
    };
  }

  #host(): McpPartDeps<McpEvents>['host'] {
    const { context, logger, memory, log, waiting } = this.#deps;
    const { secrets } = context;
    const report = (error: unknown) => logger.error('a page could not be opened', error);
    return {
      ...{ logger, memory },
      approvals: new CommandApprovals({ has: (key) => memory.has(key), add: (key) => memory.set(key, true) }),
      roots: workspaceRoots,
      client: { name: 'Earshot', version: versionOf(context) },
      isTrusted: () => vscode.workspace.isTrusted,
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
      const action = vscode.l10n.t('Sign In');
      const subject = `sign in ${server.name}`;
      const isTaken = await this.#deps.waiting.offer({ subject, level: 'warning', text, action }, offer.signal);
      if (isTaken) await this.signIn(server);
    };
    void ask().catch(report);
  }

  #withdrawOffer(server: string): void {
    this.#signInOffers.get(server)?.abort();
    this.#signInOffers.delete(server);
  }
}

/** `changed`: an earlier form of the server was approved. */
function serverQuestion(server: ConfiguredServer, proof: LaunchProof, changed: boolean): ApprovalQuestion {
  const { name, source } = server;
  return {
    subject: serverSubject(name),
    name: vscode.l10n.t('the MCP server “{0}”', name),
    waiting: vscode.l10n.t('The MCP server “{0}” is not running: it needs your approval.', name),
    announcement: announce(server, changed),
    question: vscode.l10n.t('Start the MCP server “{0}”?', name),
    detail: [
      vscode.l10n.t('{0} configures it. It can do whatever you can do on this machine.', source.label),
      ...(changed ? [vscode.l10n.t('It has changed since you approved it.')] : []),
      '',
      proof.command,
      ...proof.details,
      ...describePins(proof.files, proof.unpinned).map((paragraph) => `\n${paragraph}`),
    ].join('\n'),
    isProgram: true,
    approve: vscode.l10n.t('Start Server'),
    refuse: vscode.l10n.t('Do Not Run'),
  };
}

function serverSubject(name: string): string {
  return `mcp ${name}`;
}

function announce({ name, source }: ConfiguredServer, changed: boolean): string {
  if (changed) {
    return vscode.l10n.t('The MCP server “{0}” in {1} has changed since you approved it.', name, source.label);
  }
  return source.workspace
    ? vscode.l10n.t(
        'This workspace configures the MCP server “{0}” in {1}. It starts only after your approval.',
        name,
        source.label,
      )
    : vscode.l10n.t(
        'The MCP server “{0}” in {1} would run code of this workspace. It starts only after your approval.',
        name,
        source.label,
      );
}

/** Undefined: the user entered none. `kept` gets each value, so that it can be masked in the log. */
async function inputValue(
  secrets: vscode.SecretStorage,
  server: ConfiguredServer,
  id: string,
  kept: (value: string) => void,
): Promise<string | undefined> {
  const input = server.inputs.find((one) => one.id === id);
  if (input === undefined) return undefined;
  const key = secretName(server, id);
  const stored = input.type === 'command' ? undefined : await secrets.get(key);
  const value = stored ?? (await questions.run(() => ask(server, input)));
  if (value === undefined) return undefined;
  kept(value);
  if (stored === undefined && input.type !== 'command') await secrets.store(key, value);
  return value;
}

async function forgetInputs(secrets: vscode.SecretStorage, server: ConfiguredServer): Promise<void> {
  for (const { id } of server.inputs) await secrets.delete(secretName(server, id));
}

/** Contains the place of the configuration: another workspace with the same id does not get the value. */
function secretName({ source, name }: ConfiguredServer, id: string): string {
  return `earshot.mcp.input:${source.folder ?? ''}:${source.label}:${name}:${id}`;
}

/** VS Code shows one input box at a time; a second one would cancel the first. */
const questions = new Sequence();

async function ask({ name }: ConfiguredServer, input: ServerInput): Promise<string | undefined> {
  const title = vscode.l10n.t('MCP server {0}: {1}', name, input.id);
  switch (input.type) {
    case 'promptString':
      return vscode.window.showInputBox({
        title,
        prompt: input.description ?? '',
        password: input.password === true,
        ignoreFocusOut: true,
        ...defined({ value: input.default }),
      });
    case 'pickString': {
      const options = input.options.map((one) => (typeof one === 'string' ? { label: one, value: one } : one));
      const chosen = await vscode.window.showQuickPick(options, {
        title,
        placeHolder: input.description ?? '',
        ignoreFocusOut: true,
      });
      return chosen?.value;
    }
    case 'command': {
      const result: unknown = await vscode.commands.executeCommand(input.command, input.args);
      return typeof result === 'string' ? result : undefined;
    }
  }
}

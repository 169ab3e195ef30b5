// The command Open Web Chat: starts the web chat as a plugin and opens its page, also if the browser is on another
// machine.
import { randomBytes } from 'node:crypto';
import { createServer } from 'node:net';
import * as vscode from 'vscode';
import { failed, type Result, succeeded } from '../../base/errors.ts';
import { defined } from '../../base/json/defined.ts';
import { type Model } from '../../core/ports/ports.ts';
import { realClock } from '../../node/realClock.ts';
import { type ConfiguredProgram, ProgramConsent } from '../../plugins/host/consent.ts';
import { PluginHost, type PluginHostDeps } from '../../plugins/host/pluginHost.ts';
import { type FolderFacts } from '../../protocol/page/folderView.ts';
import { WEB_CHAT, type WebChatOptions } from '../../protocol/webChat.ts';
import { type Probed, probeWebChat, untilServed } from './webChatAddress.ts';
import { linkCode } from './webChatLink.ts';
import { failureMessage } from '../failureMessage.ts';

interface Addresses {
  /** For a browser on the machine of the extension host. */
  readonly local: vscode.Uri;
  /** For the user's browser, which may be on another machine. */
  readonly external: vscode.Uri;
}

export interface WebChatDeps extends Pick<PluginHostDeps, 'shared' | 'init' | 'openOutput' | 'isTrusted'> {
  readonly context: vscode.ExtensionContext;
  model(): Pick<Model, 'label' | 'detail' | 'contextWindow'>;
  /** Undefined: not known yet. */
  folderFacts(): FolderFacts | undefined;
  folder(): string | undefined;
  /** The conversation that the window shows; the page opens with it. */
  shown(): string | undefined;
}

/**
 * Has its own plugin host, so that no configured or attached program gets its rights by using its name. Port and key
 * stay the same until the window closes, so that an open page reconnects after a restart.
 */
export class WebChatController {
  readonly #deps: WebChatDeps;
  readonly host: PluginHost;
  readonly #key = randomBytes(32).toString('base64url');
  #port: number | undefined;
  #addresses: Addresses | undefined;

  constructor(deps: WebChatDeps) {
    this.#deps = deps;
    const programs = () => new Map(this.#port === undefined ? [] : [[WEB_CHAT, this.#program(this.#port)]]);
    const { isTrusted, folder } = deps;
    this.host = new PluginHost({
      ...deps,
      programs,
      // The program is part of Earshot, so it needs no approval.
      consent: new ProgramConsent({
        approved: { has: async () => true, add: async () => undefined },
        programs,
        isTrusted,
        folder,
        roots: () => [],
        confirmRun: async () => false,
        confirmAttach: async () => 'refuse',
        confirmListen: async () => false,
      }),
    });
  }

  /** Starts the web chat if it is not running, and opens its page. */
  async open(): Promise<void> {
    const started = await this.#start();
    if (!started.ok) {
      void vscode.window.showErrorMessage(failureMessage(started.failure));
      return;
    }
    const { local, external } = started.value;
    const { reach } = await this.#probe(external);
    // Only if VS Code itself runs in a browser is this conclusive: then the address is served where this process runs.
    const isMissing = reach === 'missing' && vscode.env.uiKind === vscode.UIKind.Web;
    // VS Code itself converts the local address to the external one.
    if (!isMissing) await vscode.env.openExternal(this.#link(local));
    const [text, ...links] = isMissing
      ? [missingText(external, local), copying(vscode.l10n.t('Copy Link'), local)]
      : [
          reach === 'refused' ? refusedText(external) : servedText(external),
          copying(vscode.l10n.t('Copy Link'), external),
          ...(isSameAddress(local, external) ? [] : [copying(vscode.l10n.t('Copy Local Link'), local)]),
        ];
    const show = reach === 'refused' || isMissing ? 'showWarningMessage' : 'showInformationMessage';
    const chosen = await vscode.window[show](text, ...links);
    if (chosen !== undefined) await vscode.env.clipboard.writeText(this.#link(chosen.address).toString());
  }

  /** With a new code each time. The code and the id consist of characters that a URI does not encode. */
  #link(address: vscode.Uri): vscode.Uri {
    const shown = this.#deps.shown();
    const code = linkCode(this.#key, realClock.now());
    return address.with({ fragment: shown === undefined ? code : `${code}&${shown}` });
  }

  async #start(): Promise<Result<Addresses>> {
    if (this.#addresses !== undefined && (await this.#isServed())) return succeeded(this.#addresses);
    this.#port ??= await freePort();
    const local = vscode.Uri.parse(`http://127.0.0.1:${this.#port}/`);
    // Forwards the port if the browser is on another machine, and returns the address for it.
    this.#addresses = { local, external: await vscode.env.asExternalUri(local) };
    const ran = await this.host.run(WEB_CHAT);
    if (!ran.ok) return ran;
    return this.#untilServed(this.#addresses);
  }

  async #untilServed(addresses: Addresses): Promise<Result<Addresses>> {
    const status = () => this.host.statuses[0];
    const end = await untilServed(realClock, {
      isServed: () => this.#isServed(),
      hasFailed: () => status()?.state === 'failed',
    });
    if (end === 'served') return succeeded(addresses);
    if (end === 'late') return failed('plugin', vscode.l10n.t('The web chat did not start in time.'));
    // Another program may have taken the port.
    this.#port = undefined;
    this.#addresses = undefined;
    return failed('plugin', vscode.l10n.t('The web chat could not be started: {0}', status()?.detail ?? ''));
  }

  async #isServed(): Promise<boolean> {
    if (this.#addresses === undefined || this.host.pidOf(WEB_CHAT) === undefined) return false;
    return (await this.#probe(this.#addresses.local)).reach === 'reached';
  }

  #probe(address: vscode.Uri): Promise<Probed> {
    return probeWebChat(address.toString(true), this.#key);
  }

  #program(port: number): ConfiguredProgram {
    const { context } = this.#deps;
    const { label, detail, contextWindow } = this.#deps.model();
    const folderFacts = this.#deps.folderFacts();
    const options: WebChatOptions = {
      key: this.#key,
      port,
      hosts: this.#addresses === undefined ? [] : [this.#addresses.external.authority],
      root: context.extensionPath,
      language: vscode.env.language.split('-')[0] ?? 'en',
      version: String((context.extension.packageJSON as { version?: unknown }).version),
      hostVersion: vscode.version,
      model: { label, detail, contextWindow },
      ...defined({ folder: vscode.workspace.name, folderFacts }),
    };
    const program = vscode.Uri.joinPath(context.extensionUri, 'dist', 'webChat.js').fsPath;
    const command = [process.execPath, program];
    return { command, run: 'allow', start: 'manual', approve: true, options, fromUser: true };
  }
}

function copying(title: string, address: vscode.Uri) {
  return { title, address };
}

function servedText(address: vscode.Uri): string {
  return vscode.l10n.t(
    'The web chat is at {0}. Each link opens it once, within five minutes; whoever opens it can use Earshot in this window.',
    withoutSlash(address),
  );
}

function refusedText({ authority }: vscode.Uri): string {
  return vscode.l10n.t(
    'The web chat does not accept the host by which {0} reaches it. Add that host to earshot.webChat.allowedHosts and reload the page.',
    authority,
  );
}

function missingText(external: vscode.Uri, local: vscode.Uri): string {
  return vscode.l10n.t(
    'The web chat runs, but {0} does not lead to it: this server forwards no ports. Open {1} in a browser on the machine where Earshot runs, or forward its port.',
    withoutSlash(external),
    withoutSlash(local),
  );
}

function withoutSlash(address: vscode.Uri): string {
  return address.toString(true).replace(/\/$/, '');
}

function isSameAddress(one: vscode.Uri, other: vscode.Uri): boolean {
  return one.toString() === other.toString();
}

async function freePort(): Promise<number> {
  const server = createServer();
  const port = await new Promise<number>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : 0);
    });
  });
  await new Promise((resolve) => server.close(resolve));
  return port;
}

// Earshot: Open Web Chat. Starts the web chat as a plugin of its own and opens its page, wherever the browser is.
import { randomBytes } from 'node:crypto';
import { createServer } from 'node:net';
import * as vscode from 'vscode';
import { describeFailure, failed, type Result, succeeded } from '../../base/errors.ts';
import { type Model } from '../../core/ports/ports.ts';
import { ProgramConsent } from '../../plugins/host/consent.ts';
import { PluginHost, type PluginHostDeps } from '../../plugins/host/pluginHost.ts';
import { type Program } from '../../protocol/plugin.ts';
import { type Settings } from '../../protocol/settings.ts';
import { WEB_CHAT, type WebChatOptions } from '../../protocol/webChat.ts';

/** Until the page is served. */
const STARTS_WITHIN = 20_000;
const LOOK_EVERY = 50;

export interface WebChatDeps extends Pick<PluginHostDeps, 'shared' | 'init' | 'openOutput' | 'isTrusted'> {
  readonly context: vscode.ExtensionContext;
  settings(): Settings;
  model(): Pick<Model, 'label' | 'detail' | 'contextWindow'>;
  folder(): string | undefined;
}

/**
 * It has a host of its own, so that no program of the settings, and none that attaches, gets its rights by its name. Port and
 * token stay the same as long as the window lives: an open page reconnects after a restart.
 */
export class WebChatController {
  readonly #deps: WebChatDeps;
  readonly host: PluginHost;
  readonly #token = randomBytes(32).toString('base64url');
  #port: number | undefined;
  #external: vscode.Uri | undefined;

  constructor(deps: WebChatDeps) {
    this.#deps = deps;
    const programs = () => new Map(this.#port === undefined ? [] : [[WEB_CHAT, this.#program(this.#port)]]);
    const { isTrusted, folder } = deps;
    this.host = new PluginHost({
      ...deps,
      programs,
      // It ships with Earshot: there is nothing to approve.
      consent: new ProgramConsent({
        approved: { has: async () => true, add: async () => undefined },
        programs,
        isTrusted,
        folder,
        confirmRun: async () => false,
        confirmAttach: async () => false,
        confirmListen: async () => false,
      }),
    });
  }

  /** Starts it if it does not run, and opens the page. */
  async open(): Promise<void> {
    const started = await this.#start();
    if (!started.ok) {
      void vscode.window.showErrorMessage(describeFailure(started.failure));
      return;
    }
    // No character of the token is changed when the address is encoded.
    const link = started.value.with({ fragment: this.#token });
    await vscode.env.openExternal(link);
    const copy = vscode.l10n.t('Copy Link');
    const message = vscode.l10n.t(
      'The web chat is at {0}. Whoever has the link can use Earshot in this window.',
      `${started.value.scheme}://${started.value.authority}`,
    );
    if ((await vscode.window.showInformationMessage(message, copy)) === copy) {
      await vscode.env.clipboard.writeText(link.toString());
    }
  }

  async #start(): Promise<Result<vscode.Uri>> {
    if (this.#external !== undefined && (await this.#isServed())) return succeeded(this.#external);
    this.#port ??= await freePort();
    // Forwards the port where the browser is on another machine, and says how it is reached there.
    this.#external = await vscode.env.asExternalUri(vscode.Uri.parse(`http://127.0.0.1:${this.#port}/`));
    const ran = await this.host.run(WEB_CHAT);
    if (!ran.ok) return ran;
    return this.#untilServed(this.#external);
  }

  async #untilServed(external: vscode.Uri): Promise<Result<vscode.Uri>> {
    for (let waited = 0; waited < STARTS_WITHIN; waited += LOOK_EVERY) {
      if (await this.#isServed()) return succeeded(external);
      const [status] = this.host.statuses;
      if (status?.state === 'failed') {
        // Somebody else may have taken the port.
        this.#port = undefined;
        this.#external = undefined;
        return failed('plugin', vscode.l10n.t('The web chat could not be started: {0}', status.detail ?? ''));
      }
      await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY));
    }
    return failed('plugin', vscode.l10n.t('The web chat did not start in time.'));
  }

  async #isServed(): Promise<boolean> {
    if (this.#port === undefined || this.host.pidOf(WEB_CHAT) === undefined) return false;
    return fetch(`http://127.0.0.1:${this.#port}/`).then(
      (response) => response.ok,
      () => false,
    );
  }

  #program(port: number): Program {
    const { context, settings } = this.#deps;
    const { label, detail, contextWindow } = this.#deps.model();
    const options: WebChatOptions = {
      token: this.#token,
      port,
      hosts: [
        ...settings()['webChat.allowedHosts'],
        ...(this.#external === undefined ? [] : [this.#external.authority]),
      ],
      root: context.extensionPath,
      language: vscode.env.language.split('-')[0] ?? 'en',
      version: String((context.extension.packageJSON as { version?: unknown }).version),
      hostVersion: vscode.version,
      model: { label, detail, contextWindow },
    };
    const program = vscode.Uri.joinPath(context.extensionUri, 'dist', 'webChat.js').fsPath;
    return { command: [process.execPath, program], run: 'allow', start: 'manual', approve: true, options };
  }
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

// Asks the user before a server of the workspace starts: shows its command and the hashes of its files.
import * as vscode from 'vscode';
import { type ConfiguredServer } from '../../mcp/config/configuration.ts';
import { type LaunchProof } from '../../mcp/config/launch.ts';
import { describePins } from '../approvalTexts.ts';

/** Open questions by the server's name, so that the view can show one again. */
export class ServerApprovals {
  readonly #open = new Map<string, () => Promise<void>>();
  readonly #report: (error: unknown) => void;

  constructor(report: (error: unknown) => void) {
    this.#report = report;
  }

  /** Resolves to true once the user starts the server, to false on abort. A dismissed question stays open. */
  ask(server: ConfiguredServer, proof: LaunchProof, changed: boolean, signal: AbortSignal): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const close = () => resolve(false);
    signal.addEventListener('abort', close, { once: true });
    const review = async () => {
      const start = vscode.l10n.t('Start Server');
      const chosen = await vscode.window.showWarningMessage(
        vscode.l10n.t('Start the MCP server “{0}”?', server.name),
        { modal: true, detail: describeProof(server, proof, changed) },
        start,
      );
      if (chosen === start) resolve(true);
    };
    this.#open.set(server.name, review);
    void this.#announce(server, changed, review).catch(this.#report);
    return promise.finally(() => {
      signal.removeEventListener('abort', close);
      if (this.#open.get(server.name) === review) this.#open.delete(server.name);
    });
  }

  /** Shows the open question again. False: there is none for this server. */
  async review(server: string): Promise<boolean> {
    const review = this.#open.get(server);
    await review?.();
    return review !== undefined;
  }

  async #announce({ name, source }: ConfiguredServer, changed: boolean, review: () => Promise<void>): Promise<void> {
    const message = changed
      ? vscode.l10n.t('The MCP server “{0}” in {1} has changed since you approved it.', name, source.label)
      : source.workspace
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
    const show = vscode.l10n.t('Review…');
    if ((await vscode.window.showInformationMessage(message, show)) === show) await review();
  }
}

function describeProof(
  { source }: ConfiguredServer,
  { command, details, files, unpinned }: LaunchProof,
  changed: boolean,
): string {
  return [
    vscode.l10n.t('{0} configures it. It can do whatever you can do on this machine.', source.label),
    ...(changed ? [vscode.l10n.t('It has changed since you approved it.')] : []),
    '',
    command,
    ...details,
    ...describePins(files, unpinned).map((paragraph) => `\n${paragraph}`),
  ].join('\n');
}

// Asks the user before a server of the workspace starts: shows its command and the hashes of its files.
import * as vscode from 'vscode';
import { type ConfiguredServer } from '../../mcp/config/configuration.ts';
import { type LaunchProof } from '../../mcp/config/launch.ts';

const REVIEW = 'Review…';
const START = 'Start Server';

/** Open questions by the server's name, so that the view can show one again. */
export class ServerApprovals {
  readonly #open = new Map<string, () => Promise<void>>();
  readonly #report: (error: unknown) => void;

  constructor(report: (error: unknown) => void) {
    this.#report = report;
  }

  /** Resolves once the user has decided; stays open if the user puts it off. */
  ask(server: ConfiguredServer, proof: LaunchProof, changed: boolean, signal: AbortSignal): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const close = () => resolve(false);
    signal.addEventListener('abort', close, { once: true });
    const review = async () => {
      const chosen = await vscode.window.showWarningMessage(
        `Start the MCP server “${server.name}”?`,
        { modal: true, detail: describeProof(server, proof, changed) },
        START,
      );
      if (chosen === START) resolve(true);
    };
    this.#open.set(server.name, review);
    void this.#announce(server, changed, review).catch(this.#report);
    return promise.finally(() => {
      signal.removeEventListener('abort', close);
      if (this.#open.get(server.name) === review) this.#open.delete(server.name);
    });
  }

  /** False: nothing is asked for this server. */
  async review(server: string): Promise<boolean> {
    const review = this.#open.get(server);
    await review?.();
    return review !== undefined;
  }

  async #announce({ name, source }: ConfiguredServer, changed: boolean, review: () => Promise<void>): Promise<void> {
    const message = changed
      ? `The MCP server “${name}” in ${source.label} has changed since you approved it.`
      : `This workspace configures the MCP server “${name}” in ${source.label}. It starts after your approval.`;
    if ((await vscode.window.showInformationMessage(message, REVIEW)) === REVIEW) await review();
  }
}

function describeProof(
  { source }: ConfiguredServer,
  { command, details, files }: LaunchProof,
  changed: boolean,
): string {
  return [
    `${source.label} configures it. It can do whatever you can do on this machine.`,
    ...(changed ? ['It has changed since you approved it.'] : []),
    '',
    command,
    ...details,
    ...files.map(({ path, sha256 }) => `\n${path}\nSHA-256 ${sha256}`),
  ].join('\n');
}

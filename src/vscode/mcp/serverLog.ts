// The log of MCP servers, in an output channel of its own. Secrets are masked.
import { isObject, parseJson } from '../../base/json/outsideJson.ts';
import * as vscode from 'vscode';
import { type Disposable } from '../../base/disposable.ts';
import { maskSecrets } from '../../base/secrets/maskSecrets.ts';
import { type ServerSecrets } from '../../mcp/oauth/signInPort.ts';

const MASK = '•••';
/** Shorter values would mask ordinary words. */
const SHORTEST = 6;
const MOST_LINE = 4000;

export class ServerLog implements Disposable {
  readonly #channel = vscode.window.createOutputChannel('Earshot: MCP Servers', { log: true });
  readonly #secrets = new Set<string>();

  /** From now on the value is masked in every line. */
  hide(value: string): void {
    if (value.length >= SHORTEST) this.#secrets.add(value);
  }

  /** Wraps the secrets: every value that is read or written is masked from then on. */
  hiding(secrets: ServerSecrets): ServerSecrets {
    return {
      get: async (key) => {
        const value = await secrets.get(key);
        if (value !== undefined) this.#hideAll(value);
        return value;
      },
      set: async (key, value) => {
        if (value !== undefined) this.#hideAll(value);
        await secrets.set(key, value);
      },
    };
  }

  write(server: string, line: string): void {
    this.#channel.info(`[${server}] ${this.#mask(line).slice(0, MOST_LINE)}`);
  }

  show(): void {
    this.#channel.show();
  }

  dispose(): void {
    this.#channel.dispose();
  }

  /** Tokens are stored as JSON: strings in it whose name suggests a secret are masked, too. */
  #hideAll(stored: string): void {
    this.hide(stored);
    const value = parseJson(stored);
    if (typeof value === 'string') this.hide(value);
    for (const [name, text] of Object.entries(isObject(value) ? value : {}))
      if (/token|secret|verifier|code/i.test(name) && typeof text === 'string') this.hide(text);
  }

  #mask(line: string): string {
    let masked = maskSecrets(line);
    for (const secret of this.#secrets) masked = masked.replaceAll(secret, MASK);
    return masked;
  }
}

// The connection of the MCP server to the window of its folder: attaches when needed, and again after the window has
// restarted.
import { describeError } from '../../base/errors.ts';
import { type CalledTool } from '../../protocol/outside/listener.ts';
import { nameInScope, scopeOf } from '../../protocol/scopes.ts';
import { type ListenerClient, ListenerRefused } from '../client/listenerClient.ts';
import { viewsOf } from '../hook/hookFiles.ts';
import { attachOrStart, withRoot } from '../hook/runHook.ts';
import { socketHome } from '../../node/hubFolder.ts';

const RETRY_AFTER = 2000;
const NOBODY =
  'Nothing is running: no VS Code window with Earshot has this folder open, and earshot-ears is not installed. Nothing is reported until one of them watches it.';

export interface WindowLinkDeps {
  readonly folder: string;
  readonly version: string;
  /** Identifies the agent's process. */
  readonly client: string | undefined;
  agent(): string;
}

export interface PendingText {
  readonly text: string;
  /** Call it once the agent has the text. */
  delivered(): Promise<void>;
}

const NOTHING: PendingText = { text: '', delivered: () => Promise.resolve() };

export class WindowLink {
  readonly #deps: WindowLinkDeps;
  #attaching: Promise<ListenerClient> | undefined;
  #retrying: NodeJS.Timeout | undefined;
  #closed = false;
  readonly #changed = new Set<() => void>();

  constructor(deps: WindowLinkDeps) {
    this.#deps = deps;
  }

  /** Calls the listener when the number of pending notifications may have changed. The result removes the listener. */
  onDidChange(listener: () => void): () => void {
    const own = () => listener();
    this.#changed.add(own);
    return () => this.#changed.delete(own);
  }

  /** Attaches now, or as soon as a window is running. From then on notifications are queued for the agent. */
  follow(): void {
    if (this.#closed) return;
    this.#attach().catch(() => this.#retryLater());
  }

  async pending(): Promise<PendingText> {
    const window = await this.#attach();
    const { text, through } = await window.request('pending', {});
    return {
      text: text === '' ? '' : withRoot(text, window.root, this.#deps.folder),
      delivered: async () => {
        await window.request('delivered', { through });
      },
    };
  }

  /** `files`: files whose present content the agent has read. */
  async watch(files: readonly string[], add: readonly string[], remove: readonly string[]): Promise<readonly string[]> {
    const window = await this.#attach();
    for (const path of files) {
      const [view] = await viewsOf({ path, edited: false, lines: Number.MAX_SAFE_INTEGER }, this.#deps.folder);
      if (view === undefined)
        throw new ListenerRefused(`files: ${path} cannot be read, or is too large to be followed.`);
      await window.request('seen', view);
    }
    const scopes = (globs: readonly string[]) => globs.map((glob) => scopeOf('glob', glob));
    const watching = await window.request('watch', { scopes: scopes(add), remove: scopes(remove) });
    return watching.scopes.map((scope) => nameInScope('glob', scope) ?? scope);
  }

  async read(args: Readonly<Record<string, unknown>>): Promise<string> {
    const window = await this.#attach();
    return (await window.request('read', { arguments: { ...args } })).text;
  }

  /** Rejects with ListenerRefused and what is wrong with the arguments. */
  async call(tool: CalledTool, args: Readonly<Record<string, unknown>>): Promise<string> {
    const window = await this.#attach();
    return (await window.request('call', { tool, arguments: { ...args } })).text;
  }

  /** Like `pending`, but waits until something is pending, the time is over, or the signal is aborted. */
  async wait(seconds: number, signal: AbortSignal): Promise<PendingText> {
    const over = AbortSignal.any([signal, AbortSignal.timeout(Math.ceil(seconds * 1000))]);
    let now = await this.pending();
    while (now.text === '' && !over.aborted) {
      // Listens before it asks, so that no change in between is missed.
      const change = this.#nextChange(over);
      // The window may be restarting.
      now = await this.pending().catch(() => NOTHING);
      if (now.text === '') await change;
    }
    return now;
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#retrying);
    this.#attaching?.then(
      (window) => window.close(),
      () => undefined,
    );
  }

  #nextChange(over: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const stop = this.onDidChange(() => end());
      const end = () => {
        stop();
        over.removeEventListener('abort', end);
        resolve();
      };
      over.addEventListener('abort', end, { once: true });
      if (over.aborted) end();
    });
  }

  /** Rejects with a reason that the agent can be shown. */
  #attach(): Promise<ListenerClient> {
    this.#attaching ??= this.#attachNow().catch((error: unknown) => {
      this.#attaching = undefined;
      this.#retryLater();
      throw error;
    });
    return this.#attaching;
  }

  async #attachNow(): Promise<ListenerClient> {
    const { folder, version, client, agent } = this.#deps;
    const window = await attachOrStart(folder, { agent: agent(), version, client }, socketHome());
    if (window === undefined) throw new ListenerRefused(NOBODY);
    const fire = () => {
      for (const listener of this.#changed) listener();
    };
    window.onDidChange = fire;
    window.closed.then(
      () => {
        this.#attaching = undefined;
        this.follow();
      },
      () => undefined,
    );
    fire();
    return window;
  }

  #retryLater(): void {
    if (this.#closed) return;
    clearTimeout(this.#retrying);
    this.#retrying = setTimeout(() => this.follow(), RETRY_AFTER);
    this.#retrying.unref();
  }
}

export function describeLinkError(error: unknown): string {
  return error instanceof ListenerRefused ? error.message : `Earshot does not answer: ${describeError(error)}`;
}

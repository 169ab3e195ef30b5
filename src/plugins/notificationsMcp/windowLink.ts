// The connection of the MCP server to the window of its folder: attaches when it is needed, and again when the window comes back.
import { describeError } from '../../base/errors.ts';
import { attachListener, type ListenerClient, ListenerRefused } from '../client/listenerClient.ts';
import { viewOf } from '../hook/hookFiles.ts';
import { withRoot } from '../hook/runHook.ts';

const LOOKS_AGAIN_AFTER = 2000;
const NOBODY =
  'Nothing is running: no VS Code window with Earshot has this folder open. Nothing is reported until one does.';

export interface WindowLinkDeps {
  readonly folder: string;
  readonly version: string;
  /** Names the agent's process. */
  readonly client: string | undefined;
  agent(): string;
}

export interface PendingText {
  readonly text: string;
  /** The agent has it. */
  delivered(): Promise<void>;
}

const NOTHING: PendingText = { text: '', delivered: () => Promise.resolve() };

export class WindowLink {
  readonly #deps: WindowLinkDeps;
  #attaching: Promise<ListenerClient> | undefined;
  #looking: NodeJS.Timeout | undefined;
  #closed = false;
  readonly #changed = new Set<() => void>();

  constructor(deps: WindowLinkDeps) {
    this.#deps = deps;
  }

  /** Called when something has become pending or was delivered, until the returned function is called. */
  onDidChange(listener: () => void): () => void {
    const own = () => listener();
    this.#changed.add(own);
    return () => this.#changed.delete(own);
  }

  /** Attaches, now or as soon as there is a window, so that what happens from then on is queued. */
  follow(): void {
    if (this.#closed) return;
    this.#attach().catch(() => this.#lookAgain());
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

  /** `files`: the agent has read them as they are now. */
  async watch(files: readonly string[], add: readonly string[], remove: readonly string[]): Promise<readonly string[]> {
    const window = await this.#attach();
    for (const path of files) {
      const view = await viewOf({ path, edited: false, lines: Number.MAX_SAFE_INTEGER }, this.#deps.folder);
      if (view === undefined)
        throw new ListenerRefused(`files: ${path} cannot be read, or is too large to be followed.`);
      await window.request('seen', view);
    }
    const scopes = (globs: readonly string[]) => globs.map((glob) => `glob:${glob}`);
    const watching = await window.request('watch', { scopes: scopes(add), remove: scopes(remove) });
    return watching.scopes.map((scope) => scope.replace(/^glob:/, ''));
  }

  async read(args: Readonly<Record<string, unknown>>): Promise<string> {
    const window = await this.#attach();
    return (await window.request('read', { arguments: { ...args } })).text;
  }

  /** The same as `pending`, once there is something, the time is over or the signal is aborted. */
  async wait(seconds: number, signal: AbortSignal): Promise<PendingText> {
    const over = AbortSignal.any([signal, AbortSignal.timeout(Math.ceil(seconds * 1000))]);
    let now = await this.pending();
    while (now.text === '' && !over.aborted) {
      // Listens before it asks: what comes between must not be missed.
      const change = this.#nextChange(over);
      // The window may be gone for a moment.
      now = await this.pending().catch(() => NOTHING);
      if (now.text === '') await change;
    }
    return now;
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#looking);
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

  /** Rejects with a readable reason. */
  #attach(): Promise<ListenerClient> {
    this.#attaching ??= this.#attachNow().catch((error: unknown) => {
      this.#attaching = undefined;
      this.#lookAgain();
      throw error;
    });
    return this.#attaching;
  }

  async #attachNow(): Promise<ListenerClient> {
    const { folder, version, client, agent } = this.#deps;
    const window = await attachListener(folder, { agent: agent(), version, client });
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

  #lookAgain(): void {
    if (this.#closed) return;
    clearTimeout(this.#looking);
    this.#looking = setTimeout(() => this.follow(), LOOKS_AGAIN_AFTER);
    this.#looking.unref();
  }
}

export function describeLinkError(error: unknown): string {
  return error instanceof ListenerRefused ? error.message : `Earshot does not answer: ${describeError(error)}`;
}

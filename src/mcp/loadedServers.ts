// The configured MCP servers of a window, or of a folder without an editor. Their code is loaded with the first server.
import { Sequence } from '../base/async.ts';
import { type Disposable } from '../base/disposable.ts';
import { type RemoteTasks } from '../core/ports/processes.ts';
import { type ConfiguredServer } from './config/configuration.ts';
import { type McpServers } from './servers.ts';

export interface LoadedServersDeps<Part> {
  /** The configured servers. */
  read(): Promise<readonly ConfiguredServer[]> | readonly ConfiguredServer[];
  load(): Promise<Part>;
  report(error: unknown): void;
}

/** `Part`: the servers with all that exists only while one is configured. */
export class LoadedServers<Part extends Disposable & { readonly servers: McpServers }> implements Disposable {
  readonly #deps: LoadedServersDeps<Part>;
  readonly #changes = new Sequence();
  #part: Part | undefined;
  #ended = false;

  /** Starts the configured servers. */
  constructor(deps: LoadedServersDeps<Part>) {
    this.#deps = deps;
    this.refresh();
  }

  /** Passed to Earshot. */
  readonly ports = {
    toolsReady: async () => {
      await this.#changes.settled();
      await this.#part?.servers.settled();
    },
    moreInstructions: () => this.#part?.servers.instructions ?? [],
  };

  readonly tasks: RemoteTasks = {
    reattach: async (task) => {
      await this.#changes.settled();
      return this.#part?.servers.reattachTask(task);
    },
  };

  /** Undefined while no server is configured. */
  get part(): Part | undefined {
    return this.#part;
  }

  /** Call it when the configuration has changed. */
  refresh(): void {
    void this.#changes.run(() => this.#configure()).catch((error: unknown) => this.#deps.report(error));
  }

  /** Resolves once every process has ended. */
  async close(): Promise<void> {
    this.#ended = true;
    await this.#changes.settled();
    await this.#part?.servers.close();
  }

  dispose(): void {
    this.#ended = true;
    this.#part?.dispose();
    this.#part = undefined;
  }

  async #configure(): Promise<void> {
    const { read, load } = this.#deps;
    if (this.#ended) return;
    const servers = await read();
    const part = this.#part ?? (servers.length > 0 ? await load() : undefined);
    const isUsed = servers.length > 0 && !this.#hasEnded();
    this.#part = isUsed ? part : undefined;
    await part?.servers.configure(isUsed ? servers : []);
    if (isUsed) return;
    await part?.servers.close();
    part?.dispose();
  }

  /** A method, so that the compiler does not assume the same value after an `await`. */
  #hasEnded(): boolean {
    return this.#ended;
  }
}

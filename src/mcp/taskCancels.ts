// Cancels tasks on a server. A cancellation that could not be sent is stored, so that it survives a restart of the
// editor, and is sent once the server is connected.
import { type McpMemory } from './serverPort.ts';
import { type McpSession } from './session/sessionPort.ts';

/** Longer keys are not stored. */
const MOST_KEY = 900;

export class TaskCancels {
  readonly #memory: McpMemory;
  readonly #prefix: string;

  /** `identity`: that of the configured server. */
  constructor(memory: McpMemory, identity: string) {
    this.#memory = memory;
    this.#prefix = `cancel:${identity}:`;
  }

  /** Resolves once the server has answered, or the cancellation is stored because there is no connection. */
  cancel(reference: string, session: McpSession | undefined): Promise<void> {
    return this.#cancel(reference, session, true);
  }

  async connected(session: McpSession): Promise<void> {
    for (const key of this.#memory.keys(this.#prefix)) {
      await this.#cancel(key.slice(this.#prefix.length), session, false);
    }
  }

  async #cancel(reference: string, session: McpSession | undefined, isAwaited: boolean): Promise<void> {
    const key = this.#prefix + reference;
    const isKept = key.length <= MOST_KEY;
    // Stored before it is sent: the window may close before the answer comes.
    if (isKept) await this.#memory.set(key, true);
    if (session === undefined) return;
    await session.cancelTask(reference, { isAwaited });
    if (isKept) await this.#memory.set(key, false);
  }
}

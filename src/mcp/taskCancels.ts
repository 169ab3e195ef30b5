// Cancels tasks at a server. A cancellation that could not be sent is remembered, also over restarts of the editor, and sent
// once the server is connected.
import { type McpMemory } from './serverPort.ts';
import { type McpSession } from './session/sessionPort.ts';

/** Longer keys are not remembered. */
const MOST_KEY = 900;

export class TaskCancels {
  readonly #memory: McpMemory;
  readonly #prefix: string;

  /** `identity` of the configured server. */
  constructor(memory: McpMemory, identity: string) {
    this.#memory = memory;
    this.#prefix = `cancel:${identity}:`;
  }

  /** Resolves once the server has answered, or the task is remembered. */
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
    // First: the window may close before the answer.
    if (isKept) await this.#memory.set(key, true);
    if (session === undefined) return;
    await session.cancelTask(reference, { isAwaited });
    if (isKept) await this.#memory.set(key, false);
  }
}

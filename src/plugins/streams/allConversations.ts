// Detects new events and new conversations of the workspace in all windows, while a subscription to all conversations
// exists.
import { type Clock } from '../../base/clock.ts';
import { type Disposable, DisposableStore, toDisposable } from '../../base/disposable.ts';
import { Emitter } from '../../base/emitter.ts';
import { type Result } from '../../base/errors.ts';
import { type Earshot } from '../../core/earshot.ts';
import { type Logger } from '../../core/ports/ports.ts';
import { type Store } from '../../core/ports/storage.ts';

/** Interval for conversations of other windows; events of this window are reported at once. */
const POLL_MILLISECONDS = 1000;

export interface AllConversationsDeps {
  readonly earshot: Earshot;
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
}

export class AllConversations implements Disposable {
  readonly #deps: AllConversationsDeps;
  readonly #held = new DisposableStore();
  readonly #onDidGrow: Emitter<string>;
  #sizes: ReadonlyMap<string, number> = new Map();
  #listeners = 0;
  #timer: Disposable | undefined;
  #ended = false;

  constructor(deps: AllConversationsDeps) {
    this.#deps = deps;
    this.#onDidGrow = this.#held.add(
      new Emitter((error) => deps.logger.error('a subscription of a plugin failed', error)),
    );
    this.#held.add(deps.earshot.onDidChange(({ conversation }) => this.#onDidGrow.fire(conversation)));
    this.#held.add(deps.earshot.onDidChangeLive((conversation) => this.#onDidGrow.fire(conversation)));
  }

  /** Fires with the id of a conversation that is new or may have new events. */
  onDidGrow(listener: (conversation: string) => void): Disposable {
    const listening = this.#onDidGrow.event(listener);
    this.#listeners += 1;
    if (this.#listeners === 1) this.#wait();
    return toDisposable(() => {
      listening.dispose();
      this.#listeners -= 1;
      if (this.#listeners === 0) this.#timer?.dispose();
    });
  }

  /** All conversations with the number of their last event. Events after that are reported by `onDidGrow`. */
  async ends(): Promise<Result<ReadonlyMap<string, number>>> {
    const sizes = await this.#deps.store.sizes();
    if (!sizes.ok) return sizes;
    if (this.#listeners === 0) this.#sizes = sizes.value;
    const ends = new Map<string, number>();
    for (const id of sizes.value.keys()) {
      const end = await this.#deps.store.end(id);
      if (end.ok && end.value.lastSeq > 0) ends.set(id, end.value.lastSeq);
    }
    return { ok: true, value: ends };
  }

  dispose(): void {
    this.#ended = true;
    this.#timer?.dispose();
    this.#held.dispose();
  }

  #wait(): void {
    this.#timer?.dispose();
    const report = (error: unknown) =>
      this.#deps.logger.error('the conversations cannot be listed for a plugin', error);
    this.#timer = this.#deps.clock.after(POLL_MILLISECONDS, () => void this.#poll().catch(report));
  }

  async #poll(): Promise<void> {
    const sizes = await this.#deps.store.sizes();
    if (this.#ended || this.#listeners === 0) return;
    if (sizes.ok) {
      const before = this.#sizes;
      this.#sizes = sizes.value;
      for (const [id, size] of sizes.value) if (before.get(id) !== size) this.#onDidGrow.fire(id);
    }
    this.#wait();
  }
}

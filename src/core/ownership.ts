// Passes conversations between windows: takes ownership, and releases it to a window that chose *Continue here*.
import { within } from '../base/async.ts';
import { type Disposable } from '../base/disposable.ts';
import { failed, type Result, succeeded } from '../base/errors.ts';
import { type ConversationChange, storageFailure } from './conversation/liveConversation.ts';
import { endBesideTurns, type Live } from './live.ts';
import { type HeldLock } from './ports/storage.ts';
import { type Services } from './tools/services.ts';
import { type Turns } from './turns.ts';

/** An aborted turn ends within this time, unless it waits for an editor that is gone. */
const ENDED_WITHIN = 2000;

export interface OwnershipDeps {
  readonly ports: Services;
  readonly turns: Turns;
  changed(change: ConversationChange): void;
  /** Subscribes the conversation and watches the files it has seen, until the result is disposed of. */
  join(live: Live): Disposable;
  isOpen(live: Live): boolean;
  close(id: string): Promise<void>;
}

export class Ownership {
  readonly #deps: OwnershipDeps;

  constructor(deps: OwnershipDeps) {
    this.#deps = deps;
  }

  /** Makes this window the owner. A turn that was handed over between two cycles continues; others are recovered. */
  async own(live: Live, lock: HeldLock | undefined): Promise<void> {
    const { ports, turns } = this.#deps;
    const { log } = live;
    if (lock !== undefined) {
      live.lock = lock;
      live.held.add(lock.onDidLose(() => this.release(live)));
    }
    if (log.state.turn.key === '') {
      await log.append({ type: 'conversation_started', key: ports.ids.key() });
      const choice = ports.firstChoice?.() ?? {};
      if (Object.keys(choice).length > 0) await log.append({ type: 'choice_made', ...choice });
    }
    live.subscriptions = this.#deps.join(live);
    turns.startActivator(live);
    await ports.handles.reattach(log, lock?.handedOver === true);
    // After the commands, since conditions are about them.
    live.wakes = ports.wakes.join(log);
    await turns.resume(live, lock?.handedOver === true);
    if (lock === undefined) return;
    live.held.add(lock.onDidRequest(() => live.handOver.request()));
  }

  /** Requests ownership from the owner; with `ifFree`, takes it only if there is no owner. */
  async take(live: Live, ifFree: boolean): Promise<Result<void>> {
    const { lock: locks } = this.#deps.ports;
    const isMine = () => live.log.owned;
    if (isMine() || live.taking !== undefined) return succeeded(undefined);
    const { id } = live.log;
    const taking = new AbortController();
    live.taking = taking;
    if (!ifFree) {
      live.awaited = true;
      this.#deps.changed({ conversation: id });
    }
    try {
      // An earlier turn that has not ended must not find a log that it could write to.
      await live.turn?.ended;
      const lock = await (ifFree ? locks.acquire(id) : locks.request(id, taking.signal));
      if (lock === undefined) return succeeded(undefined);
      return await this.#becomeOwner(live, lock);
    } catch (error) {
      if (taking.signal.aborted) return closedFailure();
      return storageFailure(error);
    } finally {
      delete live.taking;
      delete live.awaited;
      if (this.#deps.isOpen(live) && isMine()) this.#deps.changed({ conversation: id, reset: true });
    }
  }

  release(live: Live): void {
    const report = (error: unknown) => this.#deps.ports.logger.error('a conversation could not be handed over', error);
    void this.#becomeFollower(live).catch(report);
  }

  async #becomeOwner(live: Live, lock: HeldLock): Promise<Result<void>> {
    const { id } = live.log;
    if (!this.#deps.isOpen(live)) {
      await lock.release();
      return closedFailure();
    }
    await live.log.closeFile();
    const opened = await this.#deps.ports.store.open(id);
    if (!opened.ok) {
      await lock.release();
      await this.#deps.close(id);
      return opened;
    }
    live.log.become(opened.value);
    delete live.owner;
    await this.own(live, lock);
    return succeeded(undefined);
  }

  /** Writes nothing, so that the turn stays open for the other window. */
  async #becomeFollower(live: Live): Promise<void> {
    const { id } = live.log;
    const closed = live.log.closeFile();
    live.turn?.control.stop();
    unsubscribe(live);
    await closed;
    await this.#untilEnded(live);
    this.#deps.ports.handles.release(id);
    await live.lock?.release();
    delete live.lock;
    const followed = await this.#deps.ports.store.follow(id);
    if (!followed.ok || !this.#deps.isOpen(live)) return this.#deps.close(id);
    live.log.become(followed.value);
    const owner = await this.#deps.ports.lock.owner(id);
    if (owner !== undefined) live.owner = owner;
    this.#deps.changed({ conversation: id, reset: true });
  }

  /** Waits for a limited time: work that hangs can no longer write, and the other window must not wait for it. */
  async #untilEnded(live: Live): Promise<void> {
    await within(this.#deps.ports.clock, ENDED_WITHIN, Promise.all([live.turn?.ended, endBesideTurns(live)]));
  }
}

export function unsubscribe(live: Live): void {
  live.subscriptions?.dispose();
  delete live.subscriptions;
  live.wakes?.dispose();
  delete live.wakes;
  live.activator?.dispose();
  delete live.activator;
}

function closedFailure(): Result<void> {
  return failed('cancelled', 'The conversation was closed.');
}

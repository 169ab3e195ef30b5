// Keeps conversations live that no chat shows, while something runs in them or is due, a mention is pending or a plugin
// holds them.
import { type Clock } from '../base/clock.ts';
import { type Disposable, DisposableStore, toDisposable } from '../base/disposable.ts';
import { type Earshot } from './earshot.ts';
import { isMention } from './notify/activation.ts';
import { type Logger } from './ports/ports.ts';
import { type Supervision } from './ports/processes.ts';
import { type Handles } from './tools/handles.ts';
import { type Wakes } from './wakes/wakes.ts';

export interface KeepAliveDeps {
  readonly earshot: Earshot;
  readonly handles: Handles;
  readonly supervision: Pick<Supervision, 'hasUnfinished'>;
  readonly wakes: Pick<Wakes, 'hasAny' | 'due'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** A delay, because the end of the last command must be queued before the conversation is closed. */
const CLOSE_AFTER = 5000;
/**
 * Reattaching is retried, because after a reload the previous extension host may still own a conversation for a moment.
 */
const ATTEMPTS = 10;
const TRY_AGAIN_AFTER = 1000;

export class KeepAlive implements Disposable {
  readonly #deps: KeepAliveDeps;
  readonly #held = new DisposableStore();
  readonly #left = new Set<string>();
  /** The number of holds on each conversation. */
  readonly #holds = new Map<string, number>();
  readonly #timers = new Map<string, Disposable>();

  constructor(deps: KeepAliveDeps) {
    this.#deps = deps;
    this.#held.add(
      deps.handles.onDidChange(({ type, handle }) => type === 'state' && this.#closeWhenIdle(handle.conversation)),
    );
    this.#held.add(
      deps.earshot.onDidChange(({ conversation, folded }) => !folded && this.#closeWhenIdle(conversation)),
    );
  }

  /** Call when a conversation is no longer shown. It is closed now, or once nothing runs in it and nobody holds it. */
  async leave(id: string): Promise<void> {
    if (!this.#isBusy(id)) return this.#deps.earshot.close(id);
    this.#left.add(id);
  }

  /**
   * Keeps a conversation live until the result is disposed of, even if no chat shows it. `opened`: it was opened for
   * this.
   */
  hold(id: string, opened: boolean): Disposable {
    if (opened) this.#left.add(id);
    this.#holds.set(id, (this.#holds.get(id) ?? 0) + 1);
    return toDisposable(() => {
      const left = (this.#holds.get(id) ?? 1) - 1;
      if (left > 0) this.#holds.set(id, left);
      else this.#holds.delete(id);
      if (left === 0) this.#closeWhenIdle(id);
    });
  }

  /**
   * Opens conversations whose turns were running when the window was closed. Open approvals and questions are asked
   * again.
   */
  async resume(ids: readonly string[]): Promise<void> {
    for (const id of ids) {
      this.#left.add(id);
      const opened = await this.#deps.earshot.open(id);
      if (!opened.ok || !opened.value.owned) {
        this.#left.delete(id);
        await this.#deps.earshot.close(id);
      } else this.#closeWhenIdle(id);
    }
  }

  /**
   * Opens those of these conversations whose commands are still running, since their supervisors wait for an owner, or
   * that have a timer or a condition.
   */
  async reattach(ids: readonly string[], attempts = ATTEMPTS): Promise<void> {
    const { earshot, supervision, handles, wakes } = this.#deps;
    const again: string[] = [];
    const due = await wakes.due();
    for (const id of ids) {
      if (earshot.get(id) !== undefined || !(due.has(id) || (await supervision.hasUnfinished(id)))) continue;
      const opened = await earshot.open(id);
      if (opened.ok && opened.value.owned && (due.has(id) || handles.hasRunning(id))) {
        this.#left.add(id);
        // What was due may be firing just now, which wakes the model a moment later.
        this.#closeWhenIdle(id);
        continue;
      }
      await earshot.close(id);
      if (!opened.ok || !opened.value.owned) again.push(id);
    }
    if (again.length === 0 || attempts <= 1) return;
    const report = (error: unknown) => this.#deps.logger.error('could not reattach to background commands', error);
    const timer = this.#held.add(
      this.#deps.clock.after(TRY_AGAIN_AFTER, () => {
        this.#held.release(timer);
        void this.reattach(again, attempts - 1).catch(report);
      }),
    );
  }

  dispose(): void {
    this.#held.dispose();
  }

  #closeWhenIdle(id: string): void {
    if (!this.#left.has(id) || this.#isBusy(id)) return;
    this.#stopTimer(id);
    const close = () => {
      this.#stopTimer(id);
      if (!this.#left.has(id) || this.#isBusy(id)) return;
      this.#left.delete(id);
      const report = (error: unknown) => this.#deps.logger.error('a conversation could not be closed', error);
      void this.#deps.earshot.close(id).catch(report);
    };
    this.#timers.set(id, this.#held.add(this.#deps.clock.after(CLOSE_AFTER, close)));
  }

  #stopTimer(id: string): void {
    const timer = this.#timers.get(id);
    if (timer !== undefined) this.#held.release(timer);
    this.#timers.delete(id);
  }

  #isBusy(id: string): boolean {
    const isRunning = this.#deps.earshot.get(id)?.running === true;
    const { handles, wakes } = this.#deps;
    const isNeeded = handles.hasRunning(id) || wakes.hasAny(id) || this.#isMentioned(id);
    return isRunning || this.#holds.has(id) || isNeeded;
  }

  /** Whether another agent waits for an answer. */
  #isMentioned(id: string): boolean {
    return this.#deps.earshot.get(id)?.log.state.pending.notifications.some(isMention) === true;
  }
}

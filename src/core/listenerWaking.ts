// Decides when an idle outside agent may be woken: by the rules and within the limits of conversations.
import { type Disposable, DisposableStore } from '../base/disposable.ts';
import { type Settings } from '../protocol/settings.ts';
import { type ConversationLog } from './conversation/log.ts';
import { decideActivation, type WakeHistory } from './notify/activation.ts';
import { type Clock } from './ports/ports.ts';

interface ListenerWakingDeps {
  readonly log: ConversationLog;
  readonly ports: { readonly clock: Clock; settings(): Settings };
}

/** `woken`: false if a newer waiter has taken its place, so that one event wakes the agent once. */
type Waiter = (woken: boolean) => void;

export class ListenerWaking implements Disposable {
  readonly #deps: ListenerWakingDeps;
  readonly #held = new DisposableStore();
  #waiter: Waiter | undefined;
  #timer: Disposable | undefined;
  #inARow = 0;
  #woken = new Map<string, WakeHistory>();
  /** It was woken, but did not get what woke it. */
  #isOwed = false;

  constructor(deps: ListenerWakingDeps) {
    this.#deps = deps;
    this.#held.add(deps.log.onDidAppend(({ event }) => event.type === 'notification_queued' && this.#reconsider()));
    this.#held.add(deps.log.onDidReset(() => this.#reconsider()));
  }

  /** A message of the user resets the limits of wake-ups in a row. */
  userWrote(): void {
    this.#inARow = 0;
    this.#woken = new Map();
    this.#isOwed = false;
  }

  /** The agent is gone with what it was woken for: the next waiter is woken at once. */
  owe(): void {
    this.#isOwed = true;
    this.#reconsider();
  }

  /** The agent is idle: calls `waiter` once, at once if something may wake it now. Takes the place of an earlier waiter. */
  wait(waiter: Waiter): Disposable {
    this.#waiter?.(false);
    this.#waiter = waiter;
    this.#reconsider();
    return {
      dispose: () => {
        if (this.#waiter === waiter) this.#waiter = undefined;
      },
    };
  }

  dispose(): void {
    this.#timer?.dispose();
    this.#held.dispose();
  }

  #reconsider(): void {
    this.#timer?.dispose();
    this.#timer = undefined;
    const waiter = this.#waiter;
    if (waiter === undefined) return;
    const { log, ports } = this.#deps;
    const now = ports.clock.now();
    const decision = decideActivation({
      ...{ pending: log.state.pending.notifications, settings: ports.settings(), now, grants: log.state.wakes },
      ...{ doing: 'nothing', userHasWritten: true, outcome: 'done', mayAsk: true, lastAbort: undefined },
      ...{ inARow: this.#inARow, woken: this.#woken },
    });
    if (decision.type === 'held' && decision.until !== undefined) {
      this.#timer = ports.clock.after(decision.until - now, () => this.#reconsider());
    }
    const wakes = decision.type === 'wake' || decision.type === 'interrupt';
    if (!wakes && !this.#isOwed) return;
    if (wakes) {
      if (decision.granted !== true) this.#inARow += 1;
      for (const kind of decision.kinds) {
        this.#woken.set(kind, { times: (this.#woken.get(kind)?.times ?? 0) + 1, at: now });
      }
    }
    this.#isOwed = false;
    this.#waiter = undefined;
    waiter(true);
  }
}

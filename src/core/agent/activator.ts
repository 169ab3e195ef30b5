// Wakes or interrupts the model for pending notifications, and tracks the state that the limits need.
import { type Disposable, DisposableStore } from '../../base/disposable.ts';
import { type HeldReason } from '../../protocol/webview.ts';
import { type ConversationLog } from '../conversation/log.ts';
import { type Activation, decideActivation, type WakeHistory, wishOf } from '../notify/activation.ts';
import { type Ports } from '../ports/ports.ts';

export interface ActivatorDeps {
  readonly log: ConversationLog;
  readonly ports: Pick<Ports, 'clock' | 'settings' | 'model'>;
  doing(): 'nothing' | 'answering' | 'busy';
  /** Both begin synchronously, so that the next check sees that something is running. */
  wake(): void;
  interrupt(): void;
  /** Fires when the hold reason changes. */
  changed(): void;
}

/**
 * One for each conversation that this window owns. Checks when a notification that may wake or interrupt is queued,
 * when a turn has ended, and when a limit has expired. Deciding and acting is one step, so that no event is missed.
 */
export class Activator implements Disposable {
  readonly #deps: ActivatorDeps;
  readonly #listening = new DisposableStore();
  #timer: Disposable | undefined;
  #userHasWritten = false;
  #inARow = 0;
  #lastAbort: number | undefined;
  #woken = new Map<string, WakeHistory>();
  #held: HeldReason | undefined;

  constructor(deps: ActivatorDeps) {
    this.#deps = deps;
    const { log } = deps;
    this.#listening.add(
      log.onDidAppend(({ event }) => {
        // Most notifications are passive; each of these costs one check, however many are pending.
        if (event.type === 'notification_queued') {
          const wish = wishOf(event.notification, deps.ports.settings(), log.state.wakes);
          if (wish !== 'passive') this.reconsider();
        } else if (this.#held !== undefined && mayFree(event.type)) this.reconsider();
      }),
    );
    this.#listening.add(log.onDidReset(() => this.reconsider()));
  }

  /** Why a notification that would wake or interrupt is held back. */
  get held(): HeldReason | undefined {
    return this.#held;
  }

  /** A message of the user resets the count of automatic runs in a row. */
  userWrote(): void {
    this.#userHasWritten = true;
    this.#inARow = 0;
    this.#woken = new Map();
  }

  reconsider(): void {
    const { log } = this.#deps;
    this.#timer?.dispose();
    this.#timer = undefined;
    const doing = this.#deps.doing();
    if (!log.owned || log.isBroken || (doing === 'nothing' && log.state.turn.isOpen)) return this.#hold(undefined);
    const decision = this.#decide(doing);
    this.#hold(decision.type === 'held' ? decision.reason : undefined);
    switch (decision.type) {
      case 'wait':
        return;
      case 'held':
        if (decision.until !== undefined) this.#reconsiderAt(decision.until);
        return;
      case 'wake':
      case 'interrupt':
        this.#remember(decision);
        this.#deps[decision.type]();
    }
  }

  dispose(): void {
    this.#timer?.dispose();
    this.#listening.dispose();
  }

  #decide(doing: 'nothing' | 'answering' | 'busy'): Activation {
    const { log, ports } = this.#deps;
    return decideActivation({
      pending: log.state.pending.notifications,
      settings: ports.settings(),
      now: ports.clock.now(),
      doing,
      userHasWritten: this.#userHasWritten,
      outcome: log.state.turn.outcome,
      inARow: this.#inARow,
      lastAbort: this.#lastAbort,
      woken: this.#woken,
      mayAsk: ports.model().mayRunUnasked?.() ?? true,
      grants: log.state.wakes,
    });
  }

  #remember({ type, kinds, granted }: Extract<Activation, { type: 'wake' | 'interrupt' }>): void {
    const now = this.#deps.ports.clock.now();
    if (granted !== true) this.#inARow += 1;
    if (type === 'interrupt') this.#lastAbort = now;
    for (const kind of kinds) this.#woken.set(kind, { times: (this.#woken.get(kind)?.times ?? 0) + 1, at: now });
  }

  #reconsiderAt(time: number): void {
    const { clock } = this.#deps.ports;
    this.#timer = clock.after(time - clock.now(), () => {
      this.#timer = undefined;
      this.reconsider();
    });
  }

  #hold(reason: HeldReason | undefined): void {
    if (reason === this.#held) return;
    this.#held = reason;
    this.#deps.changed();
  }
}

/** Whether events of this type can remove pending notifications. */
function mayFree(type: string): boolean {
  return type === 'chat_request' || type === 'tool_call_response' || type === 'notification_withdrawn';
}

// Stops or interrupts a running turn: aborts its current answer or tools, if any.

/** `user`: a message that interrupts. `event`: a critical notification. `delivery`: the user chose *Deliver Now*. */
export type Interruption = 'user' | 'event' | 'delivery';

/** `between`: nothing is running that could be interrupted. `waiting`: for the next attempt at a model call. */
export type Phase = 'between' | 'answering' | 'waiting' | 'tools';

/** One for each turn. Only the loop sets the phase and takes the interruption. */
export class TurnControl {
  #phase: Phase = 'between';
  #current = new AbortController();
  readonly #turn = new AbortController();
  #wanted: Interruption | undefined;
  #broke = false;

  get phase(): Phase {
    return this.#phase;
  }

  /** The user stopped the turn, or the window is closing. */
  get isStopped(): boolean {
    return this.#turn.signal.aborted;
  }

  /** For work that is independent of the phases: aborted when the turn is stopped. */
  get stopped(): AbortSignal {
    return this.#turn.signal;
  }

  /** The pending interruption, which is handled before the next model call. */
  get wanted(): Interruption | undefined {
    return this.#wanted;
  }

  stop(): void {
    this.#turn.abort();
    this.#current.abort();
  }

  /**
   * An event or a delivery interrupts only an answer: tools deliver it with their results. A wait for the next attempt continues,
   * since the endpoint asked for it; the interrupting request is sent with that attempt.
   */
  interrupt(by: Interruption): void {
    if (by !== 'user' && this.#phase === 'tools') return;
    if (by === 'user' || this.#wanted === undefined) this.#wanted = by;
    if (this.#phase !== 'answering' && this.#phase !== 'tools') return;
    this.#broke ||= this.#phase === 'answering';
    this.#current.abort();
  }

  /** Enters a phase and returns its signal. */
  enter(phase: Phase): AbortSignal {
    this.#phase = phase;
    if (this.#current.signal.aborted && !this.isStopped) this.#current = new AbortController();
    // The user interrupted while the calls were still being streamed: they are cancelled before they begin.
    if (phase === 'tools' && this.#wanted === 'user') this.#current.abort();
    return this.#current.signal;
  }

  /** Returns the interruption once. `broke`: an answer was aborted for it, so the model must be called again. */
  take(): { readonly by: Interruption; readonly broke: boolean } | undefined {
    const by = this.#wanted;
    if (by === undefined) return undefined;
    const broke = this.#broke;
    this.#wanted = undefined;
    this.#broke = false;
    return { by, broke };
  }
}

// The background commands of a followed conversation: reads them when they may have changed, and while some run, since
// their output and running time have no events.
import { type Clock } from '../../base/clock.ts';
import { type Disposable } from '../../base/disposable.ts';
import { type HandleView } from '../../protocol/page/handlesView.ts';

/** Changes come in bursts, so they are collected for this long. */
const REFRESH_AFTER = 200;
const TICK = 3000;

export interface FollowedCommandsDeps {
  readonly clock: Clock;
  list(): Promise<readonly HandleView[]>;
  /** Called if they differ from the last ones. */
  changed(commands: readonly HandleView[]): void;
  report(error: unknown): void;
}

export class FollowedCommands implements Disposable {
  readonly #deps: FollowedCommandsDeps;
  #timer: { readonly due: number; readonly timer: Disposable } | undefined;
  #read: readonly HandleView[] = [];
  #ended = false;

  constructor(deps: FollowedCommandsDeps) {
    this.#deps = deps;
  }

  get all(): readonly HandleView[] {
    return this.#read;
  }

  get isRunning(): boolean {
    return this.#read.some(({ state }) => state === 'running' || state === 'waiting');
  }

  refresh(milliseconds = REFRESH_AFTER): void {
    const { clock } = this.#deps;
    const due = clock.now() + milliseconds;
    if (this.#ended || (this.#timer !== undefined && this.#timer.due <= due)) return;
    this.#timer?.timer.dispose();
    const timer = clock.after(milliseconds, () => {
      this.#timer = undefined;
      void this.#list().catch((error: unknown) => this.#deps.report(error));
    });
    this.#timer = { due, timer };
  }

  dispose(): void {
    this.#ended = true;
    this.#timer?.timer.dispose();
  }

  async #list(): Promise<void> {
    const commands = await this.#deps.list();
    if (this.#ended) return;
    const isSame = JSON.stringify(commands) === JSON.stringify(this.#read);
    this.#read = commands;
    if (!isSame) this.#deps.changed(commands);
    if (this.isRunning) this.refresh(TICK);
  }
}

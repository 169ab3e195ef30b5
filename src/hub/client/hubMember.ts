// Keeps the hub of a folder served: by this process if nobody else does, and again when the one that did is gone.
import { type Clock } from '../../base/clock.ts';
import { type Disposable } from '../../base/disposable.ts';
import { type HubServer } from '../hubServer.ts';

/** The kernel frees the lock of a process that died; nobody is notified of it. */
const LOOK_EVERY = 2000;

export interface HubMemberDeps {
  readonly clock: Clock;
  /** Undefined: another process serves the hub. */
  serve(): Promise<HubServer | undefined>;
  report(message: string, error?: unknown): void;
}

export class HubMember implements Disposable {
  readonly #deps: HubMemberDeps;
  #server: HubServer | undefined;
  #trying: Promise<void> | undefined;
  #timer: Disposable | undefined;
  #closed = false;

  constructor(deps: HubMemberDeps) {
    this.#deps = deps;
  }

  /** Whether this process serves the hub. */
  get isServing(): boolean {
    return this.#server !== undefined;
  }

  /** Tries now, and then from time to time. Resolves after the first try. */
  async start(): Promise<void> {
    await this.look();
    this.#wait();
  }

  /** Somebody found nobody there. */
  look(): Promise<void> {
    if (this.#closed || this.#server !== undefined) return Promise.resolve();
    this.#trying ??= this.#try().finally(() => {
      this.#trying = undefined;
    });
    return this.#trying;
  }

  async close(): Promise<void> {
    this.dispose();
    await this.#trying;
    await this.#server?.close();
    this.#server = undefined;
  }

  dispose(): void {
    this.#closed = true;
    this.#timer?.dispose();
  }

  #wait(): void {
    if (this.#closed) return;
    this.#timer = this.#deps.clock.after(LOOK_EVERY, () => {
      this.look().then(
        () => this.#wait(),
        () => this.#wait(),
      );
    });
  }

  async #try(): Promise<void> {
    try {
      this.#server = await this.#deps.serve();
    } catch (error) {
      this.#deps.report('the hub cannot be served', error);
    }
  }
}

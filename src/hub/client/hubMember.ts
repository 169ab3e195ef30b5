// Keeps the hub of a folder served: by this process if nobody else does, and again when the one that did is gone.
import { type Clock } from '../../base/clock.ts';
import { type Disposable } from '../../base/disposable.ts';
import { describeError } from '../../base/errors.ts';
import { type HubServer } from '../hubServer.ts';

/** While the process that holds the lock cannot be reached: it is starting or ending. */
const LOOK_FIRST = 100;
const LOOK_SELDOM = 2000;

export interface HubMemberDeps {
  readonly clock: Clock;
  /** Undefined: another process serves the hub. */
  serve(): Promise<HubServer | undefined>;
  /** Connects to the process that serves, to notice its end. Undefined: it cannot be reached. */
  follow(): Promise<{ readonly closed: Promise<void>; close(): void } | undefined>;
  report(message: string, error?: unknown): void;
}

export class HubMember implements Disposable {
  readonly #deps: HubMemberDeps;
  #server: HubServer | undefined;
  #trying: Promise<void> | undefined;
  #timer: Disposable | undefined;
  #followed: { close(): void } | undefined;
  #delay = LOOK_FIRST;
  /** The last failure that was reported. */
  #reported = '';
  #closed = false;

  constructor(deps: HubMemberDeps) {
    this.#deps = deps;
  }

  /** Whether this process serves the hub. */
  get isServing(): boolean {
    return this.#server !== undefined;
  }

  /** Tries now, and again whenever the one that serves is gone. Resolves after the first try. */
  async start(): Promise<void> {
    await this.look();
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
    this.#followed?.close();
  }

  async #try(): Promise<void> {
    this.#timer?.dispose();
    try {
      this.#server = await this.#deps.serve();
      this.#reported = '';
    } catch (error) {
      const failure = describeError(error);
      if (failure !== this.#reported) this.#deps.report('the hub cannot be served', error);
      this.#reported = failure;
    }
    if (this.#server !== undefined) this.#followed?.close();
    else await this.#follow();
  }

  /** The kernel ends the connection and frees the lock when the other process dies, however it dies. */
  async #follow(): Promise<void> {
    const isClosed = () => this.#closed;
    if (this.#followed !== undefined || isClosed()) return;
    const followed = await this.#deps.follow().catch(() => undefined);
    if (isClosed()) {
      followed?.close();
      return;
    }
    if (followed === undefined) {
      this.#timer = this.#deps.clock.after(this.#delay, () => this.#lookAgain());
      this.#delay = Math.min(2 * this.#delay, LOOK_SELDOM);
      return;
    }
    this.#followed = followed;
    this.#delay = LOOK_FIRST;
    followed.closed.then(
      () => {
        this.#followed = undefined;
        this.#lookAgain();
      },
      (error: unknown) => this.#deps.report('the hub could not be followed', error),
    );
  }

  #lookAgain(): void {
    this.look().catch((error: unknown) => this.#deps.report('the hub could not be taken over', error));
  }
}

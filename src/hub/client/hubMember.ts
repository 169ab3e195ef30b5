// Keeps the hub of a folder served: by this process if no other process does, or once that one has ended.
import { type Clock } from '../../base/clock.ts';
import { type Disposable } from '../../base/disposable.ts';
import { describeError } from '../../base/errors.ts';
import { type HubServer } from '../hubServer.ts';

/** Delays between attempts while the process that holds the lock cannot be reached, since it is starting or ending. */
const RETRY_FIRST = 100;
const RETRY_LONGEST = 2000;

export interface HubMemberDeps {
  readonly clock: Clock;
  /** Undefined: another process serves the hub. */
  serve(): Promise<HubServer | undefined>;
  /** Connects to the serving process, to notice its end. Undefined: it cannot be reached. */
  follow(): Promise<{ readonly closed: Promise<void>; close(): void } | undefined>;
  report(message: string, error?: unknown): void;
}

export class HubMember implements Disposable {
  readonly #deps: HubMemberDeps;
  #server: HubServer | undefined;
  #trying: Promise<void> | undefined;
  #timer: Disposable | undefined;
  #followed: { close(): void } | undefined;
  #delay = RETRY_FIRST;
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

  /** Tries to serve the hub now, and whenever the serving process has ended. Resolves after the first attempt. */
  async start(): Promise<void> {
    await this.look();
  }

  /** Tries to serve the hub now. Call it when no process seems to serve it. */
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

  /** When the other process ends, even by a crash, the kernel closes the connection and releases the lock. */
  async #follow(): Promise<void> {
    const isClosed = () => this.#closed;
    if (this.#followed !== undefined || isClosed()) return;
    const followed = await this.#deps.follow().catch(() => undefined);
    if (isClosed()) {
      followed?.close();
      return;
    }
    if (followed === undefined) {
      this.#timer = this.#deps.clock.after(this.#delay, () => this.#retry());
      this.#delay = Math.min(2 * this.#delay, RETRY_LONGEST);
      return;
    }
    this.#followed = followed;
    this.#delay = RETRY_FIRST;
    followed.closed.then(
      () => {
        this.#followed = undefined;
        this.#retry();
      },
      (error: unknown) => this.#deps.report('the hub could not be followed', error),
    );
  }

  #retry(): void {
    this.look().catch((error: unknown) => this.#deps.report('the hub could not be taken over', error));
  }
}

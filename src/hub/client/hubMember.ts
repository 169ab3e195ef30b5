// Keeps the hub of a folder served: by this process if no other process does, or once that one has ended.
import { BackOff, ignore, share } from '../../base/async.ts';
import { type Clock } from '../../base/clock.ts';
import { type Disposable } from '../../base/disposable.ts';
import { describeError } from '../../base/errors.ts';
import { type HubServer } from '../hubServer.ts';

/** Delays between attempts while the process that holds the lock cannot be reached, since it is starting or ending. */
const RETRY_FIRST = 100;
const RETRY_LONGEST = 2000;
/** How often the serving process checks that others can still find the hub. */
const CHECK_EVERY = 5000;

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
  readonly #tryOnce = share(() => this.#try());
  #timer: Disposable | undefined;
  #followed: { close(): void } | undefined;
  readonly #delay = new BackOff(RETRY_FIRST, RETRY_LONGEST);
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

  /** Tries to serve the hub now, unless it can be found. Call it when no process seems to serve it. */
  look(): Promise<void> {
    return this.#tryOnce();
  }

  async close(): Promise<void> {
    this.dispose();
    await this.#tryOnce();
    await this.#server?.close();
    this.#server = undefined;
  }

  dispose(): void {
    this.#closed = true;
    this.#timer?.dispose();
    this.#followed?.close();
  }

  async #try(): Promise<void> {
    if (this.#isClosed()) return;
    this.#timer?.dispose();
    if (this.#server !== undefined) {
      // If the disk cannot be asked now, it is asked again later.
      if (await this.#server.isReachable().catch(() => true)) {
        this.#checkLater();
        return;
      }
      await this.#abandon(this.#server);
      if (this.#isClosed()) return;
    }
    try {
      this.#server = await this.#deps.serve();
      this.#reported = '';
    } catch (error) {
      const failure = describeError(error);
      if (failure !== this.#reported) this.#deps.report('the hub cannot be served', error);
      this.#reported = failure;
    }
    if (this.#server === undefined) return this.#follow();
    this.#followed?.close();
    this.#checkLater();
  }

  /** Ends a server that nobody can find any more, such as after its folder was deleted. Its agents reconnect. */
  async #abandon(server: HubServer): Promise<void> {
    this.#deps.report('the files of the hub were deleted; it is served again');
    this.#server = undefined;
    await server.close().catch((error: unknown) => this.#deps.report('the hub could not be closed', error));
  }

  #checkLater(): void {
    if (!this.#closed) this.#timer = this.#deps.clock.after(CHECK_EVERY, () => this.#retry());
  }

  /** When the other process ends, even by a crash, the kernel closes the connection and releases the lock. */
  async #follow(): Promise<void> {
    if (this.#followed !== undefined || this.#closed) return;
    const followed = await this.#deps.follow().catch(ignore);
    if (this.#isClosed()) {
      followed?.close();
      return;
    }
    if (followed === undefined) {
      this.#timer = this.#deps.clock.after(this.#delay.next(), () => this.#retry());
      return;
    }
    this.#followed = followed;
    this.#delay.reset();
    followed.closed.then(
      () => {
        this.#followed = undefined;
        this.#retry();
      },
      (error: unknown) => this.#deps.report('the hub could not be followed', error),
    );
  }

  /** As a call, since it may change during an await. */
  #isClosed(): boolean {
    return this.#closed;
  }

  #retry(): void {
    this.look().catch((error: unknown) => this.#deps.report('the hub could not be taken over', error));
  }
}

// Ownership of a conversation by a lock of the kernel. Side files name the owner and request the release.
import { join } from 'node:path';
import * as z from 'zod';
import { coalesce, ignore } from '../base/async.ts';
import { type Clock } from '../base/clock.ts';
import { type Disposable, DisposableStore, toDisposable } from '../base/disposable.ts';
import { Emitter } from '../base/emitter.ts';
import { describeError } from '../base/errors.ts';
import { type Logger } from '../core/ports/ports.ts';
import { type HeldLock, type Lock, type Owner } from '../core/ports/storage.ts';
import { type FileSystem } from '../node/files/fileSystem.ts';
import { type KernelLock, type TryLock } from '../node/kernelLock.ts';
import { type Places } from './places.ts';

export interface LockDeps {
  readonly files: FileSystem;
  readonly places: Places;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly tryLock: TryLock;
  /** This window's name for other windows. */
  readonly self: { readonly pid: number; readonly window: string };
  ulid(): string;
  isAlive(pid: number): boolean;
  /** Distinguishes a process from a later one with the same id; undefined if there is none. */
  startTimeOf(pid: number): string | undefined;
}

const LOCK = 'lock.db';
const OWNER = 'owner.json';
const REQUEST = 'request-';
/** A watcher may miss changes, and the death of an owner changes no file. */
const POLL_MILLISECONDS = 500;

const ownerSchema = z.object({
  pid: z.int(),
  window: z.string(),
  since: z.string(),
  released: z.boolean(),
  start_time: z.string().optional(),
});
const requestSchema = z.strictObject({ pid: z.int() });

export function createLock(deps: LockDeps): Lock {
  const { files, places, clock, self } = deps;
  let startTime: string | undefined;
  const readOwner = async (folder: string) => parse(ownerSchema, await files.read(join(folder, OWNER)));
  const writeOwner = async (folder: string, since: string, released: boolean) => {
    startTime ??= deps.startTimeOf(self.pid);
    const owner = { ...self, since, released, start_time: startTime };
    await files.writeWhole(join(folder, OWNER), encodeJson(owner));
  };
  /** The lock file may have been removed although its owner is still alive. */
  const isOwnerAlive = (owner: z.infer<typeof ownerSchema> | undefined) =>
    owner !== undefined &&
    !owner.released &&
    owner.pid !== self.pid &&
    owner.start_time !== undefined &&
    deps.startTimeOf(owner.pid) === owner.start_time;

  const tryFolder = async (folder: string, request?: string): Promise<HeldLock | undefined> => {
    const kernel = deps.tryLock(join(folder, LOCK));
    if (kernel === undefined) return undefined;
    const since = new Date(clock.now()).toISOString();
    try {
      const before = await readOwner(folder);
      if (isOwnerAlive(before)) {
        kernel.release();
        return undefined;
      }
      await writeOwner(folder, since, false);
      // Removes this window's request, which it would otherwise take for another window's.
      if (request !== undefined) await files.remove(request);
      const mark = (released: boolean) => writeOwner(folder, since, released);
      const identity = await identityOf(files, join(folder, LOCK));
      const handedOver = request !== undefined && before?.released === true;
      const isTaken = async () => isOwnerAlive(await readOwner(folder));
      return new Held(deps, { folder, kernel, identity, handedOver, mark, isTaken });
    } catch (error) {
      kernel.release();
      throw error;
    }
  };

  return {
    acquire: async (conversation) => {
      const folder = await places.folderOf(conversation);
      await files.makeFolder(folder);
      return tryFolder(folder);
    },
    owner: async (conversation): Promise<Owner | undefined> => {
      const owner = await readOwner(await places.folderOf(conversation));
      if (owner === undefined || owner.released) return undefined;
      return { pid: owner.pid, window: owner.window, since: owner.since };
    },
    request: async (conversation, signal) => {
      const folder = await places.folderOf(conversation);
      const request = join(folder, `${REQUEST}${deps.ulid()}.json`);
      await files.writeWhole(request, encodeJson({ pid: self.pid }));
      try {
        for (;;) {
          signal.throwIfAborted();
          // Watches before trying, so that no release is missed.
          const change = nextChange(deps, folder, signal);
          try {
            const held = await tryFolder(folder, request);
            if (held !== undefined) return held;
            await change.promise;
          } finally {
            change.dispose();
          }
        }
      } finally {
        await files.remove(request);
      }
    },
  };
}

interface Holding {
  readonly folder: string;
  readonly kernel: KernelLock;
  /** Identity of the lock file. */
  readonly identity: string | undefined;
  readonly handedOver: boolean;
  /** Names the owner in the side file. */
  mark(released: boolean): Promise<void>;
  /** Whether the side file names another living owner. */
  isTaken(): Promise<boolean>;
}

class Held implements HeldLock {
  readonly handedOver: boolean;
  readonly #deps: LockDeps;
  readonly #folder: string;
  /** The last lock is in force; earlier ones are on removed files. */
  readonly #kernels: KernelLock[];
  readonly #mark: Holding['mark'];
  readonly #isTaken: Holding['isTaken'];
  readonly #held = new DisposableStore();
  readonly #emitter: Emitter<void>;
  readonly #lost: Emitter<void>;
  #identity: string | undefined;
  #timer: Disposable | undefined;
  #requested = false;
  #isLost = false;
  #released = false;

  constructor(deps: LockDeps, { folder, kernel, identity, handedOver, mark, isTaken }: Holding) {
    this.#deps = deps;
    this.#folder = folder;
    this.#kernels = [kernel];
    this.#identity = identity;
    this.handedOver = handedOver;
    this.#mark = mark;
    this.#isTaken = isTaken;
    this.#emitter = this.#held.add(
      new Emitter((error) => deps.logger.error('a listener for release requests failed', error)),
    );
    this.#lost = this.#held.add(new Emitter((error) => deps.logger.error('a listener for lost locks failed', error)));
    this.#held.add(toDisposable(() => this.#timer?.dispose()));
    // Ignores the log, which is in the same folder and changes all the time.
    this.#held.add(
      deps.files.watch(folder, (name) => {
        if (name === undefined || concernsLock(name)) this.#check();
      }),
    );
    this.#check();
  }

  readonly onDidRequest: HeldLock['onDidRequest'] = (listener) => {
    const listening = this.#emitter.event(listener);
    if (this.#requested) this.#emitter.fire();
    return listening;
  };

  readonly onDidLose: HeldLock['onDidLose'] = (listener) => {
    const listening = this.#lost.event(listener);
    if (this.#isLost) this.#lost.fire();
    return listening;
  };

  async release(): Promise<void> {
    if (this.#released) return;
    this.#released = true;
    this.#held.dispose();
    await this.#checkNow();
    try {
      // If the lock was lost, the side file belongs to the other window now.
      if (!this.#isLost) await this.#markReleased();
    } finally {
      for (const kernel of this.#kernels) kernel.release();
    }
    // Waiting windows watch the folder, and releasing the lock itself changes no file.
    await this.#deps.files.touch(join(this.#folder, OWNER)).catch(ignore);
  }

  /** While this process is alive, others take the lock only if the side file says released or is missing. */
  async #markReleased(): Promise<void> {
    try {
      await this.#mark(true);
    } catch (error) {
      // The folder may be missing, or the disk may be full: removing the file needs no space.
      this.#deps.logger.warn(`the owner's file could not be written: ${describeError(error)}`);
      await this.#deps.files.remove(join(this.#folder, OWNER)).catch(ignore);
    }
  }

  #check(): void {
    if (this.#released || this.#isLost) return;
    this.#timer?.dispose();
    this.#timer = this.#deps.clock.after(4 * POLL_MILLISECONDS, () => this.#check());
    void this.#checkNow().catch((error: unknown) => {
      this.#deps.logger.warn(`release requests cannot be read: ${describeError(error)}`);
    });
  }

  readonly #checkNow = coalesce(async () => {
    if (this.#released) return;
    await this.#checkFile();
    if (!this.#requested) await this.#findRequest();
  });

  /** A lock on a removed or replaced file excludes nobody, so the present file is locked too. */
  async #checkFile(): Promise<void> {
    const { files, tryLock, logger } = this.#deps;
    const path = join(this.#folder, LOCK);
    if ((await identityOf(files, path)) === this.#identity || this.#released) return;
    if (await this.#isTaken()) {
      logger.warn(`the lock ${path} was removed, and another window has the conversation`);
      this.#isLost = true;
      this.#lost.fire();
      return;
    }
    // A window that tries the lock holds it briefly, finds this owner alive and releases it, or becomes the owner in
    // the side file. The next check tries again.
    const kernel = tryLock(path);
    if (kernel === undefined) return;
    logger.warn(`the lock ${path} was removed by another program and was created again`);
    this.#kernels.push(kernel);
    this.#identity = await identityOf(files, path);
    await this.#mark(false);
  }

  /** Ignores requests of windows that have died. */
  async #findRequest(): Promise<void> {
    const { files } = this.#deps;
    for (const name of await files.list(this.#folder)) {
      if (!name.startsWith(REQUEST) || !name.endsWith('.json')) continue;
      const path = join(this.#folder, name);
      const bytes = await files.read(path);
      if (bytes === undefined) continue;
      const request = parse(requestSchema, bytes);
      if (request === undefined || !this.#deps.isAlive(request.pid)) await files.remove(path);
      else if (!this.#requested) {
        this.#requested = true;
        this.#emitter.fire();
      }
    }
  }
}

function concernsLock(name: string): boolean {
  return name === LOCK || name === OWNER || name.startsWith(REQUEST);
}

async function identityOf(files: FileSystem, path: string): Promise<string | undefined> {
  return (await files.stat(path))?.identity;
}

/** Resolves after a change in the folder, or after a while. */
function nextChange(deps: LockDeps, folder: string, signal: AbortSignal): Disposable & { promise: Promise<void> } {
  const { promise, resolve } = Promise.withResolvers<void>();
  const held = new DisposableStore();
  const done = () => {
    held.dispose();
    resolve();
  };
  held.add(deps.files.watch(folder, done));
  held.add(deps.clock.after(POLL_MILLISECONDS, done));
  signal.addEventListener('abort', done, { once: true });
  held.add(toDisposable(() => signal.removeEventListener('abort', done)));
  return { promise, dispose: done };
}

function parse<T>(schema: z.ZodType<T>, bytes: Uint8Array | undefined): T | undefined {
  try {
    return bytes === undefined ? undefined : schema.parse(JSON.parse(new TextDecoder().decode(bytes)));
  } catch {
    return undefined;
  }
}

function encodeJson(value: object): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(value));
}

// Decides who writes a conversation: whoever has the kernel's lock; how others see who that is, and how they ask for it.
import { join } from 'node:path';
import * as z from 'zod';
import { type Clock } from '../base/clock.ts';
import { type Disposable, DisposableStore, toDisposable } from '../base/disposable.ts';
import { Emitter } from '../base/emitter.ts';
import { describeError } from '../base/errors.ts';
import { type Log } from '../core/ports.ts';
import { type HeldLock, type Lock, type Owner } from '../core/storagePorts.ts';
import { type FileSystem } from '../node/fileSystem.ts';
import { type KernelLock, type TryLock } from '../node/kernelLock.ts';
import { type Places } from './places.ts';

export interface LockDeps {
  readonly files: FileSystem;
  readonly places: Places;
  readonly clock: Clock;
  readonly log: Log;
  readonly tryLock: TryLock;
  /** Who we are, for other windows' eyes. */
  readonly self: { readonly pid: number; readonly window: string };
  ulid(): string;
  isAlive(pid: number): boolean;
}

const LOCK = 'lock.db';
const OWNER = 'owner.json';
const REQUEST = 'request-';
/** A watcher may miss a change, and a lock that its dead owner lost changes no file at all. */
const LOOK_EVERY = 500;

const ownerSchema = z.strictObject({ pid: z.int(), window: z.string(), since: z.string(), released: z.boolean() });
const requestSchema = z.strictObject({ pid: z.int() });

export function createLock(deps: LockDeps): Lock {
  const { files, places, clock, self } = deps;
  const readOwner = async (folder: string) => parse(ownerSchema, await files.read(join(folder, OWNER)));
  const writeOwner = (folder: string, since: string, released: boolean) =>
    files.writeWhole(join(folder, OWNER), print({ ...self, since, released }));

  const tryFolder = async (folder: string, request?: string): Promise<HeldLock | undefined> => {
    const kernel = deps.tryLock(join(folder, LOCK));
    if (kernel === undefined) return undefined;
    const since = new Date(clock.now()).toISOString();
    try {
      const before = await readOwner(folder);
      await writeOwner(folder, since, false);
      // It is answered; as owner we would take it for another's.
      if (request !== undefined) await files.remove(request);
      const release = () => writeOwner(folder, since, true);
      return new Held(deps, folder, kernel, request !== undefined && before?.released === true, release);
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
      await files.writeWhole(request, print({ pid: self.pid }));
      try {
        for (;;) {
          signal.throwIfAborted();
          // Watched before it is tried, so that a release in between is seen.
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

class Held implements HeldLock {
  readonly handedOver: boolean;
  readonly #deps: LockDeps;
  readonly #folder: string;
  readonly #kernel: KernelLock;
  readonly #markReleased: () => Promise<void>;
  readonly #held = new DisposableStore();
  readonly #emitter: Emitter<void>;
  #timer: Disposable | undefined;
  #looking: Promise<void> | undefined;
  #lookAgain = false;
  #requested = false;
  #released = false;

  constructor(
    deps: LockDeps,
    folder: string,
    kernel: KernelLock,
    handedOver: boolean,
    markReleased: () => Promise<void>,
  ) {
    this.#deps = deps;
    this.#folder = folder;
    this.#kernel = kernel;
    this.handedOver = handedOver;
    this.#markReleased = markReleased;
    this.#emitter = this.#held.add(new Emitter((error) => deps.log.error('handing over failed', error)));
    this.#held.add(toDisposable(() => this.#timer?.dispose()));
    this.#held.add(deps.files.watch(folder, () => this.#look()));
    this.#look();
  }

  readonly onDidRequest: HeldLock['onDidRequest'] = (listener) => {
    const listening = this.#emitter.event(listener);
    if (this.#requested) this.#emitter.fire();
    return listening;
  };

  async release(): Promise<void> {
    if (this.#released) return;
    this.#released = true;
    this.#held.dispose();
    await this.#looking;
    try {
      await this.#markReleased();
    } catch (error) {
      // The folder may be gone, or the disk refuses: the lock itself is what counts.
      this.#deps.log.warn(`the owner's file could not be written: ${describeError(error)}`);
    } finally {
      this.#kernel.release();
    }
    // Whoever waits watches the folder: freeing the lock itself changes no file.
    await this.#deps.files.touch(join(this.#folder, OWNER)).catch(() => undefined);
  }

  #look(): void {
    if (this.#released || this.#requested) return;
    this.#timer?.dispose();
    this.#timer = this.#deps.clock.after(4 * LOOK_EVERY, () => this.#look());
    this.#lookAgain = true;
    this.#looking ??= this.#lookNow().finally(() => {
      this.#looking = undefined;
    });
  }

  async #lookNow(): Promise<void> {
    while (this.#lookAgain && !this.#released) {
      this.#lookAgain = false;
      try {
        await this.#findRequest();
      } catch (error) {
        this.#deps.log.warn(`requests cannot be seen: ${describeError(error)}`);
      }
    }
  }

  /** A request whose window has died is nobody's. */
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

/** Resolves after something in the folder changed, or a while has passed. */
function nextChange(deps: LockDeps, folder: string, signal: AbortSignal): Disposable & { promise: Promise<void> } {
  const { promise, resolve } = Promise.withResolvers<void>();
  const held = new DisposableStore();
  const done = () => {
    held.dispose();
    resolve();
  };
  held.add(deps.files.watch(folder, done));
  held.add(deps.clock.after(LOOK_EVERY, done));
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

function print(value: object): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(value));
}

// Listens on the window's socket (WIRE D). Holds connections until they are served, so that the code of plugins is
// loaded only when the first program connects.
import { randomBytes } from 'node:crypto';
import { chmod, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { type Socket } from 'node:net';
import { join } from 'node:path';
import { type Clock } from '../../base/clock.ts';
import { type Disposable } from '../../base/disposable.ts';
import { describeError } from '../../base/errors.ts';
import { realFileSystem } from '../../node/files/fileSystem.ts';
import { isAlive } from '../../node/kernelLock.ts';
import { type Platform, type WatcherAddress } from '../../node/platform/parts.ts';
import { platform } from '../../node/platform/platform.ts';
import { isAnswered, listenPrivately, type PrivateSocket } from '../../node/privateSocket.ts';

const SOCKET = /^(?:window|ears)-\d+\.sock$/;
const ADDRESS = /^(?:window|ears)-(\d+)\.json$/;
/** How often it is checked that programs can still find the socket. */
const CHECK_EVERY = 5000;

/** Who listens: a window, or `earshot-ears` where no window has the folder open. */
type Watcher = 'window' | 'ears';

export interface WindowListenerDeps {
  /** The hub folder that belongs to the workspace folder. */
  readonly folder: string;
  readonly pid: number;
  /** Default: a window. */
  readonly by?: Watcher;
  /** Default: this system's. */
  readonly platform?: Pick<Platform, 'sockets'>;
  readonly clock: Clock;
  /** Called when a program has sent something but is not served. Resolves to whether it will be. Must not reject. */
  wanted(): Promise<boolean>;
  report(message: string, error?: unknown): void;
}

type Serve = (socket: Socket) => void;

export class WindowListener implements Disposable {
  readonly #deps: WindowListenerDeps;
  readonly #address: WatcherAddress;
  /** The token that `attach` must contain on Windows. */
  readonly token: string | undefined;
  readonly #waiting = new Set<Socket>();
  #listener: PrivateSocket | undefined;
  #serve: Serve | undefined;
  #timer: Disposable | undefined;
  #checking: Promise<void> | undefined;
  /** The last failure that was reported. */
  #reported = '';
  #closed = false;

  constructor(deps: WindowListenerDeps) {
    this.#deps = deps;
    const { sockets } = deps.platform ?? platform;
    this.#address = sockets.watcherIn(deps.folder, `${deps.by ?? 'window'}-${deps.pid}`);
    this.token = this.#address.addressFile === undefined ? undefined : randomBytes(24).toString('base64url');
  }

  get path(): string {
    return this.#address.path;
  }

  async listen(): Promise<void> {
    await this.#makeFolder();
    await this.#removeStale();
    this.#listener = await listenPrivately(this.path, (socket) => this.#connected(socket));
    await this.#writeAddress();
    this.#checkLater();
  }

  /** Serves waiting and new connections until the result is disposed. */
  serve(serve: Serve): Disposable {
    this.#serve = serve;
    for (const socket of this.#takeWaiting()) serve(socket);
    return {
      dispose: () => {
        if (this.#serve === serve) this.#serve = undefined;
      },
    };
  }

  async close(): Promise<void> {
    this.dispose();
    await this.#checking;
    await this.#listener?.close();
    const { addressFile } = this.#address;
    if (addressFile !== undefined) await rm(addressFile, { force: true });
  }

  dispose(): void {
    this.#closed = true;
    this.#timer?.dispose();
    for (const socket of this.#takeWaiting()) socket.destroy();
  }

  async #makeFolder(): Promise<void> {
    const { folder } = this.#deps;
    await mkdir(folder, { recursive: true, mode: 0o700 });
    if (this.#address.addressFile === undefined) await chmod(folder, 0o700);
  }

  async #writeAddress(): Promise<void> {
    const { path, addressFile } = this.#address;
    if (addressFile === undefined) return;
    await writeFile(addressFile, JSON.stringify({ pipe: path, token: this.token }), { mode: 0o600 });
  }

  #checkLater(): void {
    if (this.#closed) return;
    this.#timer = this.#deps.clock.after(CHECK_EVERY, () => {
      this.#checkLater();
      this.#checking ??= this.#check().finally(() => {
        this.#checking = undefined;
      });
    });
  }

  /** Makes the files again if they were deleted, such as with the folder of the hub. Must not reject. */
  async #check(): Promise<void> {
    try {
      const { addressFile } = this.#address;
      const isGone = this.#listener !== undefined && !(await this.#listener.isReachable());
      const isUnknown = addressFile !== undefined && (await realFileSystem.stat(addressFile)) === undefined;
      if (!isGone && !isUnknown) return;
      await this.#makeFolder();
      if (isGone) await this.#listener?.listenAgain();
      await this.#writeAddress();
      this.#reported = '';
      this.#deps.report('the files of the window’s socket were deleted; it was opened again');
    } catch (error) {
      const failure = describeError(error);
      if (failure !== this.#reported) this.#deps.report('the window’s socket cannot be opened again', error);
      this.#reported = failure;
    }
  }

  #connected(socket: Socket): void {
    if (this.#serve !== undefined) return this.#serve(socket);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => this.#waiting.delete(socket));
    const ended = () => socket.end();
    socket.on('end', ended);
    // Waits for data: other windows connect only to check whether this one is alive.
    socket.once('data', (chunk: Uint8Array) => {
      socket.off('end', ended);
      socket.pause();
      socket.unshift(chunk);
      this.#wait(socket);
    });
  }

  #wait(socket: Socket): void {
    if (this.#serve !== undefined) {
      this.#serve(socket);
      return;
    }
    this.#waiting.add(socket);
    if (this.#waiting.size > 1) return;
    const dropped = () => {
      for (const one of this.#takeWaiting()) one.destroy();
    };
    this.#deps.wanted().then((served) => served || dropped(), dropped);
  }

  #takeWaiting(): readonly Socket[] {
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    return waiting;
  }

  /** Removes the files of crashed windows. */
  async #removeStale(): Promise<void> {
    const { folder } = this.#deps;
    for (const name of await readdir(folder)) {
      const path = join(folder, name);
      const pid = ADDRESS.exec(name)?.[1];
      const isStale = pid === undefined ? SOCKET.test(name) && !(await isAnswered(path)) : !isAlive(Number(pid));
      if (isStale) await rm(path, { force: true });
    }
  }
}

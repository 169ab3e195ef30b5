// Listens on the window's socket (WIRE D). Holds what connects until somebody serves it, so that plugins are loaded with the first program.
import { randomBytes } from 'node:crypto';
import { chmod, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { type Socket } from 'node:net';
import { join, win32 } from 'node:path';
import { type Disposable } from '../../base/disposable.ts';
import { isAlive } from '../../node/kernelLock.ts';
import { isAnswered, listenPrivately, type PrivateSocket } from '../../node/privateSocket.ts';

const SOCKET = /^window-\d+\.sock$/;
const ADDRESS = /^window-(\d+)\.json$/;

export interface WindowAddress {
  /** Where programs connect. */
  readonly path: string;
  /** Says where the pipe is, with the token that it asks for: a pipe has no mode. */
  readonly addressFile?: string;
}

/** `folder` is the hub's folder of the workspace folder. */
export function windowAddress(folder: string, pid: number, platform: NodeJS.Platform): WindowAddress {
  if (platform !== 'win32') return { path: join(folder, `window-${pid}.sock`) };
  return {
    path: `\\\\.\\pipe\\earshot-${win32.basename(folder)}-window-${pid}`,
    addressFile: win32.join(folder, `window-${pid}.json`),
  };
}

export interface WindowListenerDeps {
  /** The hub's folder of the workspace folder. */
  readonly folder: string;
  readonly pid: number;
  readonly platform?: NodeJS.Platform;
  /** The first program has sent something and nobody serves it yet. Resolves to false if nobody will. Must not reject. */
  wanted(): Promise<boolean>;
}

type Serve = (socket: Socket) => void;

export class WindowListener implements Disposable {
  readonly #deps: WindowListenerDeps;
  readonly #address: WindowAddress;
  /** What `attach` needs on Windows. */
  readonly token: string | undefined;
  readonly #waiting = new Set<Socket>();
  #listener: PrivateSocket | undefined;
  #serve: Serve | undefined;

  constructor(deps: WindowListenerDeps) {
    this.#deps = deps;
    this.#address = windowAddress(deps.folder, deps.pid, deps.platform ?? process.platform);
    this.token = this.#address.addressFile === undefined ? undefined : randomBytes(24).toString('base64url');
  }

  get path(): string {
    return this.#address.path;
  }

  async listen(): Promise<void> {
    const { folder } = this.#deps;
    const { path, addressFile } = this.#address;
    await mkdir(folder, { recursive: true, mode: 0o700 });
    if (addressFile === undefined) await chmod(folder, 0o700);
    await this.#removeStale();
    this.#listener = await listenPrivately(path, (socket) => this.#connected(socket));
    if (addressFile === undefined) return;
    await writeFile(addressFile, JSON.stringify({ pipe: path, token: this.token }), { mode: 0o600 });
  }

  /** Serves what waits and what connects, until it is disposed. */
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
    await this.#listener?.close();
    const { addressFile } = this.#address;
    if (addressFile !== undefined) await rm(addressFile, { force: true });
  }

  dispose(): void {
    for (const socket of this.#takeWaiting()) socket.destroy();
  }

  #connected(socket: Socket): void {
    if (this.#serve !== undefined) return this.#serve(socket);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => this.#waiting.delete(socket));
    const ended = () => socket.end();
    socket.on('end', ended);
    // Other windows only try whether this one is there: that is no reason to load anything.
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

  /** Files of windows that have died. */
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

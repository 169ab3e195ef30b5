// The connection of an outside agent's program to a window: attaches as a listener, with requests as promises. Does not
// load zod, since a hook starts with every tool call.
import { connect, type Socket } from 'node:net';
import { ignore } from '../../base/async.ts';
import { LineSplitter } from '../../base/json/jsonLines.ts';
import type * as z from 'zod';
import type { ListenerRequest, listenerSchemas } from '../../protocol/outside/listener.ts';
import type { HostMessage, HostMessageOf } from '../../protocol/plugin.ts';
import { findSockets, type FoundWindow } from './windowSockets.ts';

type WithoutType<T> = T extends unknown ? Omit<T, 'type' | 'id'> : never;
/** What the schema has a default for may be left out. */
type Fields<T extends ListenerRequest['type']> = WithoutType<
  Extract<z.input<(typeof listenerSchemas)[T]>, { type: T }>
>;

interface Replies {
  readonly watch: HostMessageOf<'watching'>;
  readonly seen: HostMessageOf<'done'>;
  readonly git_ran: HostMessageOf<'done'>;
  readonly pending: HostMessageOf<'pending'>;
  readonly wait: HostMessageOf<'waited'>;
  readonly delivered: HostMessageOf<'done'>;
  readonly read: HostMessageOf<'notifications'>;
  readonly call: HostMessageOf<'called'>;
}

const LONGEST_LINE = 8 * 1024 * 1024;

export interface ListenerNames {
  /** The agent's name, for which the user gives approval. */
  readonly agent: string;
  readonly version: string;
  readonly session?: string | undefined;
  readonly client?: string | undefined;
}

/** The window refused the program or a request, or no window is running. */
export class ListenerRefused extends Error {}

interface Waiting {
  resolve(message: HostMessage): void;
  reject(error: Error): void;
}

export class ListenerClient {
  /** The workspace folder of the window. */
  readonly root: string;
  readonly #socket: Socket;
  readonly #waiting = new Map<string, Waiting>();
  readonly #attached = Promise.withResolvers<void>();
  readonly #closed = Promise.withResolvers<void>();
  #requests = 0;
  #count = 0;
  #changed: () => void = () => undefined;

  constructor({ path, token, root }: FoundWindow, { agent, version, session, client }: ListenerNames) {
    this.root = root;
    this.#socket = connect(path);
    const lines = new LineSplitter(LONGEST_LINE, {
      onLine: (line = '') => this.#received(line),
      onTooLong: () => this.close(),
    });
    this.#socket.on('data', (chunk: Uint8Array) => lines.write(chunk));
    this.#socket.on('error', (error) => this.#end(error));
    this.#socket.on('close', () => this.#end(new Error('Earshot is gone.')));
    this.#attached.promise.catch(ignore);
    this.#write({ type: 'attach', name: agent, version, listener: agent, session, client, token });
  }

  /** Resolves once the window has accepted it. Rejects with ListenerRefused, or if no window listens on the socket. */
  get attached(): Promise<void> {
    return this.#attached.promise;
  }

  get closed(): Promise<void> {
    return this.#closed.promise;
  }

  /** The number of pending notifications that the window last reported. */
  get count(): number {
    return this.#count;
  }

  /** Called when `count` has changed. */
  set onDidChange(changed: () => void) {
    this.#changed = changed;
  }

  /** Rejects with ListenerRefused if the window refuses the request. */
  request<T extends keyof Replies>(type: T, fields: Fields<T>): Promise<Replies[T]> {
    const id = String(this.#requests++);
    const { promise, resolve, reject } = Promise.withResolvers<HostMessage>();
    this.#waiting.set(id, { resolve, reject });
    if (this.#socket.destroyed) reject(new Error('Earshot is gone.'));
    else this.#write({ ...fields, type, id });
    return promise as Promise<Replies[T]>;
  }

  close(): void {
    this.#socket.destroy();
  }

  #write(line: object): void {
    this.#socket.write(`${JSON.stringify(line)}\n`);
  }

  #received(line: string): void {
    let message: HostMessage;
    try {
      message = JSON.parse(line) as HostMessage;
    } catch {
      this.close();
      return;
    }
    switch (message.type) {
      case 'init':
        this.#attached.resolve();
        return;
      case 'shutdown':
        this.close();
        return;
      case 'pending_changed':
        this.#count = message.count;
        this.#changed();
        return;
      case 'error':
        if (message.request === 'attach') this.#attached.reject(new ListenerRefused(message.message));
        this.#reply(message, (waiting) => waiting.reject(new ListenerRefused(message.message)));
        return;
      case 'watching':
      case 'pending':
      case 'waited':
      case 'done':
      case 'notifications':
      case 'called':
        this.#reply(message, (waiting) => waiting.resolve(message));
        return;
      default:
    }
  }

  #reply({ id = '' }: { readonly id?: string | undefined }, settle: (waiting: Waiting) => void): void {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (waiting !== undefined) settle(waiting);
  }

  #end(error: Error): void {
    this.#attached.reject(error);
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
    this.#closed.resolve();
  }
}

/** Attaches to the first window that accepts it. Undefined: no window is running. Rejects if every window refuses. */
export async function attachListener(
  folder: string,
  names: ListenerNames,
  home?: string,
): Promise<ListenerClient | undefined> {
  let refused: ListenerRefused | undefined;
  for (const window of await findSockets(folder, home)) {
    const client = new ListenerClient(window, names);
    try {
      await client.attached;
      return client;
    } catch (error) {
      client.close();
      // Any other error: a crashed window has left its socket behind.
      if (error instanceof ListenerRefused) refused ??= error;
    }
  }
  if (refused !== undefined) throw refused;
  return undefined;
}

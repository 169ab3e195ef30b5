// An in-memory file system that can lose power, tear writes, fail, or stop the program at any named point.
import { basename, dirname } from 'node:path';
import { type Disposable, toDisposable } from '../../../src/base/disposable.ts';
import { type AppendFile, type FileSystem } from '../../../src/node/files/fileSystem.ts';

interface Content {
  /** The bytes that programs read. */
  now: Buffer;
  /** The bytes that certainly survive a power loss. */
  durable: Buffer;
  modified: number;
}

/** A point inside a call: everything before it has happened, nothing after it. */
export interface Point {
  readonly number: number;
  /** For example `append:half events.jsonl`. */
  readonly name: string;
}

export interface Faults {
  /** Called at each point; an error code makes the call fail, `stop` stops the program there. */
  at?: (point: Point) => 'stop' | 'EIO' | 'ENOSPC' | undefined;
}

export class FaultyFileSystem implements FileSystem {
  readonly #files = new Map<string, Content>();
  readonly #identities = new WeakMap<Content, number>();
  #lastIdentity = 0;
  readonly #folders = new Set<string>(['/']);
  readonly #watchers = new Map<string, Set<(name: string) => void>>();
  readonly points: Point[] = [];
  faults: Faults = {};
  now = 0;
  #stopped = false;
  #ended = false;

  /** After the program has stopped, no call returns. */
  get stopped(): boolean {
    return this.#stopped;
  }

  async read(path: string): Promise<Uint8Array | undefined> {
    await this.#point('read', path);
    const content = this.#files.get(path);
    return content === undefined ? undefined : Buffer.from(content.now);
  }

  async readFrom(path: string, offset: number): Promise<Uint8Array | undefined> {
    await this.#point('readFrom', path);
    const content = this.#files.get(path);
    return content === undefined ? undefined : Buffer.from(content.now.subarray(offset));
  }

  async openForAppend(path: string): Promise<AppendFile> {
    await this.#point('open:before', path);
    this.#need(path);
    if (!this.#files.has(path)) this.#put(path, Buffer.alloc(0), Buffer.alloc(0));
    await this.#point('open:after', path);
    return this.#appendFile(path);
  }

  async writeWhole(path: string, bytes: Uint8Array): Promise<void> {
    await this.#point('write:before', path);
    this.#need(path);
    this.#put(path, Buffer.from(bytes), Buffer.from(bytes));
    await this.#point('write:after', path);
  }

  async makeFolder(path: string): Promise<void> {
    await this.#point('folder:before', path);
    for (let folder = path; !this.#folders.has(folder); folder = dirname(folder)) this.#folders.add(folder);
    await this.#point('folder:after', path);
  }

  async list(path: string): Promise<string[]> {
    await this.#point('list', path);
    const prefix = path === '/' ? '/' : `${path}/`;
    const inside = [...this.#files.keys(), ...this.#folders].filter((name) => name.startsWith(prefix) && name !== path);
    return [...new Set(inside.map((name) => name.slice(prefix.length).split('/')[0] ?? ''))];
  }

  async remove(path: string): Promise<void> {
    await this.#point('remove:before', path);
    for (const name of [...this.#files.keys()]) if (within(path, name)) this.#files.delete(name);
    for (const name of [...this.#folders]) if (within(path, name)) this.#folders.delete(name);
    this.#changed(path);
    await this.#point('remove:after', path);
  }

  async move(from: string, to: string): Promise<void> {
    await this.#point('move:before', from);
    for (const [name, content] of [...this.#files]) {
      if (!within(from, name)) continue;
      this.#files.delete(name);
      this.#files.set(to + name.slice(from.length), content);
    }
    for (const name of [...this.#folders]) {
      if (within(from, name) && this.#folders.delete(name)) this.#folders.add(to + name.slice(from.length));
    }
    this.#changed(from);
    this.#changed(to);
    await this.#point('move:after', from);
  }

  async stat(path: string): Promise<{ size: number; modified: number; identity: string } | undefined> {
    await this.#point('stat', path);
    const content = this.#files.get(path);
    return content && { size: content.now.length, modified: content.modified, identity: this.#identity(content) };
  }

  sizeNow(path: string): number | undefined {
    return this.#files.get(path)?.now.length;
  }

  async touch(path: string): Promise<void> {
    const content = this.#files.get(path);
    if (content === undefined) throw failure('ENOENT', path);
    content.modified = this.now;
    this.#changed(path);
  }

  watch(folder: string, changed: (name: string) => void): Disposable {
    const watchers = this.#watchers.get(folder) ?? new Set();
    this.#watchers.set(folder, watchers);
    watchers.add(changed);
    return toDisposable(() => watchers.delete(changed));
  }

  /**
   * The disk after a power loss: any prefix of the unsynced bytes may be there, and the bytes after it may be zeros.
   * `choose(n)` gives a number from 0 to n. The original object must not be used afterwards.
   */
  losePower(choose: (most: number) => number): FaultyFileSystem {
    const after = new FaultyFileSystem();
    after.now = this.now;
    for (const folder of this.#folders) after.#folders.add(folder);
    for (const [path, { now, durable, modified }] of this.#files) {
      const bytes = survive(now, durable, choose);
      after.#files.set(path, { now: bytes, durable: bytes, modified });
    }
    this.#ended = true;
    return after;
  }

  /** Reads a file without the program noticing; `poke` writes one. */
  peek(path: string): Buffer {
    return this.#files.get(path)?.now ?? Buffer.alloc(0);
  }

  poke(path: string, bytes: Uint8Array): void {
    this.#need(path);
    this.#put(path, Buffer.from(bytes), Buffer.from(bytes));
  }

  get paths(): readonly string[] {
    return [...this.#files.keys()];
  }

  #appendFile(path: string): AppendFile {
    let open = true;
    const content = () => {
      const found = this.#files.get(path);
      if (!open || found === undefined) throw failure('EBADF', path);
      return found;
    };
    return {
      append: async (bytes) => {
        await this.#point('append:before', path);
        const half = Math.floor(bytes.length / 2);
        content().now = Buffer.concat([content().now, bytes.subarray(0, half)]);
        await this.#point('append:half', path);
        content().now = Buffer.concat([content().now, bytes.subarray(half)]);
        content().modified = this.now;
        this.#changed(path);
        await this.#point('append:after', path);
      },
      sync: async () => {
        await this.#point('sync:before', path);
        content().durable = Buffer.from(content().now);
        await this.#point('sync:after', path);
      },
      truncate: async (length) => {
        await this.#point('truncate:before', path);
        content().now = Buffer.from(content().now.subarray(0, length));
        this.#changed(path);
        await this.#point('truncate:after', path);
      },
      close: async () => {
        open = false;
      },
    };
  }

  #identity(content: Content): string {
    const known = this.#identities.get(content) ?? ++this.#lastIdentity;
    this.#identities.set(content, known);
    return String(known);
  }

  #put(path: string, now: Buffer, durable: Buffer): void {
    this.#files.set(path, { now, durable, modified: this.now });
    this.#changed(path);
  }

  #need(path: string): void {
    if (!this.#folders.has(dirname(path))) throw failure('ENOENT', path);
  }

  #changed(path: string): void {
    for (const changed of this.#watchers.get(dirname(path)) ?? []) changed(basename(path));
  }

  async #point(name: string, path: string): Promise<void> {
    if (this.#stopped || this.#ended) return new Promise(() => undefined);
    const point = { number: this.points.length, name: `${name} ${path.slice(path.lastIndexOf('/') + 1)}` };
    this.points.push(point);
    const fault = this.faults.at?.(point);
    if (fault === 'stop') {
      this.#stopped = true;
      return new Promise(() => undefined);
    }
    if (fault !== undefined) throw failure(fault, path);
  }
}

function survive(now: Buffer, durable: Buffer, choose: (most: number) => number): Buffer {
  // An unsynced truncation may or may not have happened.
  const kept = now.length >= durable.length && now.subarray(0, durable.length).equals(durable);
  if (!kept && choose(1) === 0) return durable;
  const least = kept ? durable.length : Math.min(now.length, durable.length);
  const cut = least + choose(now.length - least);
  const zeros = choose(3) === 0 ? choose(now.length - cut) : 0;
  return Buffer.concat([now.subarray(0, cut), Buffer.alloc(zeros)]);
}

function within(folder: string, path: string): boolean {
  return path === folder || path.startsWith(`${folder}/`);
}

function failure(code: string, path: string): Error {
  return Object.assign(new Error(`${code}: ${path}`), { code });
}

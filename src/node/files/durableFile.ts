// A file that is appended to, and cut back after a failed write.
import { ignore } from '../../base/async.ts';
import { type AppendFile, type FileSystem } from './fileSystem.ts';

/** After a failed append it may end with a part of the bytes until it is restored. */
export class DurableFile {
  readonly path: string;
  readonly #files: FileSystem;
  #handle: AppendFile | undefined;
  #length: number;
  #attempt: Uint8Array | undefined;

  constructor(files: FileSystem, path: string, length: number, handle?: AppendFile) {
    this.path = path;
    this.#files = files;
    this.#length = length;
    this.#handle = handle;
  }

  /** The number of bytes that are known to be on disk. */
  get length(): number {
    return this.#length;
  }

  get needsRestore(): boolean {
    return this.#attempt !== undefined;
  }

  /** Resolves once the bytes are on disk. `check` may throw before they count as written. */
  async append(bytes: Uint8Array, check: () => void = ignore): Promise<void> {
    this.#handle ??= await this.#files.openForAppend(this.path);
    this.#attempt = bytes;
    await this.#handle.append(bytes);
    await this.#handle.sync();
    check();
    this.#attempt = undefined;
    this.#length += bytes.length;
  }

  /**
   * `cut` removes what a failed append left, and returns the length of the file. It gets the bytes of that append, and
   * a new handle, since the failed one may be unusable.
   */
  async restore(cut: (handle: AppendFile, attempt: Uint8Array) => Promise<number>): Promise<void> {
    const handle = await this.#files.openForAppend(this.path);
    try {
      this.#length = await cut(handle, this.#attempt ?? new Uint8Array());
    } catch (error) {
      await handle.close().catch(ignore);
      throw error;
    }
    const former = this.#handle;
    this.#handle = handle;
    this.#attempt = undefined;
    // It may be unusable, and nothing is written over it any more.
    await former?.close().catch(ignore);
  }

  /** The next append opens it again. */
  async close(): Promise<void> {
    const handle = this.#handle;
    this.#handle = undefined;
    await handle?.close();
  }
}

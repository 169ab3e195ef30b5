// Reads what was added to a log since the last read, or the whole log again if bytes were removed.
import { type AddedEvents } from '../core/ports/storage.ts';
import { type FileSystem } from '../node/files/fileSystem.ts';
import { readEvents } from './readEvents.ts';

/** The end of a line has its checksum: if it is unchanged, so is everything before it. */
const MOST_COMPARED = 256;

export class LogFileReader {
  readonly #files: FileSystem;
  readonly #path: string;
  #isRead = false;
  #nextSeq = 1;
  /** Length up to the end of the last good line, the number of lines, and the end of that line. */
  #length = 0;
  #lines = 0;
  #last: Uint8Array = new Uint8Array();

  constructor(files: FileSystem, path: string) {
    this.#files = files;
    this.#path = path;
  }

  /** One call at a time. */
  async read(): Promise<AddedEvents> {
    return (this.#isRead ? await this.#readAdded() : undefined) ?? this.#readAll();
  }

  /** Undefined: only the whole log shows what happened. */
  async #readAdded(): Promise<AddedEvents | undefined> {
    const bytes = await this.#files.readFrom(this.#path, this.#length - this.#last.length);
    if (bytes === undefined || Buffer.compare(bytes.subarray(0, this.#last.length), this.#last) !== 0) return undefined;
    const added = bytes.subarray(this.#last.length);
    const read = readEvents(added, { seq: this.#nextSeq - 1, lines: this.#lines });
    // The new lines may seem damaged because bytes were removed meanwhile.
    if (read.damage.length > 0) return undefined;
    if (read.length > 0) {
      this.#lines += read.lines;
      this.#remember(added, read, this.#length);
    }
    return { events: read.events, nextSeq: read.nextSeq, damage: read.damage, whole: false };
  }

  async #readAll(): Promise<AddedEvents> {
    const bytes = (await this.#files.read(this.#path)) ?? new Uint8Array();
    const read = readEvents(bytes);
    this.#isRead = true;
    this.#lines = read.lines;
    this.#remember(bytes, read, 0);
    return { events: read.events, nextSeq: read.nextSeq, damage: read.damage, whole: true };
  }

  #remember(bytes: Uint8Array, { lastLine, length, nextSeq }: ReturnType<typeof readEvents>, before: number): void {
    this.#length = before + length;
    this.#last = bytes.slice(Math.max(lastLine, length - MOST_COMPARED), length);
    this.#nextSeq = nextSeq;
  }
}

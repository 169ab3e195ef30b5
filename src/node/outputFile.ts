// Stores a command's output in parts of equal size and keeps only the newest, so that the disk does not fill up.
import { type FileHandle, open, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { ignore } from '../base/async.ts';
import { readFrom } from './files/fileSystem.ts';

const PART_BYTES = 8 * 1024 * 1024;
const PARTS_KEPT = 16;
/** A part is named after the position of its first byte. */
const PART = /^output\.(\d{15})$/;

export interface OutputMeasure {
  /** Bytes ever printed. */
  readonly size: number;
  /** Offset of the first byte that is still kept. */
  readonly kept: number;
}

/** For the only process that writes. Calls must not overlap. */
export class OutputWriter {
  readonly #folder: string;
  readonly #partBytes: number;
  readonly #parts: number[] = [];
  #file: FileHandle | undefined;
  #size = 0;

  constructor(folder: string, partBytes = PART_BYTES) {
    this.#folder = folder;
    this.#partBytes = partBytes;
  }

  get measure(): OutputMeasure {
    return { size: this.#size, kept: this.#parts[0] ?? 0 };
  }

  async append(bytes: Uint8Array): Promise<void> {
    for (let done = 0; done < bytes.length; ) {
      const file = await this.#current();
      const room = (this.#parts.at(-1) ?? 0) + this.#partBytes - this.#size;
      const { bytesWritten } = await file.write(bytes, done, Math.min(bytes.length - done, room));
      done += bytesWritten;
      this.#size += bytesWritten;
    }
  }

  /** Syncs the output to disk first. */
  async close(): Promise<void> {
    await this.#file?.datasync();
    await this.#file?.close();
    this.#file = undefined;
  }

  async #current(): Promise<FileHandle> {
    const start = this.#parts.at(-1);
    if (this.#file !== undefined && start !== undefined && this.#size < start + this.#partBytes) return this.#file;
    await this.#file?.close();
    this.#file = await open(join(this.#folder, partName(this.#size)), 'a', 0o600);
    this.#parts.push(this.#size);
    const oldest = this.#parts.length > PARTS_KEPT ? this.#parts.shift() : undefined;
    if (oldest !== undefined) await rm(join(this.#folder, partName(oldest)), { force: true });
    return this.#file;
  }
}

/** Can be called by any process at any time. */
export async function measureOutput(folder: string): Promise<OutputMeasure> {
  const parts = await partsIn(folder);
  const last = parts.at(-1);
  if (last === undefined) return { size: 0, kept: 0 };
  const { size } = await stat(join(folder, partName(last)));
  return { size: last + size, kept: parts[0] ?? 0 };
}

/** At most `limit` bytes from this offset on, or from the first byte that is still kept. */
export async function readOutput(
  folder: string,
  from: number,
  limit: number,
): Promise<{ from: number; bytes: Buffer }> {
  const parts = await partsIn(folder);
  const begin = Math.max(from, parts[0] ?? 0);
  const pieces: Buffer[] = [];
  let length = 0;
  for (const [index, start] of parts.entries()) {
    const next = parts[index + 1];
    if (length >= limit) break;
    if (next !== undefined && next <= begin) continue;
    const piece = await readPart(join(folder, partName(start)), Math.max(0, begin - start), limit - length);
    // The oldest part may be removed during the read; a gap must not be hidden.
    if (piece === undefined && next !== undefined) return readOutput(folder, next, limit);
    if (piece === undefined) break;
    pieces.push(piece);
    length += piece.length;
  }
  return { from: begin, bytes: Buffer.concat(pieces) };
}

async function readPart(path: string, offset: number, limit: number): Promise<Buffer | undefined> {
  const file = await open(path, 'r').catch(ignore);
  if (file === undefined) return undefined;
  try {
    return await readFrom(file, offset, limit);
  } finally {
    await file.close();
  }
}

async function partsIn(folder: string): Promise<number[]> {
  const names = await readdir(folder).catch((): string[] => []);
  return names
    .flatMap((name) => PART.exec(name)?.[1] ?? [])
    .map(Number)
    .sort((a, b) => a - b);
}

function partName(start: number): string {
  return `output.${String(start).padStart(15, '0')}`;
}

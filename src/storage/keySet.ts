// A set of keys in a small file, shared by windows: each change is applied to what is on disk.
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import * as z from 'zod';
import { describeError } from '../base/errors.ts';
import { type Logger } from '../core/ports/ports.ts';
import { type FileSystem } from '../node/fileSystem.ts';
import { storageError } from './storageError.ts';

const MOST_KEY = 1000;
const fileSchema = z.strictObject({ v: z.literal(1), keys: z.array(z.string().max(MOST_KEY)) });
/** The oldest are forgotten. */
const MOST_KEYS = 5000;

export interface KeySet {
  /** Resolves once it was read. Until then it is empty. */
  readonly ready: Promise<void>;
  has(key: string): boolean;
  /** Those that begin with it, as they were set. */
  keys(prefix: string): readonly string[];
  /** Resolves once it is on disk. */
  set(key: string, on: boolean): Promise<void>;
}

export function createKeySet(deps: { files: FileSystem; folder: string; name: string; logger: Logger }): KeySet {
  const { files, folder, logger } = deps;
  const path = join(folder, deps.name);
  let keys = new Set<string>();
  const read = async () => {
    try {
      const bytes = await files.read(path);
      keys = new Set(bytes && fileSchema.parse(JSON.parse(Buffer.from(bytes).toString('utf8'))).keys);
    } catch (error) {
      logger.warn(`${deps.name} cannot be read, so it counts as empty: ${describeError(error)}`);
      keys = new Set();
    }
  };
  const ready = read();
  let writing: Promise<void> = ready;
  const write = async (key: string, on: boolean) => {
    // Another window may have changed it.
    await read();
    if (keys.has(key) === on) return;
    if (on) keys.add(key);
    else keys.delete(key);
    const content: z.infer<typeof fileSchema> = { v: 1, keys: [...keys].slice(-MOST_KEYS) };
    try {
      await files.makeFolder(folder);
      await files.writeWhole(path, Buffer.from(JSON.stringify(content)));
    } catch (error) {
      throw storageError(error);
    }
  };
  return {
    ready,
    has: (key) => keys.has(stored(key)),
    keys: (prefix) => [...keys].filter((key) => key.startsWith(prefix)),
    set: (key, on) => {
      const written = writing.then(() => write(stored(key), on));
      writing = written.catch(() => undefined);
      return written;
    },
  };
}

/** A key that is too long for the file is stored as its hash. */
function stored(key: string): string {
  return key.length <= MOST_KEY ? key : createHash('sha256').update(key).digest('hex');
}

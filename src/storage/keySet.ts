// A set of keys in a small file that windows share: each change is applied to the current content on disk.
import { join } from 'node:path';
import * as z from 'zod';
import { Sequence } from '../base/async.ts';
import { describeError } from '../base/errors.ts';
import { type Logger } from '../core/ports/ports.ts';
import { type FileSystem } from '../node/files/fileSystem.ts';
import { storageError } from './storageError.ts';

const fileSchema = z.looseObject({ v: z.literal(1) });
const keysSchema = z.array(z.string());
/** Beyond this, the oldest keys are dropped. */
const MOST_KEYS = 5000;

export interface KeySet {
  /** Resolves once the file was read. Until then the set is empty. */
  readonly ready: Promise<void>;
  /** Reads the file again, since another window may have changed it. */
  read(): Promise<void>;
  has(key: string): boolean;
  /** The keys that begin with the prefix. */
  keys(prefix: string): readonly string[];
  /** Resolves once the change is on disk. */
  set(key: string, on: boolean): Promise<void>;
}

export interface KeySetDeps {
  readonly files: FileSystem;
  readonly folder: string;
  /** The name of the file. */
  readonly name: string;
  /** The field of the file that has the keys; default: `keys`. */
  readonly field?: string;
  readonly logger: Logger;
  /** Called when the keys are others than before, also by another window. */
  onDidChange?(): void;
}

export function createKeySet({ files, folder, name, field = 'keys', logger, onDidChange }: KeySetDeps): KeySet {
  const path = join(folder, name);
  let keys = new Set<string>();
  const read = async () => {
    const before = [...keys];
    try {
      const bytes = await files.read(path);
      const content = bytes && fileSchema.parse(JSON.parse(Buffer.from(bytes).toString('utf8')));
      keys = new Set(content && keysSchema.parse(content[field]));
    } catch (error) {
      logger.warn(`${name} cannot be read, so it counts as empty: ${describeError(error)}`);
      keys = new Set();
    }
    if (before.length !== keys.size || before.some((key) => !keys.has(key))) onDidChange?.();
  };
  const changes = new Sequence();
  const ready = changes.run(read);
  const write = async (key: string, on: boolean) => {
    // Another window may have changed the file.
    await read();
    if (keys.has(key) === on) return;
    if (on) keys.add(key);
    else keys.delete(key);
    const content = { v: 1, [field]: [...keys].slice(-MOST_KEYS) };
    try {
      await files.makeFolder(folder);
      await files.writeWhole(path, Buffer.from(JSON.stringify(content)));
    } catch (error) {
      throw storageError(error);
    }
    onDidChange?.();
  };
  return {
    ready,
    read: () => changes.run(read),
    has: (key) => keys.has(key),
    keys: (prefix) => [...keys].filter((key) => key.startsWith(prefix)),
    set: (key, on) => changes.run(() => write(key, on)),
  };
}

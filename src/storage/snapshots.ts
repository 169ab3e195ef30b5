// Decides how the bytes that a model was shown are kept: by their SHA-256, once, written before they are named.
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { describeError } from '../base/errors.ts';
import { type Snapshots } from '../core/ports.ts';
import { type FileSystem } from '../node/fileSystem.ts';
import { storageError } from './eventFile.ts';

export function createSnapshots(deps: { files: FileSystem; folder: string }): Snapshots {
  const { files } = deps;
  const folder = join(deps.folder, 'snapshots');
  const kept = new Map<string, Promise<void>>();
  const place = (hash: string) => join(folder, hash.slice(0, 2), hash);
  const write = async (hash: string, bytes: Uint8Array) => {
    if ((await files.read(place(hash))) !== undefined) return;
    await files.makeFolder(join(folder, hash.slice(0, 2)));
    await files.writeWhole(place(hash), bytes);
  };
  return {
    hash: hashBytes,
    put: async (bytes) => {
      const hash = hashBytes(bytes);
      const writing = kept.get(hash) ?? write(hash, bytes);
      kept.set(hash, writing);
      try {
        await writing;
      } catch (error) {
        kept.delete(hash);
        throw storageError(describeError(error));
      }
      return hash;
    },
    get: (hash) => files.read(place(hash)),
  };
}

export function hashBytes(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

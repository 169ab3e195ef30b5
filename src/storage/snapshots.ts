// Decides how the bytes that a model was shown are kept: by their SHA-256, once, written before they are named.
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { type Snapshots } from '../core/ports/storage.ts';
import { type FileSystem } from '../node/fileSystem.ts';
import { storageError } from './storageError.ts';

export interface SnapshotsDeps {
  readonly files: FileSystem;
  readonly folder: string;
  /** Other storages that this workspace's conversations may have named bytes of. */
  elsewhere?(): Promise<readonly string[]>;
}

export function createSnapshots(deps: SnapshotsDeps): Snapshots {
  const { files } = deps;
  /** Those that are being written; what was kept once may be cleaned up later, so each is looked for anew. */
  const writes = new Map<string, Promise<void>>();
  const write = async (hash: string, bytes: Uint8Array) => {
    const place = snapshotPlace(deps.folder, hash);
    if (isWhole(hash, await files.read(place))) {
      // About to be named anew: the clean-up takes it for new.
      await files.touch(place);
      return;
    }
    await files.makeFolder(join(place, '..'));
    await files.writeWhole(place, bytes);
  };
  return {
    hash: hashBytes,
    put: async (bytes) => {
      const hash = hashBytes(bytes);
      const writing = writes.get(hash) ?? write(hash, bytes);
      writes.set(hash, writing);
      try {
        await writing;
      } catch (error) {
        throw storageError(error);
      } finally {
        writes.delete(hash);
      }
      return hash;
    },
    get: async (hash) => {
      for (const storage of [deps.folder, ...((await deps.elsewhere?.()) ?? [])]) {
        const bytes = await files.read(snapshotPlace(storage, hash));
        if (isWhole(hash, bytes)) return bytes;
      }
      return undefined;
    },
  };
}

function snapshotPlace(storage: string, hash: string): string {
  return join(storage, 'snapshots', hash.slice(0, 2), hash);
}

/** What the disk spoilt is as good as not there: it would be a difference that nobody made. */
function isWhole(hash: string, bytes: Uint8Array | undefined): boolean {
  return bytes !== undefined && hashBytes(bytes) === hash;
}

function hashBytes(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

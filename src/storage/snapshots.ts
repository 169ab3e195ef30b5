// Stores the bytes that the model was shown, by their SHA-256 and only once, before an event names them.
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { type Snapshots } from '../core/ports/storage.ts';
import { type FileSystem } from '../node/files/fileSystem.ts';
import { storageError } from './storageError.ts';

export interface SnapshotsDeps {
  readonly files: FileSystem;
  readonly folder: string;
  /** Other storages with bytes that this workspace's conversations may name. */
  elsewhere?(): Promise<readonly string[]>;
  /** A further storage whose logs may name the bytes, so that they are put there too. Undefined: there is none now. */
  also?(): string | undefined;
}

export function createSnapshots(deps: SnapshotsDeps): Snapshots {
  const { files } = deps;
  /** Writes in progress. Stored snapshots may be cleaned up later, so each put checks the disk again. */
  const writes = new Map<string, Promise<void>>();
  const writeIn = async (folder: string, hash: string, bytes: Uint8Array) => {
    const place = snapshotPlace(folder, hash);
    if (isWhole(hash, await files.read(place))) {
      // An event is about to name it again, so the clean-up must treat it as new.
      await files.touch(place);
      return;
    }
    await files.makeFolder(join(place, '..'));
    await files.writeWhole(place, bytes);
  };
  const write = async (hash: string, bytes: Uint8Array, also: string | undefined) => {
    await writeIn(deps.folder, hash, bytes);
    if (also !== undefined) await writeIn(also, hash, bytes);
  };
  return {
    hash: hashBytes,
    put: async (bytes) => {
      const hash = hashBytes(bytes);
      const also = deps.also?.();
      const key = also === undefined ? hash : `${hash} ${also}`;
      const writing = writes.get(key) ?? write(hash, bytes, also);
      writes.set(key, writing);
      try {
        await writing;
      } catch (error) {
        throw storageError(error);
      } finally {
        writes.delete(key);
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

/** A corrupted snapshot counts as missing; otherwise a diff against it would show changes that nobody made. */
function isWhole(hash: string, bytes: Uint8Array | undefined): boolean {
  return bytes !== undefined && hashBytes(bytes) === hash;
}

function hashBytes(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

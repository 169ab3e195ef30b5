// Decides how the parts of storage are joined: places, store, lock, snapshots and their clean-up, over one file system.
import { type Clock } from '../base/clock.ts';
import { type Ids, type Logger } from '../core/ports/ports.ts';
import { type Lock, type Snapshots, type Store } from '../core/ports/storage.ts';
import { type FileSystem } from '../node/fileSystem.ts';
import { isAlive, type TryLock, tryKernelLock } from '../node/kernelLock.ts';
import { startTimeOf } from '../node/processTree.ts';
import { createCheckpoints, type StoredCheckpoints } from './checkpoints/checkpoints.ts';
import { cleanUp, namedCheckpoints } from './cleanUp.ts';
import { createLock } from './lock.ts';
import { createPlaces, type PlacesDeps } from './places.ts';
import { createSnapshots } from './snapshots.ts';
import { createStore } from './store.ts';

export interface StorageDeps extends PlacesDeps {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly logger: Logger;
  readonly files: FileSystem;
  /** What other windows call this one. */
  readonly window: string;
  /** The kernel's, unless a test has another. */
  readonly tryLock?: TryLock;
}

export interface Storage {
  readonly store: Store;
  readonly lock: Lock;
  readonly snapshots: Snapshots;
  readonly checkpoints: StoredCheckpoints;
  /** Where a conversation is kept, with whatever belongs to it. */
  folderOf(conversation: string): Promise<string>;
  /** Removes what nobody needs. Returns how many snapshots that were. */
  cleanUp(): Promise<number>;
}

export function createStorage(deps: StorageDeps): Storage {
  const { files, clock, logger, folder, ids } = deps;
  const places = createPlaces(deps);
  const snapshots = createSnapshots({ files, folder, elsewhere: () => places.storages() });
  const checkpoints = createCheckpoints({ files, folder, snapshots, clock, logger });
  return {
    store: createStore({ files, places, clock, logger }),
    lock: createLock({
      files,
      places,
      clock,
      logger,
      tryLock: deps.tryLock ?? tryKernelLock,
      self: { pid: process.pid, window: deps.window },
      ulid: () => ids.ulid(),
      isAlive,
      // There no file that somebody holds can be removed, and asking takes long.
      startTimeOf: process.platform === 'win32' ? () => undefined : startTimeOf,
    }),
    snapshots,
    checkpoints,
    cleanUp: async () => {
      const parts = { files, folder, places, clock, logger };
      const named = await namedCheckpoints(parts);
      // First, since snapshots may be named by a checkpoint that goes.
      await checkpoints.cleanUp((name) => named.has(name));
      return cleanUp(parts);
    },
    folderOf: (conversation) => places.folderOf(conversation),
  };
}

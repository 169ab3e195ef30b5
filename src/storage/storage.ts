// Composes storage: places, store, lock, snapshots, checkpoints and clean-up over one file system.
import { type Clock } from '../base/clock.ts';
import { type Ids, type Logger } from '../core/ports/ports.ts';
import { type Lock, type Snapshots, type Store, type Views } from '../core/ports/storage.ts';
import { type FileSystem } from '../node/files/fileSystem.ts';
import { isAlive, type TryLock, tryKernelLock } from '../node/kernelLock.ts';
import { startTimeOf } from '../node/processTree.ts';
import { createCheckpoints, type StoredCheckpoints } from './checkpoints/checkpoints.ts';
import { type CaptureFirst } from './checkpoints/firstCapture.ts';
import { cleanUp, namedCheckpoints } from './cleanUp.ts';
import { createLock } from './lock.ts';
import { createPlaces, type Places, type PlacesDeps } from './places.ts';
import { createSnapshots } from './snapshots.ts';
import { createStore } from './store.ts';
import { createViews } from './viewFiles.ts';

export interface StorageDeps extends PlacesDeps {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly logger: Logger;
  readonly files: FileSystem;
  /** This window's name for other windows. */
  readonly window: string;
  /** Default: the kernel's lock. */
  readonly tryLock?: TryLock;
  /** If absent, the first capture of a folder is taken in this process. */
  readonly captureFirst?: CaptureFirst;
}

export interface Storage {
  readonly store: Store;
  readonly lock: Lock;
  /** The logs of outside agents. */
  readonly listeners: { readonly store: Store; readonly lock: Lock };
  readonly snapshots: Snapshots;
  readonly checkpoints: StoredCheckpoints;
  readonly views: Views;
  /** The folder of a conversation. */
  folderOf(conversation: string): Promise<string>;
  /** Removes unreferenced data. Returns the number of removed snapshots. */
  cleanUp(): Promise<number>;
}

export function createStorage(deps: StorageDeps): Storage {
  const { files, folder, ids } = deps;
  const places = createPlaces(deps);
  const snapshots = createSnapshots({ files, folder, elsewhere: () => places.storages() });
  const checkpoints = createCheckpoints({ ...deps, snapshots });
  const logsAt = (at: Places) => ({
    store: createStore({ ...deps, places: at }),
    lock: createLock({
      ...deps,
      places: at,
      tryLock: deps.tryLock ?? tryKernelLock,
      self: { pid: process.pid, window: deps.window },
      ulid: () => ids.ulid(),
      isAlive,
      startTimeOf: knownStartTime,
    }),
  });
  return {
    ...logsAt(places),
    listeners: logsAt(createPlaces(deps, 'listeners')),
    snapshots,
    checkpoints,
    views: createViews({
      ...deps,
      places,
      isAlive,
      pid: process.pid,
      name: ids.ulid(),
      startTimeOf: knownStartTime,
    }),
    cleanUp: async () => {
      const parts = { ...deps, places };
      const named = await namedCheckpoints(parts);
      // Checkpoints first, since removed ones may name snapshots.
      await checkpoints.cleanUp((name) => named.has(name));
      return cleanUp(parts);
    },
    folderOf: (conversation) => places.folderOf(conversation),
  };
}

/** Not needed on Windows, where open files cannot be removed; the check is slow there. */
function knownStartTime(pid: number): string | undefined {
  return process.platform === 'win32' ? undefined : startTimeOf(pid);
}

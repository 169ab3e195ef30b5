// Composes storage: places, store, lock, snapshots, checkpoints and clean-up over one file system.
import { type Clock } from '../base/clock.ts';
import { type Ids, type Logger } from '../core/ports/ports.ts';
import { type Lock, type Snapshots, type Store, type Views } from '../core/ports/storage.ts';
import { type FileSystem } from '../node/files/fileSystem.ts';
import { isAlive, type TryLock, tryKernelLock } from '../node/kernelLock.ts';
import { platform } from '../node/platform/platform.ts';
import { createCheckpoints, type StoredCheckpoints } from './checkpoints/checkpoints.ts';
import { type CaptureFirst } from './checkpoints/firstCapture.ts';
import { createLock } from './lock.ts';
import { createPlaces, type Places, type PlacesDeps, LOG_FOLDERS } from './places.ts';
import { createSnapshots } from './snapshots.ts';
import { createStore, REMOVED } from './store.ts';
import { createViews } from './viewFiles.ts';
import { join } from 'node:path';

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
  /**
   * The logs of outside agents, in a folder that windows and `earshot-ears` write in turn. From now on bytes are put there
   * too while `isUsed`, since those logs name them.
   */
  listenersIn(folder: string, isUsed: () => boolean): { readonly store: Store; readonly lock: Lock };
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
  let outside: { readonly folder: string; isUsed(): boolean } | undefined;
  const snapshots = createSnapshots({
    ...{ files, folder },
    elsewhere: async () => [...(await places.storages()), ...(outside === undefined ? [] : [outside.folder])],
    also: () => (outside?.isUsed() === true && outside.folder !== folder ? outside.folder : undefined),
  });
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
      startTimeOf: platform.processes.startTimeOf,
    }),
  });
  return {
    ...logsAt(places),
    listenersIn: (place, isUsed) => {
      outside = { folder: place, isUsed };
      return logsAt(createPlaces({ files, folder: place, logger: deps.logger }, 'listeners'));
    },
    snapshots,
    checkpoints,
    views: createViews({
      ...deps,
      places,
      isAlive,
      pid: process.pid,
      name: ids.ulid(),
      startTimeOf: platform.processes.startTimeOf,
    }),
    cleanUp: async () => {
      const parts = { ...deps, places };
      const named = await namedCheckpoints(parts);
      // Checkpoints first, since removed ones may name snapshots.
      await checkpoints.cleanUp((name) => named.has(name));
      if (outside !== undefined && outside.folder !== folder) {
        const there = { files, folder: outside.folder, logger: deps.logger };
        await cleanUp({ ...deps, ...there, places: createPlaces(there, 'listeners') });
      }
      return cleanUp(parts);
    },
    folderOf: (conversation) => places.folderOf(conversation),
  };
}

interface CleanUpDeps {
  readonly files: FileSystem;
  readonly folder: string;
  readonly places: Places;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Younger snapshots are kept, since another window's log may be about to name them. */
const OLD = 7 * 24 * 60 * 60 * 1000;
const NAMED = /"(?:hash|before|after)":"([0-9a-f]{64})"/g;
const NAMED_CHECKPOINT = /"checkpoint":"([0-9a-f]{40})"/g;

/** Cleans this window's storage only. Returns the number of removed snapshots. Throws errors of the file system. */
async function cleanUp(deps: CleanUpDeps): Promise<number> {
  const { files, folder, logger } = deps;
  await removeLeftovers(deps);
  const old = await oldSnapshots(deps);
  if (old.length === 0) return 0;
  // Read after the old snapshots were found: a snapshot that is named later is touched by `put`, so it is not old then.
  const named = await namedInLogs(deps, NAMED);
  for (const hash of await namedInWalks(deps)) named.add(hash);
  let removed = 0;
  for (const { name, path } of old) {
    if (named.has(name) || !(await isOld(deps, path))) continue;
    await files.remove(path);
    removed += 1;
  }
  if (removed > 0) logger.info(`${removed} unreferenced snapshots in ${folder} were removed`);
  return removed;
}

async function oldSnapshots(deps: CleanUpDeps): Promise<{ name: string; path: string }[]> {
  const root = join(deps.folder, 'snapshots');
  const old: { name: string; path: string }[] = [];
  for (const prefix of await deps.files.list(root)) {
    for (const name of await deps.files.list(join(root, prefix))) {
      const path = join(root, prefix, name);
      if (await isOld(deps, path)) old.push({ name, path });
    }
  }
  return old;
}

async function isOld({ files, clock }: CleanUpDeps, path: string): Promise<boolean> {
  const stat = await files.stat(path);
  return stat !== undefined && clock.now() - stat.modified > OLD;
}

/** Searches all logs of all storages, including damaged lines: a conversation may name bytes in another storage. */
async function namedInLogs({ files, places }: CleanUpDeps, pattern: RegExp): Promise<Set<string>> {
  const named = new Set<string>();
  const storages = await places.allStorages();
  for (const folder of storages.flatMap((storage) => LOG_FOLDERS.map((name) => join(storage, name)))) {
    for (const id of await files.list(folder)) {
      const bytes = await files.read(join(folder, id, 'events.jsonl'));
      if (bytes === undefined) continue;
      for (const hash of matchesIn(bytes, pattern)) named.add(hash);
    }
  }
  return named;
}

/** Without git, the files of checkpoints are snapshots too. */
async function namedInWalks({ files, places }: CleanUpDeps): Promise<readonly string[]> {
  const named: string[] = [];
  for (const storage of await places.allStorages()) {
    const walks = join(storage, 'checkpoints', 'walk');
    for (const name of await files.list(walks)) {
      named.push(...matchesIn((await files.read(join(walks, name))) ?? new Uint8Array(), NAMED));
    }
  }
  return named;
}

function matchesIn(bytes: Uint8Array, pattern: RegExp): string[] {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
  return [...text.matchAll(pattern)].flatMap(([, name]) => name ?? []);
}

/** Checkpoints that any log refers to. */
function namedCheckpoints(deps: CleanUpDeps): Promise<ReadonlySet<string>> {
  return namedInLogs(deps, NAMED_CHECKPOINT);
}

async function removeLeftovers({ files, folder }: CleanUpDeps): Promise<void> {
  for (const logs of LOG_FOLDERS.map((name) => join(folder, name))) {
    for (const name of await files.list(logs)) {
      if (name.startsWith(REMOVED)) await files.remove(join(logs, name));
    }
  }
}

// The index of storages by workspace folder, and whether a window may have conversations. Loaded at activation.
import { createHash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';

export function folderKey(folder: string): string {
  return createHash('sha256').update(folder).digest('hex').slice(0, 24);
}

/** The folder in global storage that lists, for each workspace folder, the storages that it has had. */
export function indexRoot(globalFolder: string): string {
  return join(globalFolder, 'folders');
}

/** One file for each pair of workspace folder and storage. */
export function indexFile(storage: string): string {
  return `${folderKey(storage)}.json`;
}

export interface WindowStorage {
  /** This window's own storage. */
  readonly folder: string;
  readonly globalFolder: string;
  readonly workspaceFolders: readonly string[];
}

/**
 * If true, the storage must be loaded, since the newest conversation gets notifications from the start. Also true in doubt: if a folder cannot be listed, or a workspace folder had another storage before.
 */
export async function mayHaveConversations({
  folder,
  globalFolder,
  workspaceFolders,
}: WindowStorage): Promise<boolean> {
  const own = indexFile(folder);
  const places = workspaceFolders.map((one) => join(indexRoot(globalFolder), folderKey(one)));
  const found = await Promise.all([
    hasEntry(join(folder, 'conversations'), () => true),
    ...places.map((place) => hasEntry(place, (name) => name !== own)),
  ]);
  return found.includes(true);
}

async function hasEntry(folder: string, counts: (name: string) => boolean): Promise<boolean> {
  try {
    return (await readdir(folder)).some(counts);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ENOENT';
  }
}

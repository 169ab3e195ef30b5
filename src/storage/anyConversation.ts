// Tells at start-up, without loading anything else, whether a window has conversations that must be recovered.
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { folderKey, indexFile, indexRoot } from './folderKey.ts';

export interface WindowStorage {
  /** This window's own storage. */
  readonly folder: string;
  readonly globalFolder: string;
  readonly workspaceFolders: readonly string[];
}

/**
 * Says yes when in doubt: a log that cannot be listed, or a storage that a workspace folder had before. The newest
 * conversation is live from the start, whether something is pending in it or not: it is notified of what happens.
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

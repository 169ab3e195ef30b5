// Names what belongs to a folder, in the index of conversations by folder.
import { createHash } from 'node:crypto';
import { join } from 'node:path';

export function folderKey(folder: string): string {
  return createHash('sha256').update(folder).digest('hex').slice(0, 24);
}

/** The part of the index in global storage that lists the storages a workspace folder had. */
export function indexRoot(globalFolder: string): string {
  return join(globalFolder, 'folders');
}

/** One file for each pair of workspace folder and storage. */
export function indexFile(storage: string): string {
  return `${folderKey(storage)}.json`;
}

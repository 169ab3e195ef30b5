// Files of the user's folder with instructions and prompts for all workspaces.
import { join } from 'node:path';
import { type UserFiles } from '../core/ports/ports.ts';
import { type FileSystem } from '../node/fileSystem.ts';

/** Unreadable files count as missing. */
export function createUserFiles({ files, folder }: { files: FileSystem; folder: string }): UserFiles {
  return {
    read: async (name) => {
      const bytes = await files.read(join(folder, name)).catch(() => undefined);
      return bytes === undefined ? undefined : Buffer.from(bytes).toString('utf8');
    },
    list: (name) => files.list(join(folder, name)).catch(() => []),
  };
}

// Where the user's own instructions and prompts for every workspace are: files in one folder of theirs.
import { join } from 'node:path';
import { type UserFiles } from '../core/ports/ports.ts';
import { type FileSystem } from '../node/fileSystem.ts';

/** What cannot be read is as good as not there. */
export function createUserFiles({ files, folder }: { files: FileSystem; folder: string }): UserFiles {
  return {
    read: async (name) => {
      const bytes = await files.read(join(folder, name)).catch(() => undefined);
      return bytes === undefined ? undefined : Buffer.from(bytes).toString('utf8');
    },
    list: (name) => files.list(join(folder, name)).catch(() => []),
  };
}

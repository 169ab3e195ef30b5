// Reads the user's folder with instructions, prompts and skills for all workspaces.
import { join } from 'node:path';
import { ignore } from '../base/async.ts';
import { failed, succeeded } from '../base/errors.ts';
import { type UserFiles } from '../core/ports/userFiles.ts';
import { type FileSystem } from '../node/files/fileSystem.ts';
import { readJudged } from '../node/files/readInside.ts';

/** Unreadable files count as missing. */
export function createUserFiles({ files, folder }: { files: FileSystem; folder: string }): UserFiles {
  return {
    read: async (name) => {
      const bytes = await files.read(join(folder, name)).catch(ignore);
      return bytes === undefined ? undefined : Buffer.from(bytes).toString('utf8');
    },
    list: (name) => files.list(join(folder, name)).catch(() => []),
    readInside: async (name, path, atMost) => {
      const inside = { path: '', absolute: join(folder, name) };
      const judge = ({ outside }: { readonly outside: boolean }) =>
        outside ? failed('outside', `${path} leads outside its folder.`).failure : undefined;
      const read = await readJudged([inside], { path, absolute: join(inside.absolute, path) }, { judge, atMost });
      return read.ok ? succeeded(read.value.bytes) : read;
    },
  };
}

// Keeps what is typed and not yet sent in a file: the editor's own memory lives in the browser and may be a reload behind.
import { join } from 'node:path';
import { type Log } from '../core/ports.ts';
import { type FileSystem } from '../node/fileSystem.ts';

export interface Drafts {
  read(): Promise<string>;
  /** Resolves once it is kept; the newest wins. */
  write(text: string): Promise<void>;
}

export function createDrafts(deps: { files: FileSystem; folder: string; log: Log }): Drafts {
  const { files, folder, log } = deps;
  const path = join(folder, 'draft.txt');
  let newest: string | undefined;
  let writing: Promise<void> | undefined;
  const writeNewest = async () => {
    while (newest !== undefined) {
      const text = newest;
      newest = undefined;
      try {
        await files.makeFolder(folder);
        await files.writeWhole(path, Buffer.from(text));
      } catch (error) {
        log.error('the draft cannot be kept', error);
      }
    }
    writing = undefined;
  };
  return {
    read: async () => {
      try {
        return Buffer.from((await files.read(path)) ?? []).toString('utf8');
      } catch (error) {
        log.error('the draft cannot be read', error);
        return '';
      }
    },
    write: (text) => {
      newest = text;
      writing ??= writeNewest();
      return writing;
    },
  };
}

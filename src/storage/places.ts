// Locates a workspace's logs of conversations or listeners, in its own storage and in earlier storages of its folders.
import { join } from 'node:path';
import * as z from 'zod';
import { type Logger } from '../core/ports/ports.ts';
import { type FileSystem } from '../node/files/fileSystem.ts';
import { folderKey, indexFile, indexRoot } from './folderIndex.ts';

/** The folders of a storage that have logs. */
export const LOG_FOLDERS = ['conversations', 'listeners'] as const;

export interface PlacesDeps {
  readonly files: FileSystem;
  /** This window's storage. New conversations are created here. */
  readonly folder: string;
  /** The editor gives a workspace another storage when a folder is added; the index keeps track of the earlier ones. */
  readonly index?: { readonly folder: string; workspaceFolders(): readonly string[] };
  readonly logger: Logger;
}

export interface Places {
  /** The folder in each storage that contains these logs. */
  readonly name: (typeof LOG_FOLDERS)[number];
  /** Storages that this window's conversations may be in, its own first. */
  storages(): Promise<readonly string[]>;
  /** Every storage that any window has ever had. */
  allStorages(): Promise<readonly string[]>;
  /** The folder of a conversation, which may not exist yet. */
  folderOf(conversation: string): Promise<string>;
}

const entrySchema = z.strictObject({ workspace_folder: z.string(), storage: z.string() });

export function createPlaces(deps: PlacesDeps, name: Places['name'] = 'conversations'): Places {
  const { files, folder, logger } = deps;
  const index = deps.index && { ...deps.index, root: indexRoot(deps.index.folder) };
  const known = new Map<string, string>();

  /** One small file for each pair, so that windows do not overwrite each other. */
  const register = async (root: string, workspaceFolder: string) => {
    const place = join(root, folderKey(workspaceFolder), indexFile(folder));
    if ((await files.stat(place)) !== undefined) return;
    await files.makeFolder(join(root, folderKey(workspaceFolder)));
    const entry = { workspace_folder: workspaceFolder, storage: folder };
    await files.writeWhole(place, new TextEncoder().encode(JSON.stringify(entry)));
  };
  const storagesIn = async (place: string): Promise<string[]> => {
    const names = (await files.list(place)).filter((name) => name.endsWith('.json'));
    const entries = await Promise.all(names.map(async (name) => readEntry(await files.read(join(place, name)))));
    return entries.flatMap((entry) => entry?.storage ?? []);
  };
  /** This window's own storage works without the index, so failures are only logged. */
  const indexed = async (look: (root: string) => Promise<string[]>): Promise<readonly string[]> => {
    if (index === undefined) return [folder];
    try {
      return [...new Set([folder, ...(await look(index.root))])];
    } catch (error) {
      logger.error('the index of conversations by folder cannot be used', error);
      return [folder];
    }
  };

  const places: Places = {
    name,
    storages: () =>
      indexed(async (root) => {
        const folders = index?.workspaceFolders() ?? [];
        await Promise.all(folders.map((workspaceFolder) => register(root, workspaceFolder)));
        return (await Promise.all(folders.map((one) => storagesIn(join(root, folderKey(one)))))).flat();
      }),
    allStorages: () =>
      indexed(async (root) => {
        const hashes = await files.list(root);
        return (await Promise.all(hashes.map((hash) => storagesIn(join(root, hash))))).flat();
      }),
    folderOf: async (conversation) => {
      const before = known.get(conversation);
      if (before !== undefined) return before;
      for (const storage of await places.storages()) {
        const place = join(storage, name, conversation);
        if ((await files.stat(join(place, 'events.jsonl'))) === undefined) continue;
        known.set(conversation, place);
        return place;
      }
      return join(folder, name, conversation);
    },
  };
  return places;
}

function readEntry(bytes: Uint8Array | undefined): z.infer<typeof entrySchema> | undefined {
  try {
    return entrySchema.parse(JSON.parse(new TextDecoder().decode(bytes)));
  } catch {
    return undefined;
  }
}

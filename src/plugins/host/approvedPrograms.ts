// The programs that the user has approved, by command and hashes, stored in one file outside all workspaces.
import { join } from 'node:path';
import * as z from 'zod';
import { Sequence } from '../../base/async.ts';
import { describeError } from '../../base/errors.ts';
import { type Logger } from '../../core/ports/ports.ts';
import { type FileSystem, realFileSystem } from '../../node/files/fileSystem.ts';

const fileSchema = z.strictObject({ v: z.literal(1), approved: z.array(z.string()) });

export interface ApprovedPrograms {
  has(key: string): Promise<boolean>;
  /** Resolves once it is on disk. */
  add(key: string): Promise<void>;
}

/** Reads the file on each call, since other windows write it too. If it cannot be read, the user is asked again. */
export function createApprovedPrograms(deps: { files: FileSystem; folder: string; logger: Logger }): ApprovedPrograms {
  const { files, folder, logger } = deps;
  const path = join(folder, 'approved-plugins.json');
  const read = async (): Promise<readonly string[]> => {
    try {
      const bytes = await files.read(path);
      return bytes === undefined ? [] : fileSchema.parse(JSON.parse(Buffer.from(bytes).toString('utf8'))).approved;
    } catch (error) {
      logger.warn(`the approved program plugins cannot be read, so they are asked for again: ${describeError(error)}`);
      return [];
    }
  };
  const writes = new Sequence();
  return {
    has: async (key) => (await read()).includes(key),
    add: (key) =>
      writes.run(async () => {
        const content: z.infer<typeof fileSchema> = { v: 1, approved: [...new Set([...(await read()), key])] };
        await files.makeFolder(folder);
        await files.writeWhole(path, Buffer.from(JSON.stringify(content)));
      }),
  };
}

/** The agents that `earshot-ears` may serve: those that the user has installed notifications for. */
export function createEarsApprovals(home: string, logger: Logger): ApprovedPrograms {
  return createApprovedPrograms({ files: realFileSystem, folder: join(home, '.earshot', 'outside'), logger });
}

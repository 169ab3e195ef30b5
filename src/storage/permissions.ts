// Stores permanent approvals in a small file beside the conversations, out of the agent's reach.
import { join } from 'node:path';
import * as z from 'zod';
import { describeError } from '../base/errors.ts';
import { type Logger, type Permissions } from '../core/ports/ports.ts';
import { type FileSystem } from '../node/fileSystem.ts';
import { storageError } from './storageError.ts';

const fileSchema = z.strictObject({ v: z.literal(1), rules: z.array(z.string()) });

/** Nothing is allowed until the file was read, or if it is unreadable: the user is asked. */
export function createPermissions(deps: { files: FileSystem; folder: string; logger: Logger }): Permissions & {
  readonly ready: Promise<void>;
} {
  const { files, folder, logger } = deps;
  const path = join(folder, 'approvals.json');
  const rules = new Set<string>();
  const read = async () => {
    try {
      const bytes = await files.read(path);
      if (bytes === undefined) return;
      for (const rule of fileSchema.parse(JSON.parse(Buffer.from(bytes).toString('utf8'))).rules) rules.add(rule);
    } catch (error) {
      logger.warn(`what was always allowed cannot be read, so it is asked for again: ${describeError(error)}`);
    }
  };
  const ready = read();
  let writing: Promise<void> = ready;
  const write = async () => {
    const content: z.infer<typeof fileSchema> = { v: 1, rules: [...rules] };
    try {
      await files.makeFolder(folder);
      await files.writeWhole(path, Buffer.from(JSON.stringify(content)));
    } catch (error) {
      throw storageError(error);
    }
  };
  return {
    ready,
    has: (rule) => rules.has(rule),
    add: (rule) => {
      rules.add(rule);
      // Serialized, so that concurrent additions are all stored.
      const written = writing.then(write);
      writing = written.catch(() => undefined);
      return written;
    },
  };
}

// Decides where a workspace's conversations are: `conversations/<id>/events.jsonl` under one folder.
import { join } from 'node:path';
import { describeError, FailureError, failed, succeeded } from '../base/errors.ts';
import { ULID_PATTERN } from '../base/ulid.ts';
import { type Log, type Store } from '../core/ports.ts';
import { type FileSystem } from '../node/fileSystem.ts';
import { openEventFile } from './eventFile.ts';

export function createStore(deps: { files: FileSystem; folder: string; log: Log }): Store {
  const { files, folder, log } = deps;
  const conversations = join(folder, 'conversations');
  return {
    open: async (id) => {
      if (!ULID_PATTERN.test(id)) return failed('bad_id', `“${id}” is no conversation’s id.`);
      try {
        await files.makeFolder(join(conversations, id));
        return succeeded(await openEventFile(files, join(conversations, id, 'events.jsonl'), log));
      } catch (error) {
        return unusable(error, conversations);
      }
    },
    list: async () => {
      try {
        // Ids begin with the time of birth.
        return succeeded(
          (await files.list(conversations))
            .filter((name) => ULID_PATTERN.test(name))
            .sort()
            .reverse(),
        );
      } catch (error) {
        return unusable(error, conversations);
      }
    },
  };
}

function unusable(error: unknown, folder: string): { ok: false; failure: FailureError['failure'] } {
  if (error instanceof FailureError) return { ok: false, failure: error.failure };
  return failed(
    'storage',
    `Earshot cannot keep conversations: ${describeError(error)}.`,
    `Make ${folder} writable, then reload the window.`,
  );
}

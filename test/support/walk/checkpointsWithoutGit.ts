// Checkpoints as on a machine without git, removed at the end of the test.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { realFileSystem } from '../../../src/node/files/fileSystem.ts';
import { realClock } from '../../../src/node/realClock.ts';
import { createCheckpoints, type StoredCheckpoints } from '../../../src/storage/checkpoints/checkpoints.ts';
import { createSnapshots } from '../../../src/storage/snapshots.ts';
import { atTestEnd } from '../endings.ts';
import { recordingLogger } from '../recordingLogger.ts';

export async function checkpointsWithoutGit(): Promise<StoredCheckpoints> {
  const root = await mkdtemp(join(tmpdir(), 'earshot-walk-store-'));
  const files = realFileSystem;
  const snapshots = createSnapshots({ files, folder: root });
  const made = createCheckpoints({
    files,
    folder: root,
    snapshots,
    clock: realClock,
    logger: recordingLogger([]),
    withoutGit: true,
  });
  atTestEnd(async () => {
    await made.close();
    await rm(root, { recursive: true, force: true });
  });
  return made;
}

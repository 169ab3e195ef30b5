// Renames a file over another one, also where an open file cannot be replaced for as long as it is open.
import { rename } from 'node:fs/promises';
import { pause } from '../../base/async.ts';
import { type Disk } from '../platform/parts.ts';
import { platform } from '../platform/platform.ts';
import { realClock } from '../realClock.ts';

/** Virus scanners and indexers have a new file open for a moment; whoever has it open longer is not waited for. */
const PAUSES = [10, 20, 40, 80, 160, 320, 640];
const IN_USE = new Set(['EACCES', 'EBUSY', 'EPERM']);

interface RenameDeps {
  readonly disk: Pick<Disk, 'replacesOpenFiles'>;
  rename(from: string | Buffer, to: string | Buffer): Promise<void>;
  wait(milliseconds: number): Promise<unknown>;
}

const system: RenameDeps = {
  disk: platform.disk,
  rename,
  wait: (milliseconds) => pause(realClock, milliseconds),
};

export async function renameFile(
  from: string | Buffer,
  to: string | Buffer,
  { disk, rename: attempt, wait }: RenameDeps = system,
): Promise<void> {
  for (const milliseconds of disk.replacesOpenFiles ? [] : PAUSES) {
    try {
      await attempt(from, to);
      return;
    } catch (error) {
      if (!IN_USE.has((error as NodeJS.ErrnoException).code ?? '')) throw error;
    }
    await wait(milliseconds);
  }
  await attempt(from, to);
}

// Opens a conversation: as its owner if no other window is, otherwise as a follower.
import { describeError, FailureError, failed, type Result, succeeded } from '../../base/errors.ts';
import { defined } from '../../base/json/defined.ts';
import {
  type FollowedLog,
  type HeldLock,
  type Lock,
  type OpenedLog,
  type Owner,
  type Store,
} from '../ports/storage.ts';

export interface OpeningPorts {
  readonly store: Store;
  readonly lock: Lock;
}

export interface Opening {
  readonly opened: OpenedLog | FollowedLog;
  readonly lock?: HeldLock;
  readonly owner?: Owner;
}

export async function openOrFollow({ store, lock }: OpeningPorts, id: string): Promise<Result<Opening>> {
  try {
    const held = await lock.acquire(id);
    if (held !== undefined) {
      const opened = await store.open(id);
      if (opened.ok) return succeeded({ opened: opened.value, lock: held });
      await held.release();
      return opened;
    }
    const followed = await store.follow(id);
    if (!followed.ok) return followed;
    const owner = await lock.owner(id);
    return succeeded({ opened: followed.value, ...defined({ owner }) });
  } catch (error) {
    if (error instanceof FailureError) return { ok: false, failure: error.failure };
    return failed(
      'storage',
      `Earshot cannot keep conversations: ${describeError(error)}.`,
      'Make the folder of the conversations writable, then reload the window.',
    );
  }
}

/** Runs one short action as owner of a conversation that is not open in this window, and closes its log afterwards. */
export async function withOwned<T>(
  ports: OpeningPorts,
  id: string,
  action: (opened: OpenedLog) => Promise<T>,
): Promise<Result<T>> {
  const opening = await openOrFollow(ports, id);
  if (!opening.ok) return opening;
  const { opened, lock: held } = opening.value;
  if (!('file' in opened)) {
    await opened.close();
    return openElsewhere(opening.value.owner);
  }
  try {
    return succeeded(await action(opened));
  } finally {
    await opened.file.close();
    await held?.release();
  }
}

export function openElsewhere(owner: Owner | undefined): { ok: false; failure: FailureError['failure'] } {
  const where = owner === undefined || owner.window === '' ? 'another window' : `another window (${owner.window})`;
  return failed(
    'not_owner',
    `This conversation is open in ${where}.`,
    'Close it there, or choose “Continue here” first.',
  );
}

// Reads the diffs of a tool call from the snapshots, for its card.
import { diffOfCall, joinMoves } from '../../core/files/callDiff.ts';
import { type Snapshots } from '../../core/ports/storage.ts';
import { type FileDiff } from '../../protocol/page/diffView.ts';
import { type TranscriptItem } from '../../protocol/transcript.ts';

const MOST_FILES = 50;

export type CallChanges = NonNullable<Extract<TranscriptItem, { type: 'tool' }>['changes']>;

export async function readDiffs(snapshots: Snapshots, changes: CallChanges): Promise<FileDiff[]> {
  const read = async (hash: string | undefined) =>
    hash === undefined ? undefined : ((await snapshots.get(hash)) ?? null);
  return Promise.all(
    joinMoves(changes)
      .slice(0, MOST_FILES)
      .map(async ({ path, from, before, after }) => {
        if (from !== undefined) return { path, from, kind: 'moved', added: 0, removed: 0, hunks: [] };
        const [old, now] = [await read(before), await read(after)];
        return diffOfCall({
          path,
          ...(old !== undefined && { before: old }),
          ...(now !== undefined && { after: now }),
        });
      }),
  );
}

// Reads the diffs of a tool call from the snapshots, for its card.
import { defined } from '../../base/json/defined.ts';
import { diffOfCall, joinMoves } from './callDiff.ts';
import { type Snapshots } from '../ports/storage.ts';
import { type FileDiff } from '../../protocol/page/diffView.ts';
import { type TranscriptItem } from '../../protocol/transcript.ts';

const MOST_FILES = 50;

export type CallChanges = NonNullable<Extract<TranscriptItem, { type: 'tool' }>['changes']>;

export async function readDiffs(snapshots: Pick<Snapshots, 'get'>, changes: CallChanges): Promise<FileDiff[]> {
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
          ...defined({ before: old, after: now }),
        });
      }),
  );
}

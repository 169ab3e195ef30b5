// Judges changes of files of which a conversation has only seen lines that a search showed: others do not concern it.
import { decodeText } from '../../base/text.ts';
import { followLines } from '../../core/files/followLines.ts';
import { type SeenState } from '../../core/ports/fileViews.ts';
import { type Snapshots } from '../../core/ports/storage.ts';

/**
 * `none`: the lines are as the conversation knows them. `back`: they are again as they were shown, after a change that
 * was announced.
 */
export async function judgeSearched(
  snapshots: Snapshots,
  { part, hash, announced }: SeenState,
  now: Uint8Array,
): Promise<'changed' | 'none' | 'back'> {
  if (part?.searched !== true) return 'changed';
  const [shown, known] = [await snapshots.get(hash), announced && (await snapshots.get(announced))];
  const before = shown && decodeText(shown);
  const changesIn = (bytes: Uint8Array) => {
    const text = decodeText(bytes);
    return before === undefined || text === undefined ? undefined : followLines(before, text, part.ranges)?.changes;
  };
  const changes = changesIn(now);
  const last = known === undefined || known === '' ? '' : changesIn(known);
  if (changes === undefined || changes !== last) return changes === '' ? 'back' : 'changed';
  return 'none';
}

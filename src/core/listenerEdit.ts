// Separates an outside agent's own edit of a file from what others changed right before and right after it, by content.
import { GONE } from './files/fileState.ts';
import { fileChanged } from './notify/wording/fileChange.ts';
import { type SeenState } from './ports/fileViews.ts';
import { type Sample } from './ports/producers.ts';
import { type Snapshots } from './ports/storage.ts';

/** The file around the edit, as far as the agent's tool names it; `after` is absent if nothing was changed since. */
export interface OwnEdit {
  readonly before?: string;
  readonly after?: string;
}

interface SeparatedEdit {
  /** The bytes that the agent knows from now on. */
  readonly hash: string;
  /** What others changed between the last view and the edit. */
  readonly earlier?: Sample;
  /** What others changed since the edit. */
  readonly later?: Sample;
}

interface EditedFile {
  /** What the agent knew of the file before. */
  readonly known: SeenState | undefined;
  readonly edit: OwnEdit;
  readonly view: { readonly hash: string };
  /** The file's present bytes. */
  readonly bytes: Uint8Array;
}

export async function separateOwnEdit(
  snapshots: Snapshots,
  path: string,
  { known, edit, view, bytes }: EditedFile,
): Promise<SeparatedEdit> {
  const encoder = new TextEncoder();
  const [before, after] = [edit.before, edit.after].map((text) =>
    text === undefined ? undefined : encoder.encode(text),
  );
  const changed = (from: Uint8Array | undefined, to: Uint8Array, hash: string): Sample => {
    const draft = fileChanged(path, from, { bytes: to, hash }, { type: 'outside' });
    return { kind: draft.kind, subject: draft.subject ?? '', draft };
  };
  const found: { earlier?: Sample; later?: Sample } = {};
  if (before !== undefined && known !== undefined && known.hash !== GONE) {
    const hash = snapshots.hash(before);
    if (hash !== known.hash && hash !== known.announced) {
      await snapshots.put(before);
      found.earlier = changed(await snapshots.get(known.hash), before, hash);
    }
  }
  if (after === undefined) return { ...found, hash: view.hash };
  const present = snapshots.hash(bytes);
  const own = await snapshots.put(after);
  if (own === present) return { ...found, hash: own };
  await snapshots.put(bytes);
  return { ...found, hash: own, later: changed(after, bytes, present) };
}

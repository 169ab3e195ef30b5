// Checks right before and after a change on disk that the path still leads to the place it was approved for.
import type * as vscode from 'vscode';
import { type Failure, failed, type Result, succeeded } from '../../base/errors.ts';
import { type FileEdit, type FilePath } from '../../core/ports/workspace.ts';
import { MOVED, type PinnedPlace, pinPlace } from '../../node/files/pinnedPlace.ts';
import { onDiskOf, toUri } from './fileUris.ts';

export interface PlaceGuard {
  /** The file, and the target of a move, on the local disk; empty for a virtual file system. */
  readonly places: readonly PinnedPlace[];
  /**
   * Fails without a change if the path leads elsewhere now. Also fails if it leads elsewhere after the change, or if
   * `isDone` does not find the change in its place: the path may have led elsewhere only meanwhile.
   */
  around<T>(change: () => PromiseLike<T>, isDone?: (changed: T) => Promise<boolean>): Promise<Result<T>>;
}

/** Fails, with nothing changed, if a path no longer leads to the place it was approved for. */
export async function guardPlaces(
  edit: FileEdit,
  folders: readonly vscode.WorkspaceFolder[],
): Promise<Result<PlaceGuard>> {
  const itself = edit.type !== 'write';
  const pinned: PinnedPlace[] = [];
  for (const file of edit.type === 'move' ? [edit.file, edit.to] : [edit.file]) {
    const place = await pinOnDisk(file, folders, itself);
    if (place?.ok === false) return place;
    if (place !== undefined) pinned.push(place.value);
  }
  return succeeded({ places: pinned, around: (change, isDone) => changeAt(edit.file, pinned, change, isDone) });
}

/** Undefined for a virtual file system: it has no links. */
export async function pinOnDisk(
  file: FilePath,
  folders: readonly vscode.WorkspaceFolder[],
  itself: boolean,
): Promise<Result<PinnedPlace> | undefined> {
  return toUri(file).scheme === 'file' ? pinPlace(onDiskOf(folders), file, { itself }) : undefined;
}

async function changeAt<T>(
  { path }: FilePath,
  pinned: readonly PinnedPlace[],
  change: () => PromiseLike<T>,
  isDone: (changed: T) => Promise<boolean> = async () => true,
): Promise<Result<T>> {
  const before = await whyMoved(pinned);
  if (before !== undefined) return { ok: false, failure: before };
  const changed = await change();
  const isThere = pinned.length === 0 || (await isDone(changed));
  if (isThere && (await whyMoved(pinned)) === undefined) return succeeded(changed);
  return failed(
    MOVED,
    `A folder above ${path} was replaced by a link while ${path} was changed: the change may have gone to its target.`,
    'Check the target before you continue.',
  );
}

async function whyMoved(pinned: readonly PinnedPlace[]): Promise<Failure | undefined> {
  for (const place of pinned) {
    const failure = await place.whyMoved();
    if (failure !== undefined) return failure;
  }
  return undefined;
}

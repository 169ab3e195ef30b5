// The workspace disk for a folder without an editor: reads, lists and changes files directly.
import { type Dirent } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { ignore, Sequence } from '../base/async.ts';
import { decodeBytes, encodeText } from '../base/encodings.ts';
import { describeError, type Failure, failed, type Result, succeeded } from '../base/errors.ts';
import { shortList } from '../base/text.ts';
import {
  type AppliedEdit,
  EXISTS,
  type FileEdit,
  type FilePath,
  type FolderEntry,
  STALE,
  type WorkspaceDisk,
} from '../core/ports/workspace.ts';
import { deletePinned, haveSameBytes, modeBefore, movePinned, writePinned } from '../node/files/pinnedChanges.ts';
import { type PinnedPlace, pinPlace } from '../node/files/pinnedPlace.ts';
import { locate, readJudged } from '../node/files/readInside.ts';
import { resolveInside } from '../node/files/resolvePath.ts';

const LONGEST = 50 * 1024 * 1024;

export function createFolderDisk(folder: string): WorkspaceDisk {
  const folders = [{ path: '', absolute: folder }];
  /** Edits of several calls are applied one after the other. */
  const changes = new Sequence();
  const apply = async (edits: readonly FileEdit[]): Promise<Result<readonly AppliedEdit[]>> => {
    try {
      const pinned = await pinAll(folders, edits);
      if (!pinned.ok) return pinned;
      const problem = await whyNot(edits);
      if (problem !== undefined) return problem;
      const applied: AppliedEdit[] = [];
      for (const edit of edits) {
        const changed = await applyOne(edit, pinned.value.get(edit) ?? []);
        if (!changed.ok) return namingChanged(changed, applied);
        applied.push(...changed.value);
      }
      return succeeded(applied);
    } catch (error) {
      return failed('unwritable', `A file could not be changed: ${describeError(error)}.`);
    }
  };
  return {
    folders,
    trusted: true,
    resolve: (path, options) => resolveInside(folders, path, options),
    readJudged: (file, judge, { atMost = LONGEST, part } = {}) => readJudged(folders, file, { judge, atMost, part }),
    unsaved: () => [],
    locate: (file) => locate(folders, file),
    listUnjudged: async (target) => {
      const entries = await readdir(target.absolute, { withFileTypes: true }).catch(ignore);
      if (entries === undefined) return failed('not_found', `${target.path} does not exist.`);
      return succeeded(entries.map((entry) => ({ name: entry.name, kind: kindOf(entry) })));
    },
    decode: async (_file, bytes) => decodeBytes(bytes)?.text,
    encode: async (_file, text, like) =>
      encodeText(text, (like === undefined ? undefined : decodeBytes(like)?.encoding) ?? 'utf8'),
    apply: (edits) => changes.run(() => apply(edits)),
  };
}

/** Fails if a path no longer leads to the place that was checked. */
async function pinAll(
  folders: readonly FilePath[],
  edits: readonly FileEdit[],
): Promise<Result<ReadonlyMap<FileEdit, readonly PinnedPlace[]>>> {
  const all = new Map<FileEdit, PinnedPlace[]>();
  for (const edit of edits) {
    const places: PinnedPlace[] = [];
    for (const file of edit.type === 'move' ? [edit.file, edit.to] : [edit.file]) {
      const pinned = await pinPlace(folders, file, { itself: edit.type !== 'write' });
      if (!pinned.ok) return pinned;
      places.push(pinned.value);
    }
    all.set(edit, places);
  }
  return succeeded(all);
}

/** The failure if an edit cannot be applied. Checks all edits before anything is changed. */
async function whyNot(edits: readonly FileEdit[]) {
  const planned = new Map<string, Uint8Array | undefined>();
  for (const edit of edits) {
    const { absolute, path } = edit.file;
    const present = planned.has(absolute) ? planned.get(absolute) : await readOrNothing(edit.file);
    if (!haveSameBytes(present, edit.from)) return failed(STALE, `${path} is no longer as it was.`);
    if (edit.type === 'move' && (await readOrNothing(edit.to)) !== undefined) {
      return failed(EXISTS, `${edit.to.path} exists already.`);
    }
    planned.set(absolute, edit.type === 'write' ? edit.to : undefined);
  }
  return undefined;
}

async function applyOne(edit: FileEdit, [place, target]: readonly PinnedPlace[]): Promise<Result<AppliedEdit[]>> {
  const { file } = edit;
  const unsaved = false;
  const before = edit.from === undefined ? {} : { before: edit.from };
  if (place === undefined) return succeeded([]);
  switch (edit.type) {
    case 'write': {
      const written = await writePinned(place, edit.from, edit.to);
      return written.ok ? succeeded([{ file, ...before, after: edit.to, unsaved }]) : written;
    }
    case 'move': {
      const mode = await modeBefore(place);
      const moved = await movePinned(place, target ?? place);
      if (!moved.ok) return moved;
      return succeeded([
        { file, ...before, ...mode, unsaved },
        { file: edit.to, after: edit.from, unsaved },
      ]);
    }
    case 'delete': {
      const mode = await modeBefore(place);
      const deleted = await deletePinned(place, edit.from);
      return deleted.ok ? succeeded([{ file, ...before, ...mode, unsaved }]) : deleted;
    }
  }
}

/** What was changed before the failure stays, and is named. */
function namingChanged({ failure }: { failure: Failure }, applied: readonly AppliedEdit[]): Result<never> {
  if (applied.length === 0) return { ok: false, failure };
  const names = shortList([...new Set(applied.map(({ file }) => file.path))]);
  return failed(failure.code, `${failure.message} Changed before: ${names}.`, failure.nextStep);
}

function kindOf(entry: Dirent): FolderEntry['kind'] {
  if (entry.isSymbolicLink()) return 'link';
  if (entry.isDirectory()) return 'folder';
  return entry.isFile() ? 'file' : 'other';
}

/** Undefined: there is no file. Rejects if there is one that cannot be read: its path must not count as free. */
async function readOrNothing(file: FilePath): Promise<Uint8Array | undefined> {
  try {
    return await readFile(file.absolute);
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR'))
      return undefined;
    throw error;
  }
}

// Compares two captured states of a folder: contents by git, permissions by the list that each state has.
import { setImmediate } from 'node:timers/promises';
import { splitNames } from '../../node/files/rawNames.ts';
import { GitExit } from '../../node/runGit.ts';
import { type FolderDifference } from './checkpointFolder.ts';
import { type Blob, blobOf } from './checkpointListing.ts';
import { CheckpointModes, MODES_NAME } from './checkpointModes.ts';
import { type CheckpointStore } from './checkpointStore.ts';

/** Files processed before yielding to the event loop. */
const SLICE = 1000;

export async function compareTrees(
  store: CheckpointStore,
  from: string,
  to: string,
  signal: AbortSignal,
): Promise<readonly FolderDifference[]> {
  const [said, modesBefore, modesAfter] = await Promise.all([
    store.git(['diff-tree', '-r', '-z', '--no-renames', '--raw', from, to], signal),
    readModes(store, `${from}:${MODES_NAME}`, signal),
    readModes(store, `${to}:${MODES_NAME}`, signal),
  ]);
  const parts = splitNames(said);
  const raw = new Map<string, { before?: Blob; after?: Blob }>();
  for (let at = 0; at + 1 < parts.length; at += 2) {
    if (at % SLICE === 0) await setImmediate();
    const [oldMode = '', newMode = '', old = '', now = ''] = (parts[at] ?? '').slice(1).split(' ');
    const path = parts[at + 1] ?? '';
    const [before, after] = [blobOf(oldMode, old), blobOf(newMode, now)];
    if (path === MODES_NAME || (before === undefined && after === undefined)) continue;
    raw.set(path, { ...(before && { before }), ...(after && { after }) });
  }
  if (modesBefore !== undefined && modesAfter !== undefined) {
    const files = modesBefore.differing(modesAfter).filter(({ path }) => !raw.has(path) && !path.includes('\n'));
    const found = await store.find(
      files.map(({ path }) => `${from}:${path}`),
      signal,
    );
    for (const { path, kind } of files) {
      const oid = found.get(`${from}:${path}`)?.oid;
      const blob = oid === undefined ? undefined : { oid, ...(kind === 'executable' && { kind }) };
      if (blob !== undefined) raw.set(path, { before: blob, after: blob });
    }
  }
  const oids = [...raw.values()].flatMap((one) => [one.before, one.after].flatMap((blob) => blob?.oid ?? []));
  const sizes = await store.find(oids, signal);
  const bytes = (path: string, { oid, kind }: Blob, modes: CheckpointModes | undefined) => {
    const mode = kind === 'link' ? undefined : modes?.of(path, kind ?? 'plain');
    return {
      key: store.key(oid),
      size: sizes.get(oid)?.size ?? 0,
      ...(kind && { kind }),
      ...(mode !== undefined && { mode }),
    };
  };
  const found: FolderDifference[] = [];
  for (const [path, { before, after }] of raw) {
    if (found.length % SLICE === 0) await setImmediate();
    found.push({
      path,
      ...(before !== undefined && { before: bytes(path, before, modesBefore) }),
      ...(after !== undefined && { after: bytes(path, after, modesAfter) }),
    });
  }
  return found;
}

/** Undefined if the state has no such list. */
export async function readModes(
  store: CheckpointStore,
  object: string,
  signal: AbortSignal,
  index = store.index,
): Promise<CheckpointModes | undefined> {
  const bytes = await store.git(['cat-file', 'blob', object], signal, { index }).catch((error: unknown) => {
    if (error instanceof GitExit) return undefined;
    throw error;
  });
  return CheckpointModes.parse(bytes);
}

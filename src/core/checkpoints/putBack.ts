// Plans and performs the undo of changes to files: through the editor, all or none, and on disk for what the editor
// cannot do.
import { type Failure, failed, type Result, succeeded } from '../../base/errors.ts';
import { defined } from '../../base/json/defined.ts';
import { type EntryKind } from '../../protocol/event.ts';
import { type LiveConversation } from '../conversation/liveConversation.ts';
import { openElsewhere } from '../conversation/opening.ts';
import { type Step } from '../conversation/projections/changes.ts';
import { type Snapshots } from '../ports/storage.ts';
import {
  type Buffers,
  type DiskEntries,
  type DiskEntry,
  type FileEdit,
  type FilePath,
  type Workspace,
} from '../ports/workspace.ts';
import { sameBytes } from '../../base/encodings.ts';
import { type StepBytes, undoSteps } from './undoSteps.ts';

/** The permission bits that allow writing. */
const WRITABLE = 0o222;

export interface PutBackDeps {
  readonly workspace: Workspace;
  readonly buffers?: Buffers | undefined;
  readonly snapshots: Snapshots;
  /** Absent: links, names that are not valid text and permissions are not restored. */
  readonly entries?: DiskEntries | undefined;
}

type Outcome =
  /** The file gets its earlier bytes. */
  | 'restored'
  /** The agent's changes are removed; later changes of others stay. */
  | 'merged'
  /** There was no such file before, so it is deleted. */
  | 'deleted'
  /** A deleted file is created again. */
  | 'created'
  /** Nothing to do: the file already has its earlier bytes, or is already gone. */
  | 'same'
  /** Others have changed the same lines since, so the file is left unchanged. */
  | 'clash'
  /** It cannot be undone: the earlier bytes are gone, or the file is in a place where nothing may be changed. */
  | 'impossible';

/** The planned change of one file. */
export interface PutBack {
  readonly path: string;
  readonly outcome: Outcome;
  readonly file?: FilePath;
  readonly present?: Uint8Array;
  /** Absent: there will be no such file. */
  readonly target?: Uint8Array;
  /** The kind of entry that the bytes belong to, unless it is a plain file. */
  readonly presentKind?: EntryKind;
  readonly targetKind?: EntryKind;
  /** Permission bits, if they are known; absent in the target: they stay as they are. */
  readonly presentMode?: number;
  readonly targetMode?: number;
  /** A folder is in the place of the file; it is removed if it has no files. */
  readonly folder?: true;
  /** The editor has unsaved changes of the file, which stay; only the file on disk is restored. */
  readonly beneath?: true;
  /** For a clash: the file without the agent's lines, for display; absent if they cannot be told apart. */
  readonly without?: Uint8Array;
  /** Why it is impossible. */
  readonly reason?: string;
}

/** `steps` of one file, in the order in which they happened. */
export async function planPutBack(deps: PutBackDeps, path: string, steps: readonly Step[]): Promise<PutBack> {
  const bytes = await bytesOfSteps(deps.snapshots, steps);
  const isLink = steps.some((step) => step.beforeKind === 'link' || step.afterKind === 'link');
  const last = steps.at(-1);
  const gone = last !== undefined && last.after === undefined;
  const captured = gone && last.found === true;
  const here = await presentOf(deps, path, { asEntry: isLink, gone, captured, last: bytes?.at(-1)?.after });
  if (!here.ok) return { path, outcome: 'impossible', reason: here.failure.message };
  if (bytes === undefined) return { path, outcome: 'impossible', reason: 'Its earlier content is no longer stored.' };
  const { present, unsaved, kind, mode } = here.value;
  const seen = seenOf(path, here.value);
  const undone = undoSteps(present && { bytes: present, isLink: kind === 'link', mode }, bytes);
  if (undone.type === 'clash') return { ...seen, outcome: 'clash', ...defined({ without: undone.bytes }) };
  const target = undone.bytes;
  // A file with unsaved changes cannot be deleted.
  if (target === undefined && unsaved) return { ...seen, outcome: 'clash' };
  const executable = undone.executable ?? (kind === 'executable' && target !== undefined);
  const targetKind: EntryKind | undefined = undone.isLink ? 'link' : executable ? 'executable' : undefined;
  return planned(seen, { target, kind: targetKind, mode: undone.mode }, undone.merged);
}

/** The entry that a file gets, whatever is there now. */
interface TargetEntry {
  /** Undefined: a file that is executable if the present one is. */
  readonly kind?: EntryKind | 'plain' | undefined;
  /** Undefined: its permissions stay. */
  readonly mode?: number | undefined;
  /** The path was found in a checkpoint, so it does not lead through a link. */
  readonly captured?: boolean;
}

/** Plans to replace the present bytes by `target`, whatever they are, because the user chose so. */
export async function planReplace(
  deps: PutBackDeps,
  { path }: { readonly path: string },
  target: Uint8Array | undefined,
  { kind: wanted, mode, captured = false }: TargetEntry = {},
): Promise<PutBack> {
  const here = await presentOf(deps, path, { asEntry: wanted === 'link', gone: false, captured, last: undefined });
  if (!here.ok) return { path, outcome: 'impossible', reason: here.failure.message };
  const kept = here.value.kind === 'executable' && target !== undefined ? here.value.kind : undefined;
  const targetKind = wanted === undefined ? kept : wanted === 'plain' ? undefined : wanted;
  const seen = seenOf(path, here.value);
  if (target === undefined && here.value.unsaved) return { ...seen, outcome: 'clash' };
  return planned(seen, { target, kind: targetKind, mode }, false);
}

/** The plan for an entry that gets these bytes, kind and permissions. */
function planned(
  seen: Omit<PutBack, 'outcome'>,
  to: {
    readonly target: Uint8Array | undefined;
    readonly kind: EntryKind | undefined;
    readonly mode: number | undefined;
  },
  merged: boolean,
): PutBack {
  const { target, kind, mode } = to;
  const hasMode = mode !== undefined && target !== undefined && kind !== 'link';
  const put = {
    ...seen,
    ...defined({ target, targetKind: kind }),
    ...(hasMode && { targetMode: mode }),
  };
  const outcome = putBackOutcome(put, merged);
  // The editor does not write a read-only file. If that was part of the undone change, it is replaced on disk.
  const isLocked = seen.presentMode !== undefined && (seen.presentMode & WRITABLE) === 0 && changesKind(put);
  if (!isLocked || seen.beneath === true) return { ...put, outcome };
  const { file: _file, ...onDisk } = put;
  return { ...onDisk, outcome };
}

/** Whether something besides the bytes is changed: what kind of entry it is, or its permissions. */
export function changesKind({ presentKind, targetKind, presentMode, targetMode }: Omit<PutBack, 'outcome'>): boolean {
  return presentKind !== targetKind || (targetMode !== undefined && targetMode !== presentMode);
}

function putBackOutcome(put: Omit<PutBack, 'outcome'>, merged: boolean): Outcome {
  const { present, target } = put;
  if (sameBytes(present, target) && (present === undefined || !changesKind(put))) return 'same';
  if (target === undefined) return 'deleted';
  if (present === undefined) return 'created';
  return merged ? 'merged' : 'restored';
}

/** The present state of a path. Without `file`, it can be reached only on disk. */
interface Here {
  readonly file?: FilePath;
  readonly present?: Uint8Array;
  readonly kind?: EntryKind;
  readonly mode?: number | undefined;
  readonly beneath?: true;
  readonly folder?: true;
  readonly unsaved: boolean;
}

function seenOf(path: string, { file, present, kind, mode, beneath, folder }: Here): Omit<PutBack, 'outcome'> {
  return {
    path,
    ...defined({ file, present }),
    ...(present && kind && { presentKind: kind }),
    ...(present && mode !== undefined && { presentMode: mode }),
    ...defined({ folder, beneath }),
  };
}

async function bytesOfSteps(snapshots: Snapshots, steps: readonly Step[]): Promise<readonly StepBytes[] | undefined> {
  const found: StepBytes[] = [];
  for (const step of steps) {
    const before = step.before === undefined ? undefined : await snapshots.get(step.before);
    const after = step.after === undefined ? undefined : await snapshots.get(step.after);
    const lacks = (before === undefined) !== (step.before === undefined);
    if (lacks || (after === undefined) !== (step.after === undefined)) return undefined;
    const { beforeKind, afterKind, beforeMode, afterMode } = step;
    found.push({ before, after, beforeKind, afterKind, beforeMode, afterMode });
  }
  return found;
}

interface Looked {
  /** There is or will be a link, which the editor would follow. */
  readonly asEntry: boolean;
  /** The agent left nothing at the path. */
  readonly gone: boolean;
  /** The path was found in a checkpoint, so it does not lead through a link. */
  readonly captured: boolean;
  /**
   * The bytes that the agent left. If the disk has them below a changed buffer, the agent's change never reached the
   * buffer.
   */
  readonly last: Uint8Array | undefined;
}

async function presentOf(
  { workspace, buffers, entries }: PutBackDeps,
  path: string,
  { asEntry, gone, captured, last }: Looked,
): Promise<Result<Here>> {
  const { kind, mode, behind = false } = (await entries?.infoOf(path)) ?? {};
  if (kind === 'folder') return succeeded({ unsaved: false, folder: true });
  // What a link in the place of its folder leads to is another file.
  if (behind && (captured || kind === 'nothing')) return succeeded({ unsaved: false });
  if (entries !== undefined && (asEntry || kind === 'link' || entries.isOdd(path))) {
    const entry = await entries.look(path);
    if (!entry.ok) return entry;
    if (entry.value === 'other') return failed('other', `${path} is no longer a file, or is behind a link.`);
    const { value } = entry;
    if (value === undefined) return succeeded({ unsaved: false });
    const { bytes: present } = value;
    return succeeded({
      present,
      unsaved: false,
      mode: value.mode,
      ...(value.kind !== 'plain' && { kind: value.kind }),
    });
  }
  const file = await workspace.resolve(path);
  if (!file.ok) return file;
  const here = { file: file.value, mode, ...(kind === 'executable' && { kind: 'executable' as const }) };
  const content = await workspace.readLocally(file.value);
  if (!content.ok) return content.failure.code === 'not_found' ? succeeded({ ...here, unsaved: false }) : content;
  const { bytes, unsaved } = content.value;
  if (behind && gone) return succeeded({ unsaved: false });
  if (unsaved && buffers !== undefined && !sameBytes(bytes, last)) {
    const onDisk = await buffers.readBeneath(file.value);
    if (sameBytes(onDisk, last))
      return succeeded({ ...here, unsaved: false, beneath: true, ...defined({ present: onDisk }) });
  }
  return succeeded({ ...here, present: bytes, unsaved });
}

/** A file that was not changed as planned, and why. */
export interface Unchanged {
  readonly path: string;
  readonly reason: string;
  /** Its bytes were changed; only its permissions were not. */
  readonly bytesChanged?: true;
}

/**
 * Performs the plan; the edits made through the editor are all or none. Fails, with nothing changed, if a file that the
 * editor changes is another one than planned. What the disk refuses afterwards is returned, since the editor's edits
 * stay; if nothing else was changed, it is the failure.
 */
export async function putBack(deps: PutBackDeps, plan: readonly PutBack[]): Promise<Result<readonly Unchanged[]>> {
  const edits: FileEdit[] = [];
  // A folder may have been replaced by a file, or the other way round: what is in the way is removed first.
  const ordered = plan.toSorted((one, other) => Number(one.target !== undefined) - Number(other.target !== undefined));
  for (const put of ordered) {
    const { file, present, target } = put;
    if (file === undefined || !isEdited(put)) continue;
    if (target !== undefined) edits.push({ type: 'write', file, to: target, ...defined({ from: present }) });
    else if (present !== undefined) edits.push({ type: 'delete', file, from: present });
  }
  const applied = edits.length === 0 ? succeeded(undefined) : await deps.workspace.apply(edits, { exact: true });
  if (!applied.ok) return applied;
  const failures: Failure[] = [];
  const unchanged: Unchanged[] = [];
  for (const put of ordered) {
    const written = put.beneath === true ? await writeBeneath(deps, put) : await replaceEntry(deps, put);
    if (written.ok) continue;
    failures.push(written.failure);
    unchanged.push({
      path: put.path,
      reason: written.failure.message,
      ...(isEdited(put) && { bytesChanged: true as const }),
    });
  }
  const [failure] = failures;
  const isAll = unchanged.filter(({ bytesChanged }) => bytesChanged !== true).length === plan.length;
  return failure !== undefined && isAll ? { ok: false, failure } : succeeded(unchanged);
}

/** Whether the editor changes its bytes. */
function isEdited({ file, beneath, present, target }: PutBack): boolean {
  return file !== undefined && beneath !== true && !sameBytes(present, target);
}

async function writeBeneath({ buffers }: PutBackDeps, { file, present, target }: PutBack): Promise<Result<void>> {
  if (file === undefined || buffers === undefined) return succeeded(undefined);
  return buffers.writeBeneath(file, present, target);
}

/** Handles what the editor cannot do: links, names that are not valid text, permissions, and what replaces a folder. */
async function replaceEntry({ entries }: PutBackDeps, put: PutBack): Promise<Result<void>> {
  const { path, file, present, target, presentKind, targetKind, targetMode: mode } = put;
  if (entries === undefined) return succeeded(undefined);
  const to: DiskEntry | undefined = target && {
    bytes: target,
    kind: targetKind ?? 'plain',
    ...defined({ mode }),
  };
  // The editor has already written the bytes.
  if (file !== undefined) {
    const isSettled = to === undefined || !changesKind(put);
    return isSettled ? succeeded(undefined) : entries.replace(path, to, to);
  }
  const from: DiskEntry | undefined = present && { bytes: present, kind: presentKind ?? 'plain' };
  return entries.replace(path, put.folder === true ? 'folder' : from, to);
}

export function changesSomething({ outcome }: PutBack): boolean {
  return outcome === 'restored' || outcome === 'merged' || outcome === 'deleted' || outcome === 'created';
}

/** The conversation, if its changes can be undone now. Checked before any file is touched. */
export function decidable(live: LiveConversation | undefined): Result<LiveConversation> {
  if (live === undefined) return failed('not_open', 'This conversation is not open.', 'Open it first.');
  if (!live.owned) return openElsewhere(live.owner);
  if (live.running) return failed('running', 'The agent is still working.', 'Wait for it to end, or stop it.');
  return succeeded(live);
}

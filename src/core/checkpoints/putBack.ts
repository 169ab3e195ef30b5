// Plans and performs undoing changes to files as they are now: in the editor all or nothing, and on disk what the editor cannot do.
import { failed, type Result, succeeded } from '../../base/errors.ts';
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
import { sameBytes } from './byteLines.ts';
import { type StepBytes, undoSteps } from './undoSteps.ts';

export interface PutBackDeps {
  readonly workspace: Workspace;
  readonly buffers?: Buffers | undefined;
  readonly snapshots: Snapshots;
  /** Absent: links, names that are no text and what can be executed are left alone. */
  readonly entries?: DiskEntries | undefined;
}

type Outcome =
  /** It gets the bytes it had. */
  | 'restored'
  /** The agent's changes go, what others did since stays. */
  | 'merged'
  /** There was no such file. */
  | 'deleted'
  /** It is made again. */
  | 'created'
  /** It has the bytes it had, or there is again no such file. */
  | 'same'
  /** Others changed the same lines since: it stays as it is. */
  | 'clash'
  /** It has no undoing here: what is needed for it is gone, or it lies where nothing may be changed. */
  | 'impossible';

/** What becomes of one file. */
export interface PutBack {
  readonly path: string;
  readonly outcome: Outcome;
  readonly file?: FilePath;
  readonly present?: Uint8Array;
  /** Absent: there will be no such file. */
  readonly target?: Uint8Array;
  /** What the bytes are of, where that is no plain file. */
  readonly presentKind?: EntryKind;
  readonly targetKind?: EntryKind;
  /** The editor has unsaved changes of it that stay as they are; only what is on disk is put back. */
  readonly beneath?: true;
  /** Why it is impossible. */
  readonly reason?: string;
}

/** `steps` of one file, in the order in which they happened. */
export async function planPutBack(deps: PutBackDeps, path: string, steps: readonly Step[]): Promise<PutBack> {
  const bytes = await bytesOfSteps(deps.snapshots, steps);
  const isLink = steps.some((step) => step.beforeKind === 'link' || step.afterKind === 'link');
  const here = await presentOf(deps, path, isLink, bytes?.at(-1)?.after);
  if (!here.ok) return { path, outcome: 'impossible', reason: here.failure.message };
  if (bytes === undefined) return { path, outcome: 'impossible', reason: 'Its earlier bytes are no longer kept.' };
  const { present, unsaved, kind } = here.value;
  const seen = seenOf(path, here.value);
  const undone = undoSteps(present && { bytes: present, isLink: kind === 'link' }, bytes);
  if (undone.type === 'clash') return { ...seen, outcome: 'clash' };
  const target = undone.bytes;
  // A file cannot be deleted away from under what is typed and not saved.
  if (target === undefined && unsaved) return { ...seen, outcome: 'clash' };
  const executable = undone.executable ?? (kind === 'executable' && target !== undefined);
  const targetKind: EntryKind | undefined = undone.isLink ? 'link' : executable ? 'executable' : undefined;
  const put = { ...seen, ...(target && { target }), ...(targetKind && { targetKind }) };
  return { ...put, outcome: outcomeOf(put, undone.merged) };
}

/**
 * To other bytes, without asking what they came from: because somebody chose so. `wanted`: what they are of; undefined: a
 * file that can be executed if the present one can.
 */
export async function planReplace(
  deps: PutBackDeps,
  { path }: { readonly path: string },
  target: Uint8Array | undefined,
  wanted?: EntryKind | 'plain',
): Promise<PutBack> {
  const here = await presentOf(deps, path, wanted === 'link', undefined);
  if (!here.ok) return { path, outcome: 'impossible', reason: here.failure.message };
  const kept = here.value.kind === 'executable' && target !== undefined ? here.value.kind : undefined;
  const targetKind = wanted === undefined ? kept : wanted === 'plain' ? undefined : wanted;
  const put = { ...seenOf(path, here.value), ...(target && { target }), ...(targetKind && { targetKind }) };
  return { ...put, outcome: target === undefined && here.value.unsaved ? 'clash' : outcomeOf(put, false) };
}

function outcomeOf({ present, target, presentKind, targetKind }: Omit<PutBack, 'outcome'>, merged: boolean): Outcome {
  if (sameBytes(present, target) && presentKind === targetKind) return 'same';
  if (target === undefined) return 'deleted';
  if (present === undefined) return 'created';
  return merged ? 'merged' : 'restored';
}

/** What is there now. Without `file` only the disk can say what it is. */
interface Here {
  readonly file?: FilePath;
  readonly present?: Uint8Array;
  readonly kind?: EntryKind;
  readonly beneath?: true;
  readonly unsaved: boolean;
}

function seenOf(path: string, { file, present, kind, beneath }: Here): Omit<PutBack, 'outcome'> {
  return {
    path,
    ...(file && { file }),
    ...(present && { present }),
    ...(present && kind && { presentKind: kind }),
    ...(beneath && { beneath }),
  };
}

async function bytesOfSteps(snapshots: Snapshots, steps: readonly Step[]): Promise<readonly StepBytes[] | undefined> {
  const found: StepBytes[] = [];
  for (const step of steps) {
    const before = step.before === undefined ? undefined : await snapshots.get(step.before);
    const after = step.after === undefined ? undefined : await snapshots.get(step.after);
    const lacks = (before === undefined) !== (step.before === undefined);
    if (lacks || (after === undefined) !== (step.after === undefined)) return undefined;
    found.push({ before, after, beforeKind: step.beforeKind, afterKind: step.afterKind });
  }
  return found;
}

/**
 * `last` is what the agent left: if that is on disk below a changed buffer, the change never reached the buffer. `asEntry`:
 * a link is there, or is to be: the editor would follow it.
 */
async function presentOf(
  { workspace, buffers, entries }: PutBackDeps,
  path: string,
  asEntry: boolean,
  last: Uint8Array | undefined,
): Promise<Result<Here>> {
  const kind = await entries?.kindOf(path);
  if (entries !== undefined && (asEntry || kind === 'link' || entries.isOdd(path))) {
    const entry = await entries.look(path);
    if (!entry.ok) return entry;
    if (entry.value === 'other') return failed('other', `${path} is no file any more, or lies behind a link.`);
    const { value } = entry;
    if (value === undefined) return succeeded({ unsaved: false });
    return succeeded({ present: value.bytes, unsaved: false, ...(value.kind !== 'plain' && { kind: value.kind }) });
  }
  const file = await workspace.resolve(path);
  if (!file.ok) return file;
  const here = { file: file.value, ...(kind === 'executable' && { kind }) };
  const content = await workspace.readLocally(file.value);
  if (!content.ok) return content.failure.code === 'not_found' ? succeeded({ ...here, unsaved: false }) : content;
  const { bytes, unsaved } = content.value;
  if (unsaved && buffers !== undefined && !sameBytes(bytes, last)) {
    const onDisk = await buffers.readBeneath(file.value);
    if (sameBytes(onDisk, last))
      return succeeded({ ...here, unsaved: false, beneath: true, ...(onDisk && { present: onDisk }) });
  }
  return succeeded({ ...here, present: bytes, unsaved });
}

/** Only what `plan` says; fails, with nothing changed, if a file moved on since it was planned. */
export async function putBack(deps: PutBackDeps, plan: readonly PutBack[]): Promise<Result<void>> {
  const edits: FileEdit[] = [];
  for (const put of plan) {
    const { file, present, target } = put;
    if (file === undefined || put.beneath === true || sameBytes(present, target)) continue;
    if (target !== undefined) edits.push({ type: 'write', file, to: target, ...(present && { from: present }) });
    else if (present !== undefined) edits.push({ type: 'delete', file, from: present });
  }
  const applied = edits.length === 0 ? succeeded(undefined) : await deps.workspace.apply(edits, { exact: true });
  if (!applied.ok) return applied;
  for (const { file, present, target, beneath } of plan) {
    if (file === undefined || beneath !== true) continue;
    const written = await deps.buffers?.writeBeneath(file, present, target);
    if (written?.ok === false) return written;
  }
  for (const put of plan) {
    const replaced = await replaceEntry(deps, put);
    if (!replaced.ok) return replaced;
  }
  return succeeded(undefined);
}

/** What the editor did not do: links, names that are no text, and whether a file can be executed. */
async function replaceEntry({ entries }: PutBackDeps, put: PutBack): Promise<Result<void>> {
  const { path, file, present, target, presentKind, targetKind } = put;
  if (entries === undefined) return succeeded(undefined);
  const to: DiskEntry | undefined = target && { bytes: target, kind: targetKind ?? 'plain' };
  // The editor has put the bytes there.
  if (file !== undefined) {
    const isSettled = to === undefined || put.beneath === true || presentKind === targetKind;
    return isSettled ? succeeded(undefined) : entries.replace(path, to, to);
  }
  const from: DiskEntry | undefined = present && { bytes: present, kind: presentKind ?? 'plain' };
  return entries.replace(path, from, to);
}

export function changesSomething({ outcome }: PutBack): boolean {
  return outcome === 'restored' || outcome === 'merged' || outcome === 'deleted' || outcome === 'created';
}

/** The conversation, if something of it can be undone now: known before any file is touched. */
export function decidable(live: LiveConversation | undefined): Result<LiveConversation> {
  if (live === undefined) return failed('not_open', 'This conversation is not open.', 'Open it first.');
  if (!live.owned) return openElsewhere(live.owner);
  if (live.running) return failed('running', 'The agent is still working.', 'Wait for it to end, or stop it.');
  return succeeded(live);
}

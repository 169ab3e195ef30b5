// Decides what undoing changes would do to each file as it is now, and does it: in the editor, all or nothing.
import { failed, type Result, succeeded } from '../../base/errors.ts';
import { type Step } from '../conversation/changes.ts';
import { openElsewhere } from '../conversation/opening.ts';
import { type LiveConversation } from '../live.ts';
import { type Snapshots } from '../storagePorts.ts';
import { type Buffers, type FileEdit, type FilePath, type Workspace } from '../workspacePorts.ts';
import { sameBytes } from './byteLines.ts';
import { type StepBytes, undoSteps } from './undoSteps.ts';

export interface PutBackDeps {
  readonly workspace: Workspace;
  readonly buffers?: Buffers | undefined;
  readonly snapshots: Snapshots;
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
  /** The editor has unsaved changes of it that stay as they are; only what is on disk is put back. */
  readonly beneath?: true;
  /** Why it is impossible. */
  readonly reason?: string;
}

/** `steps` of one file, in the order in which they happened. */
export async function planPutBack(deps: PutBackDeps, path: string, steps: readonly Step[]): Promise<PutBack> {
  const file = await deps.workspace.resolve(path);
  if (!file.ok) return { path, outcome: 'impossible', reason: file.failure.message };
  const bytes = await bytesOfSteps(deps.snapshots, steps);
  if (bytes === undefined) return { path, outcome: 'impossible', reason: 'Its earlier bytes are no longer kept.' };
  const here = await presentOf(deps, file.value, bytes.at(-1)?.after);
  if (!here.ok) return { path, outcome: 'impossible', reason: here.failure.message };
  const { present, beneath, unsaved } = here.value;
  const seen = { path, file: file.value, ...(present && { present }), ...(beneath && { beneath }) };
  const undone = undoSteps(present, bytes);
  if (undone.type === 'clash') return { ...seen, outcome: 'clash' };
  const target = undone.bytes;
  // A file cannot be deleted away from under what is typed and not saved.
  if (target === undefined && unsaved) return { ...seen, outcome: 'clash' };
  const put = { ...seen, ...(target && { target }) };
  if (sameBytes(present, target)) return { ...put, outcome: 'same' };
  if (target === undefined) return { ...put, outcome: 'deleted' };
  if (present === undefined) return { ...put, outcome: 'created' };
  return { ...put, outcome: undone.merged ? 'merged' : 'restored' };
}

/** To other bytes, without asking what they came from: because somebody chose so. */
export async function planReplace(deps: PutBackDeps, file: FilePath, target: Uint8Array | undefined): Promise<PutBack> {
  const { path } = file;
  const here = await presentOf(deps, file, undefined);
  if (!here.ok) return { path, outcome: 'impossible', reason: here.failure.message };
  const { present, unsaved } = here.value;
  const put = { path, file, ...(present && { present }), ...(target && { target }) };
  if (sameBytes(present, target)) return { ...put, outcome: 'same' };
  if (target === undefined) return { ...put, outcome: unsaved ? 'clash' : 'deleted' };
  return { ...put, outcome: present === undefined ? 'created' : 'restored' };
}

async function bytesOfSteps(snapshots: Snapshots, steps: readonly Step[]): Promise<readonly StepBytes[] | undefined> {
  const found: StepBytes[] = [];
  for (const step of steps) {
    const before = step.before === undefined ? undefined : await snapshots.get(step.before);
    const after = step.after === undefined ? undefined : await snapshots.get(step.after);
    const lacks = (before === undefined) !== (step.before === undefined);
    if (lacks || (after === undefined) !== (step.after === undefined)) return undefined;
    found.push({ before, after });
  }
  return found;
}

/** `last` is what the agent left: if that is on disk below a changed buffer, the change never reached the buffer. */
async function presentOf(
  { workspace, buffers }: PutBackDeps,
  file: FilePath,
  last: Uint8Array | undefined,
): Promise<Result<{ present?: Uint8Array; beneath?: true; unsaved: boolean }>> {
  const content = await workspace.readLocally(file);
  if (!content.ok) return content.failure.code === 'not_found' ? succeeded({ unsaved: false }) : content;
  const { bytes, unsaved } = content.value;
  if (unsaved && buffers !== undefined && !sameBytes(bytes, last)) {
    const onDisk = await buffers.readBeneath(file);
    if (sameBytes(onDisk, last))
      return succeeded({ unsaved: false, beneath: true, ...(onDisk && { present: onDisk }) });
  }
  return succeeded({ present: bytes, unsaved });
}

/** Only what `plan` says; fails, with nothing changed, if a file moved on since it was planned. */
export async function putBack(deps: PutBackDeps, plan: readonly PutBack[]): Promise<Result<void>> {
  const edits: FileEdit[] = [];
  for (const put of plan) {
    const { file, present, target } = put;
    if (file === undefined || put.beneath === true) continue;
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
  return succeeded(undefined);
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

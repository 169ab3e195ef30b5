// Computes a file without the agent's changes, with a three-way merge, so that later changes of others stay. Pure.
import { type EntryKind } from '../../protocol/event.ts';
import { sameBytes } from './byteLines.ts';
import { withoutStep } from './withoutStep.ts';

/** One step with its bytes; absent: there was no such file. The kinds are those of the event. */
export interface StepBytes {
  readonly before?: Uint8Array | undefined;
  readonly after?: Uint8Array | undefined;
  readonly beforeKind?: EntryKind | undefined;
  readonly afterKind?: EntryKind | undefined;
  readonly beforeMode?: number | undefined;
  readonly afterMode?: number | undefined;
}

/** The present entry. `isLink`: the bytes are a link's target. */
export interface Present {
  readonly bytes: Uint8Array;
  readonly isLink: boolean;
  /** Its permission bits, if they are known. */
  readonly mode?: number | undefined;
}

export type Undone =
  /**
   * `merged`: the file has changes of others, which stay. Without `bytes` there is no such file. Without `executable`
   * that bit stays as it is, and without `mode` all permission bits do.
   */
  | {
      readonly type: 'clean';
      readonly bytes?: Uint8Array;
      readonly isLink: boolean;
      readonly executable?: boolean;
      readonly mode?: number;
      readonly merged: boolean;
    }
  /**
   * Others have changed the very lines that the agent changed. `bytes`, if they can be computed, are the file without
   * the agent's lines: only for display.
   */
  | { readonly type: 'clash'; readonly bytes?: Uint8Array };

const nothing = new Uint8Array();

/** `steps` in the order in which they happened; they are undone from the newest to the oldest. */
export function undoSteps(present: Present | undefined, steps: readonly StepBytes[]): Undone {
  let state = present;
  let merged = false;
  let clashes = false;
  let executable: boolean | undefined;
  let mode: number | undefined;
  for (const step of steps.toReversed()) {
    const before = sideOf(step.before, step.beforeKind);
    const after = sideOf(step.after, step.afterKind);
    // The executable bit is undone independently of the bytes.
    if (step.beforeKind === 'executable') executable = true;
    else if (step.afterKind === 'executable' && before !== undefined) executable = false;
    // The permissions too, unless somebody else has changed them since.
    const present = mode ?? state?.mode;
    if (step.beforeMode !== undefined && (present === undefined || present === step.afterMode)) mode = step.beforeMode;
    if (isSameFile(state, after)) {
      state = before;
      continue;
    }
    // Somebody has already reverted the step.
    if (isSameFile(state, before)) continue;
    if (state === undefined || after === undefined) return { type: 'clash' };
    if (state.isLink || before?.isLink === true || after.isLink) return { type: 'clash' };
    const without = withoutStep(state.bytes, after.bytes, before?.bytes ?? nothing);
    if (without === undefined) return { type: 'clash' };
    // Of a file that the agent created, the lines of others stay; without such lines it did not exist.
    const isGone = before === undefined && without.bytes.length === 0;
    state = isGone ? undefined : { bytes: without.bytes, isLink: false };
    clashes ||= without.clashes;
    merged = true;
  }
  if (clashes) return { type: 'clash', ...(state && { bytes: state.bytes }) };
  if (state === undefined) return { type: 'clean', merged, isLink: false };
  const { bytes, isLink } = state;
  if (isLink) return { type: 'clean', merged, bytes, isLink };
  const bits = { ...(executable !== undefined && { executable }), ...(mode !== undefined && { mode }) };
  return { type: 'clean', merged, bytes, isLink, ...bits };
}

function sideOf(bytes: Uint8Array | undefined, kind: EntryKind | undefined): Present | undefined {
  return bytes && { bytes, isLink: kind === 'link' };
}

function isSameFile(one: Present | undefined, other: Present | undefined): boolean {
  if (one === undefined || other === undefined) return one === other;
  return one.isLink === other.isLink && sameBytes(one.bytes, other.bytes);
}

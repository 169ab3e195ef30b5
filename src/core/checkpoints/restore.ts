// Restores the files that the user chose to their state before a turn, and can revert that.
import { failed, type Result, succeeded } from '../../base/errors.ts';
import { type ChangedTurn, type Step, stepOf } from '../conversation/projections/changes.ts';
import { type CheckpointDifference, type Checkpoints } from '../ports/storage.ts';
import { type Captures } from './captures.ts';
import { changesSomething, decidable, type PutBack, planPutBack, planReplace, putBack } from './putBack.ts';
import {
  appendTo,
  aroundOf,
  filesChanged,
  type ReviewDeps,
  type Reviewed,
  reviewedFiles,
  whileChanging,
  whyStays,
} from './review.ts';

export interface PlanDeps extends ReviewDeps {
  readonly checkpoints?: Checkpoints | undefined;
}

export interface RestoreDeps extends PlanDeps {
  /** Captures the workspace before anything is restored. */
  captures(): Captures | undefined;
}

/** What restoring would do to one file. */
export interface RestoreEntry extends PutBack {
  /**
   * `agent`: the agent's own changes. `others`: changes by the user or other programs since; restored only if chosen.
   */
  readonly by: 'agent' | 'others';
  /** Identifies what restoring would replace: an entry that the user chose is restored only if it is still this one. */
  readonly version: string;
}

export interface RestorePlan {
  readonly turn: ChangedTurn;
  readonly entries: readonly RestoreEntry[];
  /** Why the changes of others are not known. */
  readonly othersUnknown?: string;
  /** Files, and folders with a `/`, whose changes by commands and others are not known: they were not captured. */
  readonly leftOut: readonly string[];
}

/** Only this many changes of others are listed. */
const MOST_OTHERS = 500;
const HAS_CHANGED = 'It has changed since it was chosen.';

export async function planRestore(deps: PlanDeps, request: string): Promise<Result<RestorePlan>> {
  const live = decidable(deps.live());
  if (!live.ok) return live;
  const { log } = live.value;
  const turns = log.state.changes.since(request);
  const [turn] = turns;
  if (turn === undefined) return failed('no_turn', 'There is no such turn in this conversation.');
  const byPath = groupByPath(turns.flatMap(({ steps }) => steps));
  const puts = await Promise.all([...byPath].map(([path, steps]) => planPutBack(deps, path, steps)));
  const own = puts.map((put) => entryOf(deps, put, 'agent'));
  const others = await planOthers(deps, turn, new Set(byPath.keys()));
  if (!others.ok)
    return succeeded({ turn, entries: own.filter(isNotSame), othersUnknown: others.failure.message, leftOut: [] });
  const { entries, leftOut } = others.value;
  return succeeded({ turn, entries: [...own, ...entries].filter(isNotSame), leftOut });
}

function entryOf({ snapshots }: PlanDeps, put: PutBack, by: RestoreEntry['by']): RestoreEntry {
  const { outcome, present } = put;
  const hash = present === undefined ? 'none' : snapshots.hash(present).slice(0, 16);
  return { ...put, by, version: `${outcome}-${hash}` };
}

function isNotSame({ outcome }: PutBack): boolean {
  return outcome !== 'same';
}

/** Plans for the files that differ from the checkpoint and were not changed by the agent. */
async function planOthers(
  deps: PlanDeps,
  { checkpoint }: ChangedTurn,
  own: ReadonlySet<string>,
): Promise<Result<Pick<RestorePlan, 'entries' | 'leftOut'>>> {
  const { checkpoints, workspace } = deps;
  if (checkpoints === undefined || checkpoint === undefined) {
    return failed('no_checkpoint', 'The workspace was not captured before this turn.');
  }
  const { signal } = new AbortController();
  const now = await checkpoints.take({ folders: workspace.folders, also: [], keep: false, signal });
  const compared = now.ok ? await checkpoints.compare(checkpoint.name, now.value.name, signal) : now;
  if (!compared.ok) return compared;
  const differences = compared.value.filter(({ file }) => !own.has(file.path)).slice(0, MOST_OTHERS);
  const bytes = await checkpoints.read(
    differences.flatMap(({ before }) => before ?? []),
    signal,
  );
  const unsaved = [...checkpoint.unsaved].filter(([path]) => !own.has(path));
  const found = await Promise.all([
    ...differences.filter(({ file }) => !checkpoint.unsaved.has(file.path)).map((one) => onDisk(deps, one, bytes)),
    ...unsaved.map(([path, hash]) => inBuffer(deps, path, hash)),
  ]);
  const leftOut = [...new Set([...(await checkpoints.leftOut(checkpoint.name)), ...(now.ok ? now.value.leftOut : [])])];
  return succeeded({ entries: found.map((put) => entryOf(deps, put, 'others')), leftOut });
}

function onDisk(
  deps: PlanDeps,
  { file, before }: CheckpointDifference,
  bytes: ReadonlyMap<string, Uint8Array>,
): Promise<PutBack> {
  const target = before && bytes.get(before.key);
  const kind = before && (before.kind ?? 'plain');
  return planReplace(deps, file, target, { kind, mode: before?.mode, captured: true });
}

async function inBuffer(deps: PlanDeps, path: string, hash: string): Promise<PutBack> {
  const file = await deps.workspace.resolve(path);
  const bytes = await deps.snapshots.get(hash);
  if (!file.ok || bytes === undefined)
    return { path, outcome: 'impossible', reason: 'Its content is no longer stored.' };
  return planReplace(deps, file.value, bytes);
}

/** Whether an entry is chosen by default: the agent's own changes, unless they clash. */
export function isChosen(entry: RestoreEntry): boolean {
  return entry.by === 'agent' && changesSomething(entry);
}

/** Restores the agent's own changes, or only `files`, each if it is still as the user was shown it. */
export async function restoreFiles(
  deps: RestoreDeps,
  request: string,
  files?: readonly Pick<RestoreEntry, 'path' | 'version'>[],
): Promise<Result<Reviewed>> {
  const planned = await planRestore(deps, request);
  if (!planned.ok) return planned;
  const isNamed = (entry: RestoreEntry) =>
    files?.some(({ path, version }) => path === entry.path && version === entry.version) ?? isChosen(entry);
  const chosen = planned.value.entries.filter(isNamed);
  const restored = await restore(deps, planned.value, chosen);
  if (!restored.ok) return restored;
  const { done, stayed } = restored.value;
  const named = new Set([...chosen, ...stayed].map(({ path }) => path));
  const changed = files?.filter(({ path }) => !named.has(path)) ?? [];
  return succeeded({ done, stayed: [...stayed, ...changed.map(({ path }) => ({ path, reason: HAS_CHANGED }))] });
}

/**
 * Restores only the chosen entries; a chosen clash gets the bytes it had before the turn. Captures the workspace first.
 */
export async function restore(
  deps: RestoreDeps,
  plan: RestorePlan,
  chosen: readonly RestoreEntry[],
): Promise<Result<Reviewed>> {
  const live = decidable(deps.live());
  if (!live.ok) return live;
  const { log } = live.value;
  const puts = await Promise.all(chosen.map((entry) => forced(deps, plan, entry)));
  const doable = puts.filter(changesSomething);
  const stayed = plan.entries.filter((entry) => !chosen.includes(entry)).flatMap((entry) => whyStays(entry) ?? []);
  if (doable.length === 0) return succeeded({ done: [], stayed });
  await deps.captures()?.take('restore', new AbortController().signal);
  const last = plan.turn.seq;
  const through = Math.max(last, ...log.state.changes.since(plan.turn.request).flatMap(lastStep));
  const planned = await Promise.all(doable.map(async (put) => ({ ...(await aroundOf(deps, put)), through })));
  return record(deps, { action: 'restore', of: plan.turn.request, planned, doable, stayed });
}

interface Planned {
  readonly action: 'restore' | 'revert';
  readonly of: string;
  readonly planned: Parameters<typeof filesChanged>[0];
  readonly doable: readonly PutBack[];
  readonly stayed: Reviewed['stayed'];
}

/** Performs what was planned, and records what was really changed. */
function record(deps: RestoreDeps, { action, of, planned, doable, stayed }: Planned): Promise<Result<Reviewed>> {
  return whileChanging(deps.live(), planned, async () => {
    const done = await putBack(deps, doable);
    if (!done.ok) return done;
    const files = filesChanged(planned, done.value);
    const written = await appendTo(deps.live(), { type: 'changes_reviewed', action, of, files });
    return written.ok ? succeeded(reviewedFiles(files, [...stayed, ...done.value])) : written;
  });
}

async function forced(deps: RestoreDeps, plan: RestorePlan, entry: RestoreEntry): Promise<PutBack> {
  if (entry.outcome !== 'clash') return entry;
  const steps = deps.live()?.log.state.changes.since(plan.turn.request) ?? [];
  const first = steps.flatMap((turn) => turn.steps).find((step) => step.path === entry.path);
  const target = first?.before === undefined ? undefined : await deps.snapshots.get(first.before);
  const { beforeKind: kind, beforeMode: mode, found = false } = first ?? {};
  return planReplace(deps, entry, target, { kind, mode, captured: found });
}

function lastStep(turn: ChangedTurn): readonly number[] {
  const last = turn.steps.at(-1);
  return last === undefined ? [] : [last.seq];
}

/** Reverts an undo or a restore; later changes stay, as with any undo. */
export async function revertDecision(deps: RestoreDeps, decision: string): Promise<Result<Reviewed>> {
  const live = decidable(deps.live());
  if (!live.ok) return live;
  const { log } = live.value;
  const event = log.state.changes.decision(decision);
  if (event === undefined) return failed('no_decision', 'That was reverted already.');
  const puts = await Promise.all(event.files.map((file) => planPutBack(deps, file.path, [stepOf(event.seq, file)])));
  const doable = puts.filter((put) => changesSomething(put) || put.outcome === 'same');
  const stayed = puts.flatMap((put) => whyStays(put) ?? []);
  if (doable.length === 0) return succeeded({ done: [], stayed });
  const planned = await Promise.all(
    doable.map(async (put) => ({ ...(await aroundOf(deps, put)), through: event.seq })),
  );
  return record(deps, {
    action: 'revert',
    of: decision,
    planned,
    doable: doable.filter(changesSomething),
    stayed,
  });
}

function groupByPath(steps: readonly Step[]): ReadonlyMap<string, readonly Step[]> {
  const byPath = new Map<string, Step[]>();
  for (const step of steps) byPath.set(step.path, [...(byPath.get(step.path) ?? []), step]);
  return byPath;
}

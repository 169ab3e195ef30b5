// Applies a patch of several files. All changes are checked, as by the tools for single files, before any is made.
import { type Result, succeeded } from '../../base/errors.ts';
import { printPath } from '../../base/printPath.ts';
import { type FilePatch, parsePatch } from '../../core/files/patch.ts';
import { fitHunks } from '../../core/files/patchFit.ts';
import { type ShownFile } from '../../core/ports/fileViews.ts';
import { type ToolContext, type ToolOutcome } from '../../core/ports/ports.ts';
import { type FileEdit } from '../../core/ports/workspace.ts';
import { judgeEdit, judgeNew, judgeRemoval, otherChanges, partAfter } from '../../core/tools/staleGuard.ts';
import { refuse } from '../defineTool.ts';
import { type OpenedFile, openExisting, openForChange, refuseUnseen, retryWhileStale } from './opened.ts';
import { editOutcome, type Intended } from './result.ts';

/** The planned changes of one file. */
interface Planned {
  readonly edits: readonly FileEdit[];
  readonly intended: readonly Intended[];
  /** Old paths of moved files. */
  readonly gone: readonly ShownFile[];
}

export async function applyPatch(input: string, context: ToolContext): Promise<ToolOutcome> {
  const parsed = parsePatch(input);
  if (!parsed.ok) return refuse(parsed.failure);
  const paths = parsed.value.flatMap((patch) => [
    patch.path,
    ...(patch.type === 'update' && patch.to !== undefined ? [patch.to] : []),
  ]);
  const twice = paths.find((path, index) => paths.indexOf(path) !== index);
  if (twice !== undefined)
    return refuse('twice', `input: the patch names ${twice} twice. Nothing was changed. Put its hunks together.`);
  return retryWhileStale(() => patchChecked(parsed.value, context));
}

async function patchChecked(patches: readonly FilePatch[], context: ToolContext): Promise<Result<ToolOutcome>> {
  const planned: Planned[] = [];
  for (const patch of patches) {
    const plan = await planFile(patch, context);
    if ('content' in plan) return succeeded({ ...plan, content: `${printPath(patch.path)}: ${plan.content}` });
    planned.push(plan);
  }
  const applied = await context.workspace.apply(planned.flatMap(({ edits }) => edits));
  if (!applied.ok) return applied;
  const outcome = await editOutcome(
    context.workspace,
    applied.value,
    planned.flatMap(({ intended }) => intended),
  );
  const gone = planned.flatMap((plan) => plan.gone);
  return succeeded({ ...outcome, seen: [...gone, ...(outcome.seen ?? [])] });
}

async function planFile(patch: FilePatch, context: ToolContext): Promise<Planned | ToolOutcome> {
  if (patch.type === 'add') return planAdd(patch, context);
  const opened = await openExisting(patch.path, context);
  if (!opened.ok) return refuse(opened.failure);
  if (patch.type === 'update') return planUpdate(patch, opened.value, context);
  const { file, bytes, text, seen } = opened.value;
  const verdict = judgeRemoval(printPath(file.path), seen, text);
  if (!verdict.allowed) return refuseUnseen(verdict, opened.value);
  return {
    edits: [{ type: 'delete', file, from: bytes }],
    intended: [{ file, said: `Deleted ${printPath(file.path)}.` }],
    gone: [],
  };
}

async function planAdd(
  patch: Extract<FilePatch, { type: 'add' }>,
  context: ToolContext,
): Promise<Planned | ToolOutcome> {
  const taken = await openForChange(patch.path, context);
  if (!taken.ok) return refuse(taken.failure);
  const { file, seen, there } = taken.value;
  if (there) return refuse('exists', 'it exists already. Nothing was changed. Use “*** Update File: ”.');
  const verdict = judgeNew(printPath(file.path), seen);
  if (!verdict.allowed) return refuseUnseen(verdict, taken.value);
  const to = await context.workspace.encode(file, patch.content);
  if (to === undefined) return refuse('encoding', 'it cannot hold this content in its encoding. Nothing was changed.');
  const intended = { file, said: `Made ${printPath(file.path)}.`, text: patch.content };
  return { edits: [{ type: 'write', file, to }], intended: [intended], gone: [] };
}

async function planUpdate(
  patch: Extract<FilePatch, { type: 'update' }>,
  opened: OpenedFile,
  context: ToolContext,
): Promise<Planned | ToolOutcome> {
  const { file, bytes, text, seen } = opened;
  if (text === undefined)
    return refuse('not_text', `it is not a text file (${bytes.length} bytes). Nothing was changed.`);
  const fit = fitHunks(text, patch.hunks);
  const known = seen?.current === true;
  const misfit = fit.ok ? (known || fit.exact ? undefined : INEXACT_UNSEEN) : fit.misfit;
  const verdict = judgeEdit(printPath(file.path), seen, text, misfit);
  if (!verdict.allowed) return refuseUnseen(verdict, opened);
  if (!fit.ok) throw new Error('a hunk that does not fit was not rejected');
  const to = await context.workspace.encode(file, fit.text, bytes);
  if (to === undefined) return refuse('encoding', 'it cannot hold the new text in its encoding. Nothing was changed.');
  const others = otherChanges(printPath(file.path), seen, text);
  const part = partAfter(seen, others?.shown ?? true);
  const write: FileEdit[] = patch.hunks.length === 0 ? [] : [{ type: 'write', file, from: bytes, to }];
  const notes = others === undefined ? [] : [others.note];
  if (patch.to === undefined) {
    const said = [`Updated ${printPath(file.path)}.`, ...notes].join('\n');
    return { edits: write, intended: [{ file, said, text: fit.text, part }], gone: [] };
  }
  const target = await context.workspace.resolve(patch.to);
  if (!target.ok) return refuse(target.failure);
  const said = [`Updated ${printPath(file.path)} and moved it to ${printPath(target.value.path)}.`, ...notes].join(
    '\n',
  );
  return {
    edits: [...write, { type: 'move', file, to: target.value, from: write.length === 0 ? bytes : to }],
    intended: [{ file: target.value, said, text: fit.text, part }],
    gone: [{ file }],
  };
}

const INEXACT_UNSEEN = 'A hunk does not fit word for word and only once, and you have not seen the file as it is now.';

// Moves and deletes files, unless they have changed since the model read them.
import { type Result, succeeded } from '../../base/errors.ts';
import { printPath } from '../../base/printPath.ts';
import { type ToolContext, type ToolOutcome } from '../../core/ports/ports.ts';
import { judgeRemoval, partAfter } from '../../core/tools/staleGuard.ts';
import { answer, refuse } from '../defineTool.ts';
import { openExisting, refuseUnseen, retryWhileStale } from './opened.ts';
import { editOutcome } from './result.ts';

export function moveFile(path: string, to: string, context: ToolContext): Promise<ToolOutcome> {
  return retryWhileStale(() => attemptMove(path, to, context));
}

export function deleteFile(path: string, context: ToolContext): Promise<ToolOutcome> {
  return retryWhileStale(() => attemptDelete(path, context));
}

async function attemptMove(path: string, to: string, context: ToolContext): Promise<Result<ToolOutcome>> {
  const opened = await openExisting(path, context);
  if (!opened.ok) return succeeded(refuse(opened.failure));
  const target = await context.workspace.resolve(to);
  if (!target.ok) return succeeded(refuse(target.failure));
  const { file, bytes, text, seen } = opened.value;
  if (target.value.path === file.path) return succeeded(refuse('exists', `to: ${to} is where ${path} is already.`));
  const verdict = judgeRemoval(printPath(file.path), seen, text);
  if (!verdict.allowed) return succeeded(refuseUnseen(verdict, opened.value));
  const applied = await context.workspace.apply([{ type: 'move', file, to: target.value, from: bytes }]);
  if (!applied.ok) return applied;
  const outcome = await editOutcome(context.workspace, applied.value, [
    {
      file: target.value,
      said: `Moved ${printPath(file.path)} to ${printPath(target.value.path)}.`,
      text,
      part: partAfter(seen, true),
    },
  ]);
  return succeeded({ ...outcome, seen: [{ file }, ...(outcome.seen ?? [])] });
}

async function attemptDelete(path: string, context: ToolContext): Promise<Result<ToolOutcome>> {
  const opened = await openExisting(path, context);
  if (!opened.ok) return succeeded(refuse(opened.failure));
  const { file, bytes, text, seen } = opened.value;
  const verdict = judgeRemoval(printPath(file.path), seen, text);
  if (!verdict.allowed) return succeeded(refuseUnseen(verdict, opened.value));
  const applied = await context.workspace.apply([{ type: 'delete', file, from: bytes }]);
  if (!applied.ok) return applied;
  return succeeded({
    ...answer(`Deleted ${printPath(file.path)}.`),
    seen: [{ file }],
    changes: [{ file, before: bytes }],
  });
}

// Applies the edits of a quick fix, all or none and only to files that may be changed, and shows the differences.
import { describeFailure, failed, type Result, succeeded } from '../../base/errors.ts';
import { differenceOf } from '../../core/files/difference.ts';
import { type FixedText } from '../../core/ports/fixes.ts';
import { type ToolContext, type ToolOutcome } from '../../core/ports/ports.ts';
import { type FileEdit, STALE } from '../../core/ports/workspace.ts';
import { otherChanges, partAfter } from '../../core/tools/staleGuard.ts';
import { refuse } from '../defineTool.ts';
import { openExisting } from './opened.ts';
import { editOutcome, type Intended } from './result.ts';

const SHOWN = { lines: 120, characters: 6000 };

export async function applyFix(
  done: string,
  texts: readonly FixedText[],
  context: ToolContext,
): Promise<Result<ToolOutcome>> {
  const edits: FileEdit[] = [];
  const intended: Intended[] = [];
  for (const { absolute, before, after } of texts) {
    const opened = await openExisting(absolute, context);
    if (!opened.ok)
      return succeeded(refuse(opened.failure.code, `Nothing was changed. ${describeFailure(opened.failure)}`));
    const { file, bytes, text, seen } = opened.value;
    if (context.hides(file.path))
      return succeeded(refuse('hidden', `Nothing was changed: the fix also changes ${file.path}, which is hidden.`));
    // The text must still be the one that the language server has seen.
    if (text !== before) return failed(STALE, `${file.path} was changed meanwhile. Nothing was changed.`);
    const to = await context.workspace.encode(file, after, bytes);
    if (to === undefined) return failed('encoding', `${file.path} cannot hold the fix in its encoding.`);
    edits.push({ type: 'write', file, from: bytes, to });
    const others = otherChanges(file.path, seen, text);
    const difference = differenceOf(before, after, SHOWN);
    const shown = difference?.diff !== undefined && (others?.shown ?? true);
    const said = [
      `${done} in ${file.path}${difference?.diff === undefined ? '.' : `:\n${difference.diff}`}`,
      ...(others === undefined ? [] : [others.note]),
    ];
    intended.push({ file, said: said.join('\n'), text: after, part: partAfter(seen, shown) });
  }
  const applied = await context.workspace.apply(edits);
  if (!applied.ok) return applied;
  return succeeded(await editOutcome(context.workspace, applied.value, intended));
}

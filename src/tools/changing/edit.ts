// Applies the edits of one file: each text must occur, and only once if the file differs from what the model has seen.
import { failed, type Result, succeeded } from '../../base/errors.ts';
import { printPath } from '../../base/printPath.ts';
import { replaceTexts } from '../../core/files/replacements.ts';
import { type ToolContext, type ToolOutcome } from '../../core/ports/ports.ts';
import { judgeEdit, otherChanges, partAfter } from '../../core/tools/staleGuard.ts';
import { refuse } from '../defineTool.ts';
import { openExisting, refuseUnseen, retryWhileStale } from './opened.ts';
import { editOutcome } from './result.ts';

interface TextEdit {
  readonly old_text: string;
  readonly new_text: string;
  readonly replace_all?: boolean | undefined;
}

export function editFile(path: string, edits: readonly TextEdit[], context: ToolContext): Promise<ToolOutcome> {
  return retryWhileStale(() => editChecked(path, edits, context));
}

async function editChecked(
  path: string,
  edits: readonly TextEdit[],
  context: ToolContext,
): Promise<Result<ToolOutcome>> {
  const opened = await openExisting(path, context);
  if (!opened.ok) return succeeded(refuse(opened.failure));
  const { file, bytes, text, seen } = opened.value;
  if (text === undefined)
    return succeeded(refuse('not_text', `${printPath(file.path)} is not a text file (${bytes.length} bytes).`));
  const fit = replaceTexts(
    text,
    edits.map((one) => ({ oldText: one.old_text, newText: one.new_text, everywhere: one.replace_all === true })),
  );
  const known = seen?.current === true;
  const misfit = fit.ok ? (known || fit.value.single ? undefined : SEVERAL_UNSEEN) : fit.misfit;
  const verdict = judgeEdit(printPath(file.path), seen, text, misfit);
  if (!verdict.allowed) return succeeded(refuseUnseen(verdict, opened.value));
  if (!fit.ok) throw new Error('an edit that does not fit was not rejected');
  const to = await context.workspace.encode(file, fit.value.text, bytes);
  if (to === undefined)
    return failed('encoding', `${printPath(file.path)} cannot hold new_text in its encoding.`, 'Use plain characters.');
  const others = otherChanges(printPath(file.path), seen, text);
  const applied = await context.workspace.apply([{ type: 'write', file, from: bytes, to }]);
  if (!applied.ok) return applied;
  const part = partAfter(seen, others?.shown ?? true);
  const said = [
    describeReplacements(printPath(file.path), fit.value.lines),
    ...(others === undefined ? [] : [others.note]),
  ].join('\n');
  return succeeded(await editOutcome(context.workspace, applied.value, [{ file, said, text: fit.value.text, part }]));
}

const SEVERAL_UNSEEN = 'A text to replace is there more than once in a file that you have not seen as it is now.';

function describeReplacements(path: string, lines: readonly (readonly number[])[]): string {
  const all = lines.flat();
  const shown = all.slice(0, 10).join(', ');
  const what =
    all.length === 1 ? `Replaced one text in ${path}, line` : `Replaced ${all.length} texts in ${path}, lines`;
  return `${what} ${shown}${all.length > 10 ? ' …' : ''}.`;
}

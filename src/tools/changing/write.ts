// Writes a whole file; replaces a file only if the model has read all of its current content.
import { failed, type Result, succeeded } from '../../base/errors.ts';
import { printPath } from '../../base/printPath.ts';
import { endingOf } from '../../core/files/difference.ts';
import { type ToolContext, type ToolOutcome } from '../../core/ports/ports.ts';
import { judgeNew, judgeWrite } from '../../core/tools/staleGuard.ts';
import { answer, refuse } from '../defineTool.ts';
import { openForChange, refuseUnseen, retryWhileStale } from './opened.ts';
import { editOutcome } from './result.ts';

export function writeFile(path: string, content: string, context: ToolContext): Promise<ToolOutcome> {
  return retryWhileStale(() => writeChecked(path, content, context));
}

async function writeChecked(path: string, content: string, context: ToolContext): Promise<Result<ToolOutcome>> {
  const taken = await openForChange(path, context);
  if (!taken.ok) return succeeded(refuse(taken.failure));
  const present = taken.value;
  const { file, seen } = present;
  const verdict = present.there
    ? judgeWrite(printPath(file.path), seen, present.text, 'edit_file')
    : judgeNew(printPath(file.path), seen);
  if (!verdict.allowed) return succeeded(refuseUnseen(verdict, present));
  const before = present.there ? present : undefined;
  // Line feeds are converted to the file's own line endings.
  const crlf = before?.text !== undefined && endingOf(before.text) === 'CRLF' && endingOf(content) === 'LF';
  const text = crlf ? content.replaceAll('\n', '\r\n') : content;
  const to = await context.workspace.encode(file, text, before?.text === undefined ? undefined : before.bytes);
  if (to === undefined)
    return failed(
      'encoding',
      `${printPath(file.path)} cannot hold this content in its encoding.`,
      'Use plain characters.',
    );
  if (before?.text === text) return succeeded(answer(`${printPath(file.path)} has exactly this content already.`));
  const applied = await context.workspace.apply([{ type: 'write', file, ...(before && { from: before.bytes }), to }]);
  if (!applied.ok) return applied;
  const lines = text === '' ? 0 : text.replace(/\n$/, '').split('\n').length;
  const said = `${before === undefined ? 'Made' : 'Replaced'} ${printPath(file.path)} (${lines} ${lines === 1 ? 'line' : 'lines'}).`;
  return succeeded(await editOutcome(context.workspace, applied.value, [{ file, said, text }]));
}

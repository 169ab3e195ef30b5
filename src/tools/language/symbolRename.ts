// Renames a symbol with the language server's edits, through the guarded workspace, all or none.
import { describeFailure, type Result, succeeded } from '../../base/errors.ts';
import { printWholePath } from '../../base/printPath.ts';
import { whyProtected } from '../../core/consent/protectedFiles.ts';
import {
  type FileReplacements,
  type Languages,
  type TextPosition,
  type TextReplacement,
} from '../../core/ports/languages.ts';
import { type ToolContext, type ToolOutcome } from '../../core/ports/ports.ts';
import { type FileEdit } from '../../core/ports/workspace.ts';
import { otherChanges, partAfter } from '../../core/tools/staleGuard.ts';
import { openExisting, retryWhileStale } from '../changing/opened.ts';
import { editOutcome, type Intended } from '../changing/result.ts';
import { refuse } from '../defineTool.ts';

const MOST_LINES = 40;

export function renameSymbol(
  languages: Languages,
  at: TextPosition,
  symbol: string,
  name: string,
  context: ToolContext,
): Promise<ToolOutcome> {
  return retryWhileStale(async () => {
    const found = await languages.rename(at, name, context.signal);
    if (!found.ok)
      return succeeded(refuse(found.failure.code, `${describeFailure(found.failure)} Nothing was changed.`));
    const files = found.value.filter(({ replacements }) => replacements.length > 0);
    if (files.length === 0)
      return succeeded(refuse('no_symbol', `${symbol} cannot be renamed here. Nothing was changed.`));
    const barred = files.find((file) => isBarred(file, context));
    if (barred !== undefined) {
      const why = `it also occurs in ${printWholePath(barred.path)}, which may not be changed without asking`;
      return succeeded(refuse('refused', `${symbol} was not renamed: ${why}. Nothing was changed.`));
    }
    return applyRename(files, symbol, name, context);
  });
}

/** The user approved only the named file, so hidden, protected and outside files must not be changed. */
function isBarred({ path, file }: FileReplacements, context: ToolContext): boolean {
  return file === undefined || context.hides(path) || whyProtected(path, false) !== undefined;
}

async function applyRename(
  files: readonly FileReplacements[],
  symbol: string,
  name: string,
  context: ToolContext,
): Promise<Result<ToolOutcome>> {
  const edits: FileEdit[] = [];
  const intended: Intended[] = [];
  for (const { path, replacements } of files) {
    const opened = await openExisting(path, context);
    if (!opened.ok) return opened;
    const { file, bytes, text, seen } = opened.value;
    const changed = text === undefined ? undefined : replaceAll(text, replacements);
    const to = changed === undefined ? undefined : await context.workspace.encode(file, changed, bytes);
    if (text === undefined || changed === undefined || to === undefined) {
      return succeeded(
        refuse('encoding', `${printWholePath(path)} cannot hold the new name in its encoding. Nothing was changed.`),
      );
    }
    const others = otherChanges(file.path, seen, text);
    edits.push({ type: 'write', file, from: bytes, to });
    intended.push({
      file,
      said: [describeRename(path, changed, replacements), ...(others === undefined ? [] : [others.note])].join('\n'),
      text: changed,
      part: partAfter(seen, others?.shown ?? true),
    });
  }
  const applied = await context.workspace.apply(edits);
  if (!applied.ok) return applied;
  const outcome = await editOutcome(context.workspace, applied.value, intended);
  const places = files.reduce((sum, { replacements }) => sum + replacements.length, 0);
  const head = `Renamed ${symbol} to ${name}: ${places} ${places === 1 ? 'place' : 'places'} in ${files.length} ${files.length === 1 ? 'file' : 'files'}.`;
  return succeeded({ ...outcome, content: `${head}\n${outcome.content}` });
}

function replaceAll(text: string, replacements: readonly TextReplacement[]): string {
  const starts = [0, ...[...text.matchAll(/\r\n|\r|\n/g)].map(({ index, 0: end }) => index + end.length)];
  const offset = ({ line, column }: TextReplacement['from']) => (starts[line - 1] ?? text.length) + column - 1;
  const pieces: string[] = [];
  let at = 0;
  for (const { from, to, text: put } of [...replacements].sort((a, b) => offset(a.from) - offset(b.from))) {
    pieces.push(text.slice(at, offset(from)), put);
    at = offset(to);
  }
  return [...pieces, text.slice(at)].join('');
}

function describeRename(path: string, text: string, replacements: readonly TextReplacement[]): string {
  const lines = text.split(/\r\n|\r|\n/);
  const numbers = [...new Set(replacements.map(({ from }) => from.line))].sort((a, b) => a - b);
  const shown = numbers
    .slice(0, MOST_LINES)
    .map((line) => `  ${line}: ${(lines[line - 1] ?? '').trim().slice(0, 200)}`);
  const left = numbers.length - shown.length;
  return [printWholePath(path), ...shown, ...(left > 0 ? [`  and ${left} more lines`] : [])].join('\n');
}

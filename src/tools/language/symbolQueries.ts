// Answers symbol queries: checks arguments, finds the symbol's position and prints the results.
import { failed, type Result, succeeded } from '../../base/errors.ts';
import { printWholePath } from '../../base/printPath.ts';
import { countOf, wholeCharacters } from '../../base/text.ts';
import { type Languages, type NamedSymbol, type SymbolPlace, type TextPosition } from '../../core/ports/languages.ts';
import { type ToolContext, type ToolOutcome } from '../../core/ports/ports.ts';
import { type FilePath } from '../../core/ports/workspace.ts';
import { answer, refuse } from '../defineTool.ts';
import { renameSymbol } from './symbolRename.ts';

const MOST_PLACES = 100;
const MOST_SYMBOLS = 300;
const LINE_LENGTH = 200;
/** How many occurrences of a name are tried, since some may be in comments. */
const MOST_TRIED = 8;

export interface SymbolsArguments {
  readonly action: 'definition' | 'references' | 'rename' | 'outline' | 'find';
  readonly path?: string | undefined;
  readonly symbol?: string | undefined;
  readonly line?: number | undefined;
  readonly new_name?: string | undefined;
}

export async function askSymbols(
  languages: Languages,
  args: SymbolsArguments,
  context: ToolContext,
): Promise<ToolOutcome> {
  const { action, path, symbol, line, new_name: name } = args;
  if (action === 'find')
    return symbol === undefined ? missing('symbol', action) : findSymbols(languages, symbol, context);
  if (path === undefined) return missing('path', action);
  const file = await context.workspace.resolve(path);
  if (!file.ok) return refuse(file.failure);
  if (action === 'outline') return outline(languages, file.value, context);
  if (symbol === undefined) return missing('symbol', action);
  if (action === 'rename' && (line === undefined || name === undefined))
    return missing(line === undefined ? 'line' : 'new_name', action);
  const positions = await positionsOf(file.value, symbol, line, context);
  if (!positions.ok) return refuse(positions.failure);
  const [first] = positions.value;
  if (action === 'rename' && first !== undefined) return renameSymbol(languages, first, symbol, name ?? '', context);
  for (const at of positions.value) {
    const ask = action === 'definition' ? languages.definition : languages.references;
    const found = await ask(at, context.signal);
    if (!found.ok) return refuse(found.failure);
    if (found.value.length > 0) return showPlaces(action, symbol, found.value, context);
  }
  return answer(`The language server knows nothing of ${symbol} in ${printWholePath(file.value.path)}.`);
}

function missing(field: string, action: string): ToolOutcome {
  return refuse('bad_arguments', `${field}: ${action} needs it. Call it again with it.`);
}

/** Matches whole names only: `a` is not in `bar`. */
async function positionsOf(
  file: FilePath,
  symbol: string,
  line: number | undefined,
  { workspace }: ToolContext,
): Promise<Result<TextPosition[]>> {
  const content = await workspace.read(file);
  if (!content.ok) return content;
  const text = await workspace.decode(file, content.value.bytes);
  if (text === undefined) return failed('not_text', `${file.path} is not a text file.`);
  const lines = text.split(/\r\n|\r|\n/);
  if (line !== undefined && line > lines.length) {
    return failed('no_line', `line: ${file.path} has only ${countOf(lines.length, 'line')}.`);
  }
  const found: TextPosition[] = [];
  for (const [index, content] of lines.entries()) {
    if (line !== undefined && index !== line - 1) continue;
    for (let at = content.indexOf(symbol); at !== -1; at = content.indexOf(symbol, at + 1)) {
      const around = `${content[at - 1] ?? ' '}${content[at + symbol.length] ?? ' '}`;
      if (!/[\p{L}\p{N}_$]/u.test(around)) found.push({ file, line: index + 1, column: at + 1 });
    }
    if (found.length >= MOST_TRIED) break;
  }
  if (found.length > 0) return succeeded(found.slice(0, MOST_TRIED));
  const where =
    line === undefined ? file.path : `line ${line} of ${file.path}, which is: ${cut(lines[line - 1] ?? '')}`;
  return failed('no_symbol', `symbol: ${symbol} does not occur in ${where}`);
}

async function showPlaces(
  action: string,
  symbol: string,
  places: readonly SymbolPlace[],
  context: ToolContext,
): Promise<ToolOutcome> {
  const shown = places.filter(({ path }) => !context.hides(path)).slice(0, MOST_PLACES);
  const parts: string[] = [];
  for (const path of new Set(shown.map((place) => place.path))) {
    const inside = shown.filter((place) => place.path === path);
    const lines = await linesOf(inside[0]?.file, context);
    const numbers = [...new Set(inside.map(({ line }) => line))].sort((a, b) => a - b);
    parts.push(printWholePath(path), ...numbers.map((line) => `  ${line}: ${cut(lines[line - 1] ?? '')}`.trimEnd()));
  }
  const noun = action === 'definition' ? 'definition' : 'place';
  const count = `${places.length} ${noun}${places.length === 1 ? '' : 's'}`;
  const head = action === 'definition' ? `${symbol}: ${count}` : `${symbol} is used in ${count}`;
  const left = places.length - shown.length;
  return answer([`${head}:`, ...parts, ...(left > 0 ? [`(${left} more are not shown.)`] : [])].join('\n'));
}

/** Empty for files outside the workspace, so that only the location is shown. */
async function linesOf(file: FilePath | undefined, { workspace }: ToolContext): Promise<string[]> {
  const content = file && (await workspace.read(file));
  if (file === undefined || content?.ok !== true) return [];
  return ((await workspace.decode(file, content.value.bytes)) ?? '').split(/\r\n|\r|\n/);
}

async function outline(languages: Languages, file: FilePath, { signal }: ToolContext): Promise<ToolOutcome> {
  const found = await languages.outline(file, signal);
  if (!found.ok) return refuse(found.failure);
  if (found.value.length === 0) return answer(`No language server declares anything in ${printWholePath(file.path)}.`);
  const lines = found.value.map(({ depth, kind, name, line }) => `${'  '.repeat(depth)}${line}: ${kind} ${cut(name)}`);
  return answer(bounded(lines));
}

async function findSymbols(languages: Languages, query: string, { signal, hides }: ToolContext): Promise<ToolOutcome> {
  const found = await languages.find(query, signal);
  if (!found.ok) return refuse(found.failure);
  const shown = found.value.filter(({ path }) => !hides(path));
  if (shown.length === 0) return answer(`No language server knows a name like ${query}.`);
  const print = ({ path, line, kind, name }: NamedSymbol) => `${printWholePath(path)}:${line}: ${kind} ${cut(name)}`;
  return answer(bounded(shown.map(print)));
}

function bounded(lines: readonly string[]): string {
  const left = lines.length - MOST_SYMBOLS;
  return [...lines.slice(0, MOST_SYMBOLS), ...(left > 0 ? [`(${left} more are not shown.)`] : [])].join('\n');
}

function cut(text: string): string {
  const line = text.trim().replace(/\s+/g, ' ');
  return line.length > LINE_LENGTH ? `${wholeCharacters(line, LINE_LENGTH)}…` : line;
}

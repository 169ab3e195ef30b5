// The Languages port: language features of any extension, through the commands of VS Code.
import * as vscode from 'vscode';
import { describeError, failed, type Result, succeeded } from '../../base/errors.ts';
import { type Languages, type NamedSymbol, type SymbolPlace, type TextPosition } from '../../core/ports/languages.ts';
import { type FilePath } from '../../core/ports/workspace.ts';
import { toFilePath, toUri } from '../workspace/fileUris.ts';

/** A server may need a long time to load a large project. */
const LONGEST_MILLISECONDS = 30_000;

export function createLanguages(): Languages {
  return {
    definition: (at, signal) => places('vscode.executeDefinitionProvider', at, signal),
    references: (at, signal) => places('vscode.executeReferenceProvider', at, signal),
    rename: async ({ file, line, column }, name, signal) => {
      const position = new vscode.Position(line - 1, column - 1);
      const edit = await runProvider<vscode.WorkspaceEdit | undefined>(
        signal,
        'vscode.executeDocumentRenameProvider',
        ...[toUri(file), position, name],
      );
      if (!edit.ok) return edit;
      const changed = edit.value?.entries() ?? [];
      return succeeded(
        changed.map(([uri, edits]) => ({
          ...placeOf(uri),
          replacements: edits.map(({ range, newText }) => ({
            from: { line: range.start.line + 1, column: range.start.character + 1 },
            to: { line: range.end.line + 1, column: range.end.character + 1 },
            text: newText,
          })),
        })),
      );
    },
    outline: async (file, signal) => {
      const found = await documentSymbols(toUri(file), signal);
      return found.ok ? succeeded(found.value.flatMap((symbol) => flatten(symbol, file, 0))) : found;
    },
    find: async (query, signal) => {
      const found = await runProvider<vscode.SymbolInformation[] | undefined>(
        signal,
        'vscode.executeWorkspaceSymbolProvider',
        query,
      );
      return found.ok ? succeeded((found.value ?? []).map((symbol) => toNamedSymbol(symbol))) : found;
    },
  };
}

/** The declarations of a document. They have children only if the provider knows the nesting. */
export async function documentSymbols(
  uri: vscode.Uri,
  signal: AbortSignal,
): Promise<Result<(vscode.DocumentSymbol | vscode.SymbolInformation)[]>> {
  const found = await runProvider<(vscode.DocumentSymbol | vscode.SymbolInformation)[] | undefined>(
    signal,
    'vscode.executeDocumentSymbolProvider',
    uri,
  );
  return found.ok ? succeeded(found.value ?? []) : found;
}

async function places(
  command: string,
  { file, line, column }: TextPosition,
  signal: AbortSignal,
): Promise<Result<SymbolPlace[]>> {
  const position = new vscode.Position(line - 1, column - 1);
  const found = await runProvider<(vscode.Location | vscode.LocationLink)[] | undefined>(
    signal,
    command,
    toUri(file),
    position,
  );
  if (!found.ok) return found;
  return succeeded(
    (found.value ?? []).map((one) =>
      'targetUri' in one
        ? { ...placeOf(one.targetUri), line: (one.targetSelectionRange ?? one.targetRange).start.line + 1 }
        : { ...placeOf(one.uri), line: one.range.start.line + 1 },
    ),
  );
}

function placeOf(uri: vscode.Uri): { path: string; file?: FilePath } {
  const file = toFilePath(uri);
  return file === undefined ? { path: uri.fsPath } : { path: file.path, file };
}

function flatten(
  symbol: vscode.DocumentSymbol | vscode.SymbolInformation,
  file: FilePath,
  depth: number,
): NamedSymbol[] {
  if (!('children' in symbol)) return [{ ...toNamedSymbol(symbol), depth }];
  const { name, kind, selectionRange, children } = symbol;
  const own = { path: file.path, file, name, kind: kindOf(kind), line: selectionRange.start.line + 1, depth };
  return [own, ...children.flatMap((child) => flatten(child, file, depth + 1))];
}

function toNamedSymbol({ name, kind, location }: vscode.SymbolInformation): NamedSymbol {
  return { ...placeOf(location.uri), name, kind: kindOf(kind), line: location.range.start.line + 1, depth: 0 };
}

function kindOf(kind: vscode.SymbolKind): string {
  return vscode.SymbolKind[kind].replace(/([a-z])([A-Z])/g, '$1 $2').toLowerCase();
}

/** Needed before a provider runs: VS Code ignores the position in a document that is not open. */
async function openDocument(uri: unknown): Promise<void> {
  if (uri instanceof vscode.Uri) await vscode.workspace.openTextDocument(uri);
}

/** An error of the provider becomes a failure. A provider cannot be cancelled; an abort only stops waiting for it. */
function runProvider<T>(signal: AbortSignal, command: string, ...args: readonly unknown[]): Promise<Result<T>> {
  return new Promise((resolve) => {
    const stop = () => finish(failed('cancelled', 'Cancelled by the user.'));
    const slow = failed(
      'slow',
      `No answer came within ${LONGEST_MILLISECONDS / 1000} s.`,
      'The language server may still be starting: try again later, or use search.',
    );
    const timer = setTimeout(() => finish(slow), LONGEST_MILLISECONDS);
    const finish = (result: Result<T>) => {
      clearTimeout(timer);
      signal.removeEventListener('abort', stop);
      resolve(result);
    };
    signal.addEventListener('abort', stop, { once: true });
    openDocument(args[0])
      .then(() => vscode.commands.executeCommand<T>(command, ...args))
      .then(
        (value) => finish(succeeded(value)),
        (error: unknown) => finish(failed('refused', `${describeError(error)}.`.replace(/\.\.$/, '.'))),
      );
  });
}

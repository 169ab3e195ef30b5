// What the core needs of the editor's language features. Implemented in vscode/.
import { type Result } from '../../base/errors.ts';
import { type FilePath } from './workspace.ts';

/** Lines and columns are counted from 1, as people do. */
export interface TextPosition {
  readonly file: FilePath;
  readonly line: number;
  readonly column: number;
}

/** Somewhere in a file, which may lie outside the workspace, such as in a library. */
export interface SymbolPlace {
  readonly path: string;
  /** Absent: it is not in the workspace. */
  readonly file?: FilePath;
  readonly line: number;
}

export interface NamedSymbol extends SymbolPlace {
  readonly name: string;
  /** Such as `function` or `class`. */
  readonly kind: string;
  /** In how many others it stands. */
  readonly depth: number;
}

/** `from` and `to` in the text as the editor has it; lines and columns from 1. */
export interface TextReplacement {
  readonly from: { readonly line: number; readonly column: number };
  readonly to: { readonly line: number; readonly column: number };
  readonly text: string;
}

export interface FileReplacements {
  readonly path: string;
  readonly file?: FilePath;
  readonly replacements: readonly TextReplacement[];
}

/** Each fails with a message the model can act on, also when nobody answers in time. */
export interface Languages {
  definition(at: TextPosition, signal: AbortSignal): Promise<Result<readonly SymbolPlace[]>>;
  references(at: TextPosition, signal: AbortSignal): Promise<Result<readonly SymbolPlace[]>>;
  /** What a rename would change; nothing is changed by asking. */
  rename(at: TextPosition, name: string, signal: AbortSignal): Promise<Result<readonly FileReplacements[]>>;
  outline(file: FilePath, signal: AbortSignal): Promise<Result<readonly NamedSymbol[]>>;
  find(query: string, signal: AbortSignal): Promise<Result<readonly NamedSymbol[]>>;
}

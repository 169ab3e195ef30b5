// The editor's language features, as far as the core needs them. Implemented in vscode/.
import { type Result } from '../../base/errors.ts';
import { type FilePath } from './workspace.ts';

/** Lines and columns are counted from 1. */
export interface TextPosition {
  readonly file: FilePath;
  readonly line: number;
  readonly column: number;
}

/** A position in a file, which may be outside the workspace, such as in a library. */
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
  /** How many other symbols enclose it. */
  readonly depth: number;
}

/** `from` and `to` are positions in the editor's text; lines and columns are counted from 1. */
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

/** Each method fails with a message that the model can act on, also if no language server answers in time. */
export interface Languages {
  definition(at: TextPosition, signal: AbortSignal): Promise<Result<readonly SymbolPlace[]>>;
  references(at: TextPosition, signal: AbortSignal): Promise<Result<readonly SymbolPlace[]>>;
  /** The changes that a rename would make; this makes none of them. */
  rename(at: TextPosition, name: string, signal: AbortSignal): Promise<Result<readonly FileReplacements[]>>;
  outline(file: FilePath, signal: AbortSignal): Promise<Result<readonly NamedSymbol[]>>;
  find(query: string, signal: AbortSignal): Promise<Result<readonly NamedSymbol[]>>;
}

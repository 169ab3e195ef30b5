// The editor's quick fixes, as far as the core needs them. Implemented in vscode/.
import { type Result } from '../../base/errors.ts';
import { type FilePath } from './workspace.ts';

/** The text of one file before and after a fix. */
export interface FixedText {
  /** An absolute path in the operating system's format. */
  readonly absolute: string;
  readonly before: string;
  readonly after: string;
}

export interface OfferedFix {
  readonly title: string;
  /** Its language server marks it as the right one. */
  readonly preferred: boolean;
  /** The changed files. Fails if the fix would do more than change text. */
  texts(): Promise<Result<readonly FixedText[]>>;
}

export interface FixableProblem {
  /** Counted from 1. */
  readonly line: number;
  readonly severity: 'error' | 'warning' | 'info';
  readonly message: string;
  readonly source?: string;
  readonly fixes: readonly OfferedFix[];
}

export interface QuickFixes {
  /** The file's current problems, each with the editor's fixes. Waits a while for the language servers to report. */
  of(
    file: FilePath,
    options: { readonly line?: number | undefined; readonly signal: AbortSignal },
  ): Promise<Result<readonly FixableProblem[]>>;
}

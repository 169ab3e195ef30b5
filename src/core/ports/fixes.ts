// What the core needs of the editor's quick fixes. Implemented in vscode/.
import { type Result } from '../../base/errors.ts';
import { type FilePath } from './workspace.ts';

/** What a fix would make of one file. */
export interface FixedText {
  /** As the machine says it. */
  readonly absolute: string;
  readonly before: string;
  readonly after: string;
}

export interface OfferedFix {
  readonly title: string;
  /** Its language server marks it as the right one. */
  readonly preferred: boolean;
  /** Fails where it would do more than change text. */
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
  /** The file's problems now, with what the editor offers for each; language servers are given a while to speak of it. */
  of(
    file: FilePath,
    options: { readonly line?: number | undefined; readonly signal: AbortSignal },
  ): Promise<Result<readonly FixableProblem[]>>;
}

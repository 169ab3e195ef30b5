// The editor's problems, as far as core needs them, and the port that reports them to conversations.
import { type Disposable } from '../../base/disposable.ts';
import { type Event } from '../../base/emitter.ts';
import { type FilePath } from './workspace.ts';

/** Hints do not count as problems. */
export type Severity = 'error' | 'warning' | 'info';

export interface Problem {
  readonly severity: Severity;
  readonly message: string;
  /** Counted from 1. */
  readonly line: number;
  readonly column: number;
  /** The reporting tool, such as `ts`. */
  readonly source?: string;
  readonly code?: string;
}

export interface FileProblems {
  readonly file: FilePath;
  /**
   * It is open as a document, and its server has analysed it as far as that can be known. Many servers analyse only
   * open files.
   */
  readonly open: boolean;
  readonly problems: readonly Problem[];
}

/**
 * `reported`: the diagnostics of these files may have changed. `changed`: they were created, changed or deleted on
 * disk, which the editor's watcher reports a while later. The others are about their documents.
 */
export interface ProblemsChange {
  readonly type: 'reported' | 'edited' | 'opened' | 'closed' | 'changed';
  readonly files: readonly FilePath[];
  /** For `changed`: how long ago, according to the disk; absent: not known. */
  readonly agoMilliseconds?: number;
}

/** The diagnostics of language servers as the editor has them. Implemented in vscode/. */
export interface Problems {
  /** Every file of the workspace with a problem. */
  all(): readonly FileProblems[];
  of(file: FilePath): FileProblems;
  /** The files that are open as documents. */
  opened(): readonly FilePath[];
  readonly onDidChange: Event<ProblemsChange>;
  /** Keeps these files open as documents, even if the editor closes them, until the next call names others. */
  keepOpen(files: readonly FilePath[]): void;
}

/** Reports problems to a conversation: exactly once, with the result of its own edit or as a notification. */
export interface ReportedProblems {
  /**
   * Holds the conversation's problem notifications back from now on, so that the result of the edit can report them.
   */
  beginEdit(conversation: string): EditWatch;
  /** Has the file analysed: opens it as a document and waits a while for the servers' reports. */
  look(file: FilePath, signal: AbortSignal): Promise<void>;
  /** Call when the model is shown the current problems of these files. */
  shown(conversation: string, files: readonly FilePath[]): Promise<void>;
}

export interface EditWatch extends Disposable {
  /**
   * Waits a while for the language servers' reports on the changed files and their dependents. Resolves to a
   * description of the changed problems for the model; undefined if none changed. Later reports are notifications.
   */
  settle(changed: readonly FilePath[], signal: AbortSignal): Promise<string | undefined>;
}

/** What is known about the problems of some files. */
export interface FoundProblems {
  /** Errors and warnings. */
  readonly count: number;
  /** Why there may be others. */
  readonly unknown?: string;
  /** Time alone makes more known after so many milliseconds. */
  readonly again?: number;
}

/** Tells an absence of problems apart from servers that have not reported yet. Implemented in producers/diagnostics/. */
export interface ProblemFacts {
  /** Files among them that have problems or were checked: they must be checked again before there are no problems. */
  concerned(isMeant: (path: string) => boolean): readonly string[];
  /** `before`: what `concerned` returned when the wait began, possibly before a restart. Has these files checked. */
  find(isMeant: (path: string) => boolean, before: readonly string[]): Promise<FoundProblems>;
  /** What is known about these files may have changed. */
  readonly onDidChange: Event<readonly FilePath[]>;
}

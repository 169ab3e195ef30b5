// The editor's tasks and tests, as far as core needs them: listing tasks, running one, and the end of each; running tests.
// Implemented in vscode/.
import { type Event } from '../../base/emitter.ts';
import { type Result } from '../../base/errors.ts';
import { type TaskView } from '../../protocol/page/taskView.ts';

export interface TaskInfo {
  /** As the editor prints it: `check`, `npm: build`. */
  readonly name: string;
  /** Only where several folders are open. */
  readonly folder?: string;
  readonly detail?: string;
  /** It runs in the background, such as a watcher. */
  readonly background: boolean;
}

/** What a task would run now. */
export interface InspectedTask {
  readonly view: TaskView;
  /** Another one as soon as the folder, the definition or a task that it depends on is another. */
  readonly fingerprint: string;
  /** False: the fingerprint cannot tell what will run, so an approval holds only once. */
  readonly isKnown: boolean;
}

export interface TaskProblem {
  readonly path: string;
  readonly line: number;
  readonly column: number;
  readonly severity: 'error' | 'warning' | 'info';
  readonly message: string;
}

export interface TaskEnd {
  readonly task: TaskInfo;
  /** A background task has finished a round, according to its problem matcher, and keeps running. */
  readonly goesOn: boolean;
  /** Absent: it was stopped, or has no process of its own. */
  readonly exitCode?: number;
  readonly milliseconds: number;
  /** The editor's problems that changed while it ran; only for tasks with problem matchers. */
  readonly problems: readonly TaskProblem[];
  /** The conversation that ran it. */
  readonly ranBy?: string;
  /** That conversation, if the result of its call reports this end. */
  readonly awaitedBy?: string;
}

export interface RunningTask {
  /**
   * Its end, or the first round of a background task. Undefined: a background task that cannot say when it is ready.
   */
  readonly finished: Promise<TaskEnd | undefined>;
  /** The last part of what it printed, without terminal controls. */
  output(): string;
  stop(): void;
  /**
   * Call when the tool call stops waiting: the end is then reported as a notification, also to the conversation that
   * ran it.
   */
  leave(): void;
}

export interface Tasks {
  list(): Promise<Result<readonly TaskInfo[]>>;
  /** `task` must come from `list`. */
  inspect(task: TaskInfo): Promise<Result<InspectedTask>>;
  /**
   * Resolves once it is started. `task` must come from `list`. It is inspected again right before, and does not start
   * unless `isApproved` accepts the fingerprint.
   */
  run(
    task: TaskInfo,
    options: {
      readonly conversation: string;
      isApproved(fingerprint: string): boolean;
      onOutput(text: string): void;
    },
  ): Promise<Result<RunningTask>>;
  /** Fires for every task of the window, including the user's. */
  readonly onDidEnd: Event<TaskEnd>;
}

export interface WantedTests {
  /** Absolute paths; absent: all files. */
  readonly files?: readonly string[];
  /** Parts of the names of tests or their groups; absent: all tests. */
  readonly testNames?: readonly string[];
}

export interface EditorTests {
  /** Resolves to what the editor says about the run. Fails if the user or the editor refused it, or it was stopped. */
  run(wanted: WantedTests, signal: AbortSignal): Promise<Result<string>>;
}

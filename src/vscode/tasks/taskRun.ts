// Decides what one run of a task comes to: exit code, duration, output, and the problems that changed while it ran.
import * as vscode from 'vscode';
import { type Clock } from '../../base/clock.ts';
import { type Disposable } from '../../base/disposable.ts';
import { type RunningTask, type TaskEnd, type TaskInfo, type TaskProblem, type Tasks } from '../../core/ports/tasks.ts';
import { type Matching } from './problemMatchers.ts';
import { type TaskOutput } from './taskOutput.ts';

/** What a matcher found reaches the editor's problems a moment after the task's end. */
const QUIET_MILLISECONDS = 250;
const LONGEST_WAIT_MILLISECONDS = 2000;
/** A background task that nothing says of when it is ready gets this long to fail at once. */
const UNKNOWN_READY_MILLISECONDS = 3000;
const MOST_FILES = 500;
const LINE_LIMIT = 2000;

export interface TaskRunDeps {
  readonly clock: Clock;
  report(error: unknown): void;
  ended(end: TaskEnd): void;
}

export class TaskRun implements Disposable {
  readonly #deps: TaskRunDeps;
  readonly #task: TaskInfo;
  readonly #matching: Matching;
  readonly #started: number;
  readonly #changed = new Map<string, vscode.Uri>();
  readonly #finished = Promise.withResolvers<TaskEnd | undefined>();
  #lastChange = 0;
  #exitCode: number | undefined;
  #output: TaskOutput | undefined;
  #onOutput: ((text: string) => void) | undefined;
  /** Who waits for it; nobody once its first round or its end was the result of a call. */
  #conversation: string | undefined;
  /** Who began it, also afterwards. */
  #ranBy: string | undefined;
  #line = '';
  #active: boolean;
  #roundBegan: number;
  #unknown: Disposable | undefined;

  constructor(deps: TaskRunDeps, task: TaskInfo, matching: Matching) {
    this.#deps = deps;
    this.#task = task;
    this.#matching = matching;
    this.#started = deps.clock.now();
    this.#roundBegan = this.#started;
    this.#active = matching.rounds?.activeOnStart === true;
  }

  /** Somebody waits for what it comes to. */
  waitedFor({ conversation, onOutput }: Parameters<Tasks['run']>[1], stop: () => void): RunningTask {
    this.#conversation = conversation;
    this.#ranBy = conversation;
    this.#onOutput = onOutput;
    if (this.#output !== undefined) onOutput(this.#output.text);
    if (this.#task.background && this.#matching.rounds === undefined) {
      this.#unknown = this.#deps.clock.after(UNKNOWN_READY_MILLISECONDS, () => {
        this.#conversation = undefined;
        this.#finished.resolve(undefined);
      });
    }
    return {
      finished: this.#finished.promise,
      output: () => this.#output?.text.trimEnd() ?? '',
      stop,
      leave: () => {
        this.#conversation = undefined;
        this.#onOutput = undefined;
      },
    };
  }

  prints(output: TaskOutput): void {
    this.#output = output;
    output.listen((text) => {
      this.#onOutput?.(text);
      if (this.#matching.rounds !== undefined) this.#follow(text);
    });
  }

  processEnded(exitCode: number | undefined): void {
    this.#exitCode = exitCode;
  }

  problemsChanged(uris: readonly vscode.Uri[]): void {
    this.#lastChange = this.#deps.clock.now();
    for (const uri of uris) if (this.#changed.size < MOST_FILES) this.#changed.set(uri.toString(), uri);
  }

  /** The task has ended. Resolves once what it came to is told. */
  async end(): Promise<void> {
    this.#unknown?.dispose();
    await this.#pause(Promise.resolve(this.#output?.ended), LONGEST_WAIT_MILLISECONDS);
    await this.#quiet();
    this.#tell({
      ...this.#came(this.#started),
      goesOn: false,
      ...(this.#exitCode !== undefined && { exitCode: this.#exitCode }),
    });
  }

  dispose(): void {
    this.#unknown?.dispose();
    this.#output?.drop();
  }

  /** A background task's matcher says by its output when a round begins and ends. */
  #follow(text: string): void {
    const { rounds } = this.#matching;
    const lines = (this.#line + text).split('\n');
    this.#line = (lines.pop() ?? '').slice(-LINE_LIMIT);
    for (const line of lines.map((one) => one.slice(0, LINE_LIMIT))) {
      if (rounds?.begins?.test(line) === true) {
        this.#active = true;
        this.#roundBegan = this.#deps.clock.now();
      }
      if (this.#active && rounds?.ends.test(line) === true) {
        this.#active = false;
        void this.#roundEnded().catch((error: unknown) => this.#deps.report(error));
      }
    }
  }

  async #roundEnded(): Promise<void> {
    await this.#quiet();
    this.#tell({ ...this.#came(this.#roundBegan), goesOn: true });
    // There is room for so many only.
    for (const [address, uri] of this.#changed) if (problemsOf(uri).length === 0) this.#changed.delete(address);
  }

  #came(since: number): Pick<TaskEnd, 'task' | 'milliseconds' | 'problems'> {
    const problems = this.#matching.any ? [...this.#changed.values()].flatMap(problemsOf) : [];
    return { task: this.#task, milliseconds: this.#deps.clock.now() - since, problems };
  }

  /** Only what somebody waits for is told by a result; the next is news again. */
  #tell(end: TaskEnd): void {
    const [toldTo, ranBy] = [this.#conversation, this.#ranBy];
    this.#conversation = undefined;
    this.#onOutput = undefined;
    this.#finished.resolve(end);
    this.#deps.ended({ ...end, ...(ranBy !== undefined && { ranBy }), ...(toldTo !== undefined && { toldTo }) });
  }

  async #quiet(): Promise<void> {
    const { clock } = this.#deps;
    if (!this.#matching.any) return;
    const began = clock.now();
    // One that failed has most probably something to say.
    const expects = this.#exitCode !== undefined && this.#exitCode !== 0;
    for (;;) {
      await this.#pause(new Promise(() => undefined), QUIET_MILLISECONDS);
      const now = clock.now();
      const quiet = now - this.#lastChange >= QUIET_MILLISECONDS && (!expects || this.#changed.size > 0);
      if (quiet || now - began >= LONGEST_WAIT_MILLISECONDS) return;
    }
  }

  #pause(until: Promise<unknown>, milliseconds: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = this.#deps.clock.after(milliseconds, resolve);
      void until.then(() => {
        timer.dispose();
        resolve();
      }, this.#deps.report);
    });
  }
}

const SEVERITIES: readonly TaskProblem['severity'][] = ['error', 'warning', 'info'];

function problemsOf(uri: vscode.Uri): TaskProblem[] {
  const path = vscode.workspace.asRelativePath(uri);
  return vscode.languages.getDiagnostics(uri).flatMap(({ range, severity: given, message }) => {
    const severity = SEVERITIES[given];
    // A hint is none.
    if (severity === undefined) return [];
    return [{ path, line: range.start.line + 1, column: range.start.character + 1, severity, message }];
  });
}

// One run of a task: detects its rounds and its end, collects its problems, and tracks which conversation waits for it.
import { pause, within } from '../../base/async.ts';
import { type Clock } from '../../base/clock.ts';
import { type Disposable } from '../../base/disposable.ts';
import { defined } from '../../base/json/defined.ts';
import { type RunningTask, type TaskEnd, type TaskInfo, type TaskProblem, type Tasks } from '../../core/ports/tasks.ts';
import { type TaskOutput } from './taskOutput.ts';
import { createContext, Script } from 'node:vm';

/** Problems that a matcher found reach the editor a moment after the task's end. */
const QUIET_MILLISECONDS = 250;
const LONGEST_WAIT_MILLISECONDS = 2000;
/** A background task without round patterns counts as started if it has not failed by then. */
const UNKNOWN_READY_MILLISECONDS = 3000;
const MOST_FILES = 500;
const LINE_LIMIT = 2000;

/** Patterns in the output with which a background task begins and ends a round. */
interface RoundPatterns {
  readonly activeOnStart: boolean;
  readonly begins: RegExp | undefined;
  readonly ends: RegExp;
}

/** Facts about a task from its problem matchers. */
export interface TaskMatchers {
  readonly any: boolean;
  readonly rounds?: RoundPatterns;
}

export interface TaskRunDeps {
  readonly clock: Clock;
  /** The editor's problems of a file, by its URI. */
  problemsOf(uri: string): readonly TaskProblem[];
  report(error: unknown): void;
  ended(end: TaskEnd): void;
}

export class TaskRun implements Disposable {
  readonly #deps: TaskRunDeps;
  readonly #task: TaskInfo;
  readonly #matchers: TaskMatchers;
  #rounds: RoundPatterns | undefined;
  readonly #started: number;
  /** URIs of files whose problems changed while it ran. */
  readonly #changed = new Set<string>();
  readonly #finished = Promise.withResolvers<TaskEnd | undefined>();
  #lastChange = 0;
  #exitCode: number | undefined;
  #output: TaskOutput | undefined;
  #onOutput: ((text: string) => void) | undefined;
  /** The conversation whose call waits for the first round or the end. */
  #awaitedBy: string | undefined;
  #ranBy: string | undefined;
  #line = '';
  #active: boolean;
  #roundBegan: number;
  #unknown: Disposable | undefined;

  constructor(deps: TaskRunDeps, task: TaskInfo, matchers: TaskMatchers) {
    this.#deps = deps;
    this.#task = task;
    this.#matchers = matchers;
    this.#started = deps.clock.now();
    this.#roundBegan = this.#started;
    this.#rounds = matchers.rounds;
    this.#active = matchers.rounds?.activeOnStart === true;
  }

  /** A conversation started it and waits for the result. */
  startedBy(
    { conversation, onOutput }: Omit<Parameters<Tasks['run']>[1], 'isApproved'>,
    stop: () => void,
  ): RunningTask {
    this.#awaitedBy = conversation;
    this.#ranBy = conversation;
    this.#onOutput = onOutput;
    if (this.#output !== undefined) onOutput(this.#output.text);
    if (this.#task.background && this.#matchers.rounds === undefined) {
      this.#unknown = this.#deps.clock.after(UNKNOWN_READY_MILLISECONDS, () => {
        this.#awaitedBy = undefined;
        this.#finished.resolve(undefined);
      });
    }
    return {
      finished: this.#finished.promise,
      output: () => this.#output?.text.trimEnd() ?? '',
      stop,
      leave: () => {
        this.#awaitedBy = undefined;
        this.#onOutput = undefined;
      },
    };
  }

  setOutput(output: TaskOutput): void {
    this.#output = output;
    output.listen((text) => {
      this.#onOutput?.(text);
      if (this.#rounds !== undefined) this.#matchRounds(this.#rounds, text);
    });
  }

  processEnded(exitCode: number | undefined): void {
    this.#exitCode = exitCode;
  }

  problemsChanged(uris: readonly string[]): void {
    this.#lastChange = this.#deps.clock.now();
    for (const uri of uris) if (this.#changed.size < MOST_FILES) this.#changed.add(uri);
  }

  /** The task has ended. Resolves once that is reported. */
  async end(): Promise<void> {
    this.#unknown?.dispose();
    if (this.#output !== undefined) await within(this.#deps.clock, LONGEST_WAIT_MILLISECONDS, this.#output.ended);
    await this.#problemsSettled();
    this.#finish({
      ...this.#collect(this.#started),
      goesOn: false,
      ...defined({ exitCode: this.#exitCode }),
    });
  }

  dispose(): void {
    this.#unknown?.dispose();
    this.#output?.drop();
  }

  #matchRounds({ begins, ends }: RoundPatterns, text: string): void {
    const parts = (this.#line + text).split('\n');
    this.#line = (parts.pop() ?? '').slice(-LINE_LIMIT);
    const lines = parts.map((line) => line.slice(0, LINE_LIMIT));
    if (lines.length === 0) return;
    const [begun, ended] = [begins === undefined ? [] : matchLines(begins, lines), matchLines(ends, lines)];
    if (begun === undefined || ended === undefined) return this.#giveUpRounds();
    for (const index of lines.keys()) {
      if (begun[index] === true) {
        this.#active = true;
        this.#roundBegan = this.#deps.clock.now();
      }
      if (this.#active && ended[index] === true) {
        this.#active = false;
        void this.#roundEnded().catch((error: unknown) => this.#deps.report(error));
      }
    }
  }

  /** Its rounds cannot be found any more: whoever waits for one gets what is known. */
  #giveUpRounds(): void {
    this.#rounds = undefined;
    this.#deps.report(
      new Error(`the background patterns of the task ${this.#task.name} take too long and are not used`),
    );
    void this.#roundEnded().catch((error: unknown) => this.#deps.report(error));
  }

  async #roundEnded(): Promise<void> {
    await this.#problemsSettled();
    this.#finish({ ...this.#collect(this.#roundBegan), goesOn: true });
    // Makes room, since the number of files is limited.
    for (const uri of this.#changed) if (this.#deps.problemsOf(uri).length === 0) this.#changed.delete(uri);
  }

  #collect(since: number): Pick<TaskEnd, 'task' | 'milliseconds' | 'problems'> {
    const problems = this.#matchers.any ? [...this.#changed].flatMap((uri) => this.#deps.problemsOf(uri)) : [];
    return { task: this.#task, milliseconds: this.#deps.clock.now() - since, problems };
  }

  /** The waiting call's result reports this end; the following ones are reported as notifications. */
  #finish(end: TaskEnd): void {
    const [awaitedBy, ranBy] = [this.#awaitedBy, this.#ranBy];
    this.#awaitedBy = undefined;
    this.#onOutput = undefined;
    this.#finished.resolve(end);
    this.#deps.ended({ ...end, ...defined({ ranBy, awaitedBy }) });
  }

  /** Resolves once the problems have stopped changing. */
  async #problemsSettled(): Promise<void> {
    const { clock } = this.#deps;
    if (!this.#matchers.any) return;
    const began = clock.now();
    // A failed task most likely has problems.
    const expects = this.#exitCode !== undefined && this.#exitCode !== 0;
    for (;;) {
      await pause(clock, QUIET_MILLISECONDS);
      const now = clock.now();
      const quiet = now - this.#lastChange >= QUIET_MILLISECONDS && (!expects || this.#changed.size > 0);
      if (quiet || now - began >= LONGEST_WAIT_MILLISECONDS) return;
    }
  }
}

const LONGEST_MILLISECONDS = 200;

/** The engine checks for interruption in regular expressions too, so the limit of a script also ends these. */
const matchAll = new Script('lines.map((line) => pattern.test(line))');

/** Whether each line matches; undefined if it took too long. */
function matchLines(pattern: RegExp, lines: readonly string[]): readonly boolean[] | undefined {
  try {
    const context = createContext({ pattern, lines });
    return matchAll.runInContext(context, { timeout: LONGEST_MILLISECONDS }) as boolean[];
  } catch (error) {
    const { code } = error as { readonly code?: unknown };
    if (code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return undefined;
    throw error;
  }
}

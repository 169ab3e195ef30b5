// Lists and runs the editor's tasks, and passes the events of each to its TaskRun.
import * as vscode from 'vscode';
import { type Clock } from '../../base/clock.ts';
import { type Disposable, DisposableStore } from '../../base/disposable.ts';
import { Emitter } from '../../base/emitter.ts';
import { describeError, failed, type Result, succeeded } from '../../base/errors.ts';
import { defined } from '../../base/json/defined.ts';
import {
  type InspectedTask,
  type RunningTask,
  type TaskEnd,
  type TaskInfo,
  type TaskProblem,
  type Tasks,
} from '../../core/ports/tasks.ts';
import { TaskRun } from '../../producers/tasks/taskRun.ts';
import { inspectTask } from './taskDefinition.ts';
import { matchersOf } from './problemMatchers.ts';
import { TERMINAL_SECTION } from './shell.ts';
import { TerminalApproval } from './terminalApproval.ts';
import { type WaitingApprovals } from '../waitingApprovals.ts';
import { TaskOutput } from '../../producers/tasks/taskOutput.ts';

export class EditorTasks implements Tasks, Disposable {
  readonly #clock: Clock;
  readonly #held = new DisposableStore();
  readonly #outputs: TaskOutputs;
  readonly #terminal: TerminalApproval;
  readonly #onDidEnd: Emitter<TaskEnd>;
  readonly #runs = new Map<vscode.TaskExecution, TaskRun>();
  /** Tasks that have ended: VS Code reports the end of some tasks twice. */
  readonly #ended = new WeakSet<vscode.TaskExecution>();
  readonly #report: (error: unknown) => void;

  constructor(clock: Clock, waiting: Pick<WaitingApprovals, 'ask' | 'withdraw'>, report: (error: unknown) => void) {
    this.#clock = clock;
    this.#report = report;
    this.#terminal = new TerminalApproval(waiting, report);
    this.#outputs = this.#held.add(new TaskOutputs(clock, report));
    this.#onDidEnd = this.#held.add(new Emitter(report));
    const { tasks, languages, workspace } = vscode;
    this.#held.add(
      workspace.onDidChangeConfiguration((event) => {
        if (event.affectsConfiguration(TERMINAL_SECTION)) this.#terminal.changed();
      }),
    );
    this.#held.add(tasks.onDidStartTask(({ execution }) => void this.#run(execution)));
    this.#held.add(
      tasks.onDidStartTaskProcess(({ execution, processId }) => {
        void this.#claim(this.#run(execution), processId).catch(report);
      }),
    );
    this.#held.add(
      tasks.onDidEndTaskProcess(({ execution, exitCode }) => this.#runs.get(execution)?.processEnded(exitCode)),
    );
    this.#held.add(tasks.onDidEndTask(({ execution }) => void this.#end(execution).catch(report)));
    this.#held.add(
      languages.onDidChangeDiagnostics(({ uris }) => {
        const changed = uris.map((uri) => uri.toString());
        for (const run of this.#runs.values()) run.problemsChanged(changed);
      }),
    );
  }

  get onDidEnd(): Tasks['onDidEnd'] {
    return this.#onDidEnd.event;
  }

  async list(): Promise<Result<readonly TaskInfo[]>> {
    const fetched = await fetchTasks();
    return fetched.ok ? succeeded(fetched.value.map(describeTask)) : fetched;
  }

  async inspect(info: TaskInfo): Promise<Result<InspectedTask>> {
    const found = await findTask(info);
    return found.ok ? succeeded(inspectTask(found.value.task, found.value.all)) : found;
  }

  async run(info: TaskInfo, options: Parameters<Tasks['run']>[1]): Promise<Result<RunningTask>> {
    const found = await findTask(info);
    if (!found.ok) return found;
    const { task, all } = found.value;
    if (!options.isApproved(inspectTask(task, all).fingerprint)) {
      return failed('stale', `The task “${info.name}” has changed since it was approved. It was not run.`);
    }
    if (vscode.tasks.taskExecutions.some((execution) => isSameTask(describeTask(execution.task), info))) {
      return failed(
        'running',
        `The task “${info.name}” is running already.`,
        'Wait for its end: you are notified of it.',
      );
    }
    const { missing, canBeShown } = this.#terminal;
    if (missing.length > 0) {
      if (canBeShown) this.#terminal.offer();
      return failed(
        'not_approved',
        `The task “${info.name}” was not run: the workspace settings choose the program or environment of its terminal (${missing.join(', ')}), and the user has not approved that.`,
        canBeShown
          ? 'The user is asked above the chat. Run the task again after the approval.'
          : 'These settings are too long to be shown, so they cannot be approved. The user can shorten or remove them.',
      );
    }
    try {
      const execution = await vscode.tasks.executeTask(task);
      return succeeded(this.#run(execution).startedBy(options, () => execution.terminate()));
    } catch (error) {
      return failed('not_started', `The task “${info.name}” could not be started: ${describeError(error)}.`);
    }
  }

  dispose(): void {
    for (const run of this.#runs.values()) run.dispose();
    this.#runs.clear();
    this.#held.dispose();
  }

  #run(execution: vscode.TaskExecution): TaskRun {
    const known = this.#runs.get(execution);
    if (known !== undefined) return known;
    const { task } = execution;
    const ended = (end: TaskEnd) => this.#onDidEnd.fire(end);
    const deps = { clock: this.#clock, problemsOf, report: this.#report, ended };
    const run = new TaskRun(deps, describeTask(task), matchersOf(task));
    this.#runs.set(execution, run);
    return run;
  }

  async #claim(run: TaskRun, processId: number): Promise<void> {
    const output = await this.#outputs.claim(processId);
    if (output !== undefined) run.setOutput(output);
  }

  async #end(execution: vscode.TaskExecution): Promise<void> {
    if (this.#ended.has(execution)) return;
    this.#ended.add(execution);
    const run = this.#run(execution);
    await run.end();
    this.#runs.delete(execution);
    run.dispose();
  }
}

async function fetchTasks(): Promise<Result<vscode.Task[]>> {
  try {
    return succeeded(await vscode.tasks.fetchTasks());
  } catch (error) {
    return failed('no_tasks', `The editor could not list its tasks: ${describeError(error)}.`);
  }
}

async function findTask(info: TaskInfo): Promise<Result<{ task: vscode.Task; all: readonly vscode.Task[] }>> {
  const fetched = await fetchTasks();
  if (!fetched.ok) return fetched;
  const task = fetched.value.find((one) => isSameTask(describeTask(one), info));
  if (task === undefined) return failed('not_found', `There is no task “${info.name}” any more.`);
  return succeeded({ task, all: fetched.value });
}

/** Tasks of tasks.json are named without a source, as in the editor's own lists. */
function describeTask({ name, source, scope, detail, isBackground }: vscode.Task): TaskInfo {
  const several = (vscode.workspace.workspaceFolders ?? []).length > 1;
  return {
    name: source === 'Workspace' || source === 'User' ? name : `${source}: ${name}`,
    background: isBackground,
    ...defined({ detail }),
    ...(several && typeof scope === 'object' && { folder: scope.name }),
  };
}

function isSameTask(a: TaskInfo, b: TaskInfo): boolean {
  return a.name === b.name && a.folder === b.folder;
}

const SEVERITIES: readonly TaskProblem['severity'][] = ['error', 'warning', 'info'];

function problemsOf(address: string): TaskProblem[] {
  const uri = vscode.Uri.parse(address);
  const path = vscode.workspace.asRelativePath(uri);
  return vscode.languages.getDiagnostics(uri).flatMap(({ range, severity: given, message }) => {
    const severity = SEVERITIES[given];
    // Hints are not problems.
    if (severity === undefined) return [];
    return [{ path, line: range.start.line + 1, column: range.start.character + 1, severity, message }];
  });
}

/** Output that no task has claimed after this time is dropped; most commands in terminals are not tasks. */
const CLAIM_MILLISECONDS = 30_000;

/** Reads every execution in a terminal from its start, since output that was not read then is lost. */
class TaskOutputs implements Disposable {
  readonly #clock: Clock;
  readonly #report: (error: unknown) => void;
  readonly #held = new DisposableStore();
  readonly #unclaimed = new Map<vscode.Terminal, { output: TaskOutput; timer: Disposable }>();

  constructor(clock: Clock, report: (error: unknown) => void) {
    this.#clock = clock;
    this.#report = report;
    this.#held.add(
      vscode.window.onDidStartTerminalShellExecution(({ terminal, execution }) => this.#begin(terminal, execution)),
    );
    this.#held.add(vscode.window.onDidCloseTerminal((terminal) => this.#forget(terminal)));
  }

  /** The output of the terminal in which this process runs, if it can be read at all. */
  async claim(processId: number): Promise<TaskOutput | undefined> {
    for (const [terminal, { output }] of this.#unclaimed) {
      if ((await terminal.processId) !== processId) continue;
      this.#unclaimed.get(terminal)?.timer.dispose();
      this.#unclaimed.delete(terminal);
      return output;
    }
    return undefined;
  }

  dispose(): void {
    for (const terminal of [...this.#unclaimed.keys()]) this.#forget(terminal);
    this.#held.dispose();
  }

  #begin(terminal: vscode.Terminal, execution: vscode.TerminalShellExecution): void {
    this.#forget(terminal);
    const output = new TaskOutput();
    const timer = this.#clock.after(CLAIM_MILLISECONDS, () => this.#forget(terminal));
    this.#unclaimed.set(terminal, { output, timer });
    // A command that has ended can be claimed until the next one starts in its terminal.
    void this.#read(execution, output)
      .finally(() => timer.dispose())
      .catch(this.#report);
  }

  async #read(execution: vscode.TerminalShellExecution, output: TaskOutput): Promise<void> {
    try {
      for await (const data of execution.read()) {
        if (output.isDropped) break;
        output.add(data);
      }
    } finally {
      output.end();
    }
  }

  #forget(terminal: vscode.Terminal): void {
    const unclaimed = this.#unclaimed.get(terminal);
    unclaimed?.timer.dispose();
    unclaimed?.output.drop();
    this.#unclaimed.delete(terminal);
  }
}

// Reads the output of terminals from their first byte, and passes it to the task whose process runs there.
import * as vscode from 'vscode';
import { type Clock } from '../../base/clock.ts';
import { type Disposable, DisposableStore } from '../../base/disposable.ts';
import { TaskOutput } from '../../producers/tasks/taskOutput.ts';

/** Output that no task has claimed after this time is dropped; most commands in terminals are not tasks. */
const CLAIM_MILLISECONDS = 30_000;

/** Reads every execution in a terminal from its start, since output that was not read then is lost. */
export class TaskOutputs implements Disposable {
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

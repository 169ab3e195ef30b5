// Decides which terminal's output is a task's: it is read from its first byte and belongs to the task whose process the terminal has.
import * as vscode from 'vscode';
import { type Clock } from '../../base/clock.ts';
import { type Disposable, DisposableStore } from '../../base/disposable.ts';
import { withoutEscapes } from '../../base/terminalText.ts';

/** Of the output, this many of the last characters are kept. */
const KEPT = 100_000;
/** Until a task has claimed it; most commands in terminals are no tasks. */
const CLAIM_MILLISECONDS = 30_000;

export class TaskOutput {
  #text = '';
  #listener: (text: string) => void = () => undefined;
  #dropped = false;
  readonly #ended = Promise.withResolvers<void>();

  /** Resolves once nothing more comes. */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  get text(): string {
    return readable(this.#text).slice(-KEPT);
  }

  /** What was there before comes first. */
  listen(listener: (text: string) => void): void {
    this.#listener = listener;
    if (this.#text !== '') listener(readable(this.#text));
  }

  /** Nobody will ever ask. */
  drop(): void {
    this.#dropped = true;
  }

  get isDropped(): boolean {
    return this.#dropped;
  }

  add(data: string): void {
    this.#text += data;
    // Not at each piece: that would copy all of it each time.
    if (this.#text.length > 4 * KEPT) this.#text = this.#text.slice(-2 * KEPT);
    this.#listener(readable(data));
  }

  end(): void {
    this.#ended.resolve();
  }
}

function readable(text: string): string {
  return withoutEscapes(text).replaceAll('\r\n', '\n');
}

/** Every execution in a terminal is read from its start, since what was not read then is gone; what no task claims is dropped. */
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
    // Once it has ended nothing more is read; it may be claimed until the next begins there.
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

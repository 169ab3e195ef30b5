// Commands in the editor's terminals as plain data, from shell integration: start, output and end.
import * as vscode from 'vscode';
import { ignore, Sequences, within } from '../../base/async.ts';
import { type EndedCommand, type Terminals } from '../../core/ports/sources.ts';
import { realClock } from '../../node/realClock.ts';
import { absoluteOf } from '../workspace/fileUris.ts';
import { printedByLastCommand } from './lastCommand.ts';

/** How many characters of output are kept for each running command. */
const KEPT = 20_000;
/** A command is reported after this long even if the editor has not answered. */
const LONGEST_WAIT_MILLISECONDS = 10_000;
/** The shell's own mark where output begins; every complete stream starts with it. */
const BEGINNING = /^\u001b\][16]33;C/;
/** The editor's tool that reads the active terminal. */
const LAST_COMMAND_TOOL = 'terminal_last_command';

/** Reads the output of each command from its start, because it cannot be read later. */
export const editorTerminals = (report: (error: unknown) => void): Terminals => ({
  onDidEnd: (listener) => {
    const outputs = new WeakMap<vscode.TerminalShellExecution, Output>();
    const newest = new WeakMap<vscode.Terminal, vscode.TerminalShellExecution>();
    /** Keeps the order for each terminal: a failure must not be reported after the success that followed it. */
    const reporting = new Sequences<vscode.Terminal>();
    const tasks = new TaskTerminals();
    const isLast = (execution: vscode.TerminalShellExecution, terminal: vscode.Terminal) =>
      newest.get(terminal) === execution && vscode.window.activeTerminal === terminal;
    const started = vscode.window.onDidStartTerminalShellExecution(({ execution, terminal }) => {
      outputs.set(execution, new Output(execution));
      newest.set(terminal, execution);
    });
    const ended = vscode.window.onDidEndTerminalShellExecution(({ execution, exitCode, terminal }) => {
      const output = outputs.get(execution);
      const { cwd, commandLine } = execution;
      const reportEnd = async () => {
        if (await tasks.have(terminal)) return;
        await inTime(output?.ended);
        const failed = exitCode !== undefined && exitCode !== 0;
        const shown =
          failed && output?.isWhole !== true && isLast(execution, terminal)
            ? await inTime(printedOnScreen(commandLine.value, exitCode))
            : undefined;
        const ended: EndedCommand = {
          terminal: terminal.name,
          commandLine: commandLine.value,
          exitCode,
          folder: cwd === undefined ? undefined : absoluteOf(cwd),
          // The answer may be about another command that began meanwhile.
          output: (isLast(execution, terminal) ? shown : undefined) ?? output?.text ?? '',
        };
        listener(ended);
      };
      void reporting.run(terminal, reportEnd).catch(report);
    });
    return vscode.Disposable.from(started, ended, tasks);
  },
});

/** The last part of the output of one command. */
class Output {
  /** Resolves at the end of the output. */
  readonly ended: Promise<void>;
  #text = '';
  #beginning: string | undefined;

  constructor(execution: vscode.TerminalShellExecution) {
    // Closing a terminal ends its stream with an error.
    this.ended = this.#read(execution.read()).catch(ignore);
  }

  get text(): string {
    return this.#text;
  }

  /**
   * False if the beginning is missing: in a remote or browser window, start, output and end of a quick command arrive
   * in one message, and its output is gone before `read` has begun to listen.
   */
  get isWhole(): boolean {
    return BEGINNING.test(this.#beginning ?? '');
  }

  async #read(chunks: AsyncIterable<string>): Promise<void> {
    for await (const chunk of chunks) {
      this.#beginning ??= chunk;
      this.#text += chunk;
      if (this.#text.length > 2 * KEPT) this.#text = this.#text.slice(-KEPT);
    }
  }
}

/** Recognizes the terminals of tasks, which the tasks producer reports. */
class TaskTerminals implements vscode.Disposable {
  readonly #processes = new Set<number>();
  readonly #terminals = new WeakSet<vscode.Terminal>();
  readonly #listening: vscode.Disposable;

  constructor() {
    this.#listening = vscode.tasks.onDidStartTaskProcess(({ processId }) => this.#processes.add(processId));
  }

  async have(terminal: vscode.Terminal): Promise<boolean> {
    const process = await terminal.processId;
    if (process !== undefined && this.#processes.delete(process)) this.#terminals.add(terminal);
    return this.#terminals.has(terminal);
  }

  dispose(): void {
    this.#listening.dispose();
  }
}

async function printedOnScreen(commandLine: string, exitCode: number): Promise<string | undefined> {
  if (!vscode.lm.tools.some(({ name }) => name === LAST_COMMAND_TOOL)) return undefined;
  const options = { input: {}, toolInvocationToken: undefined };
  const { content } = await vscode.lm.invokeTool(LAST_COMMAND_TOOL, options);
  const texts = content.map((part) => (part instanceof vscode.LanguageModelTextPart ? part.value : ''));
  return printedByLastCommand(texts.join(''), commandLine, exitCode);
}

/** Undefined if the promise is rejected or not resolved in time. */
function inTime<T>(promised: Promise<T> | undefined): Promise<T | undefined> {
  return within(realClock, LONGEST_WAIT_MILLISECONDS, Promise.resolve(promised)).catch(ignore);
}

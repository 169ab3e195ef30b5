// Drives the editor at a person's pace: reads, types, saves, uses terminals and tasks. Runs inside the extension host.
import { setTimeout as sleep } from 'node:timers/promises';
import * as vscode from 'vscode';

const SECONDS_PER_LETTER = 0.17;
const SECONDS_PER_LINE = 1.5;

export interface PersonOptions {
  readonly folder: vscode.Uri;
  /** Pauses are shortened by this factor. */
  readonly faster: number;
}

export class Person {
  readonly #options: PersonOptions;
  readonly #began = Date.now();
  #terminal: vscode.Terminal | undefined;

  constructor(options: PersonOptions) {
    this.#options = options;
  }

  async pause(seconds: number): Promise<void> {
    await sleep((seconds * 1000) / this.#options.faster);
  }

  /** Waits for this minute of the hour. */
  async until(minute: number): Promise<void> {
    await sleep(Math.max(0, this.#began + (minute * 60_000) / this.#options.faster - Date.now()));
  }

  /** Opens a file and reads it for a while. */
  async reads(path: string, seconds: number): Promise<void> {
    await this.#show(path);
    await this.pause(seconds);
  }

  /** Types after the text `behind`, in place of the text `instead`, or at the end of the file. */
  async types(
    path: string,
    text: string,
    { behind, instead }: { behind?: string; instead?: string } = {},
  ): Promise<void> {
    const editor = await this.#show(path);
    const { document } = editor;
    const known = behind ?? instead;
    const found = known === undefined ? document.getText().length : document.getText().indexOf(known);
    if (found < 0) throw new Error(`${path} has no “${known ?? ''}”: ${document.getText()}`);
    const start = document.positionAt(found + (behind?.length ?? 0));
    const end = document.positionAt(found + (known?.length ?? 0));
    editor.selection = new vscode.Selection(start, end);
    for (const letter of text) {
      await vscode.commands.executeCommand('type', { text: letter });
      await this.pause(letter === '\n' ? SECONDS_PER_LINE : SECONDS_PER_LETTER);
    }
  }

  async undoes(): Promise<void> {
    await vscode.commands.executeCommand('undo');
  }

  async saves(): Promise<void> {
    await vscode.commands.executeCommand('workbench.action.files.save');
    await this.pause(1);
  }

  async closes(): Promise<void> {
    await vscode.commands.executeCommand('workbench.action.closeActiveEditor');
  }

  async makes(path: string, text: string): Promise<void> {
    const edit = new vscode.WorkspaceEdit();
    edit.createFile(this.#uri(path));
    await vscode.workspace.applyEdit(edit);
    await this.types(path, text);
  }

  async renames(from: string, to: string): Promise<void> {
    const edit = new vscode.WorkspaceEdit();
    edit.renameFile(this.#uri(from), this.#uri(to));
    await vscode.workspace.applyEdit(edit);
    await this.pause(3);
    await vscode.workspace.saveAll();
  }

  /** Runs the command in the terminal; resolves with its exit code. */
  async runs(commandLine: string): Promise<number | undefined> {
    const { shell, terminal } = await this.#shell();
    terminal.show(true);
    // The listener is added first, since a command may end at once.
    const running: { execution?: vscode.TerminalShellExecution } = {};
    const ended = new Promise<number | undefined>((resolve) => {
      const listening = vscode.window.onDidEndTerminalShellExecution((end) => {
        if (end.execution !== running.execution) return;
        listening.dispose();
        resolve(end.exitCode);
      });
    });
    running.execution = shell.executeCommand(commandLine);
    const exitCode = await ended;
    await this.pause(2);
    return exitCode;
  }

  /** Resolves when the task ends; a background task runs until `stops` is called. */
  async runsTask(name: string, background = false): Promise<void> {
    const task = (await vscode.tasks.fetchTasks()).find((one) => one.name === name);
    if (task === undefined) throw new Error(`there is no task ${name}`);
    const ended = new Promise<void>((resolve) => {
      const listening = vscode.tasks.onDidEndTask(({ execution }) => {
        if (execution.task.name !== name) return;
        listening.dispose();
        resolve();
      });
    });
    await vscode.tasks.executeTask(task);
    if (!background) await ended;
    await this.pause(2);
  }

  async stops(name: string): Promise<void> {
    vscode.tasks.taskExecutions.find(({ task }) => task.name === name)?.terminate();
    await this.pause(2);
  }

  async #show(path: string): Promise<vscode.TextEditor> {
    const document = await vscode.workspace.openTextDocument(this.#uri(path));
    return vscode.window.showTextDocument(document, { preview: true });
  }

  #uri(path: string): vscode.Uri {
    return vscode.Uri.joinPath(this.#options.folder, path);
  }

  async #shell(): Promise<{ shell: vscode.TerminalShellIntegration; terminal: vscode.Terminal }> {
    const terminal = (this.#terminal ??= vscode.window.createTerminal({ name: 'bash', shellPath: '/bin/bash' }));
    if (terminal.shellIntegration !== undefined) return { shell: terminal.shellIntegration, terminal };
    const shell = await new Promise<vscode.TerminalShellIntegration>((resolve) => {
      const listening = vscode.window.onDidChangeTerminalShellIntegration((event) => {
        if (event.terminal !== terminal) return;
        listening.dispose();
        resolve(event.shellIntegration);
      });
      terminal.show(true);
    });
    return { shell, terminal };
  }
}

// Commands in the editor's terminals as plain data: what shell integration says of their beginning, output and end.
import { setTimeout as pause } from 'node:timers/promises';
import * as vscode from 'vscode';
import { type Terminals } from '../../core/sourcePorts.ts';
import { absoluteOf } from '../fileUris.ts';

/** Characters of output that are kept of each command that runs. */
const KEPT = 20_000;
const STREAM_MILLISECONDS = 1000;

/** Reading begins when a command does: what it printed before is not there to be read later. */
export const editorTerminals: Terminals = {
  onDidEnd: (listener) => {
    const outputs = new Map<vscode.TerminalShellExecution, { text: string; ended: Promise<void> }>();
    const started = vscode.window.onDidStartTerminalShellExecution(({ execution }) => {
      const output = { text: '', ended: Promise.resolve() };
      const read = async () => {
        for await (const chunk of execution.read()) {
          output.text += chunk;
          if (output.text.length > 2 * KEPT) output.text = output.text.slice(-KEPT);
        }
      };
      // A terminal that is closed ends its stream in its own way.
      output.ended = read().catch(() => undefined);
      outputs.set(execution, output);
    });
    const ended = vscode.window.onDidEndTerminalShellExecution(({ execution, exitCode, terminal }) => {
      const output = outputs.get(execution);
      outputs.delete(execution);
      const { cwd, commandLine } = execution;
      const tell = () =>
        listener({
          terminal: terminal.name,
          commandLine: commandLine.value,
          exitCode,
          folder: cwd === undefined ? undefined : absoluteOf(cwd),
          output: output?.text ?? '',
        });
      // A stream that does not end must not keep its command from being told.
      void Promise.race([output?.ended, pause(STREAM_MILLISECONDS)]).then(tell, tell);
    });
    return vscode.Disposable.from(started, ended);
  },
};

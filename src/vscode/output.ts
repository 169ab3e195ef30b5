// The output channel behind the Logger port.
import * as vscode from 'vscode';
import { type Logger } from '../core/ports/ports.ts';

export interface Output extends Logger {
  show(): void;
  dispose(): void;
}

export function createOutput(): Output {
  const channel = vscode.window.createOutputChannel('Earshot', { log: true });
  return {
    debug: (message) => channel.debug(message),
    info: (message) => channel.info(message),
    warn: (message) => channel.warn(message),
    error: (message, error) => {
      const detail = error instanceof Error ? (error.stack ?? error.message) : error;
      if (detail === undefined) channel.error(message);
      else channel.error(message, detail);
    },
    show: () => channel.show(),
    dispose: () => channel.dispose(),
  };
}

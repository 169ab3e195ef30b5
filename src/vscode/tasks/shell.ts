// Reads the shell and the environment of the user's terminals, in which commands run too.
import * as vscode from 'vscode';
import { shellProgram, userEnvironment } from '../../node/shellProgram.ts';
import { type UserShell } from '../../node/supervision/supervision.ts';

/** The part of a terminal setting's name that says for which system it is. */
export const PLATFORM = process.platform === 'win32' ? 'windows' : process.platform === 'darwin' ? 'osx' : 'linux';

export function userShell(): UserShell {
  const settings = vscode.workspace.getConfiguration('terminal.integrated');
  // The automation profile if there is one, else the shell of a new terminal.
  const automation = settings.get<{ path?: unknown } | null>(`automationProfile.${PLATFORM}`);
  const path = typeof automation?.path === 'string' ? automation.path : vscode.env.shell;
  return {
    shell: shellProgram(path || (process.env['SHELL'] ?? '')),
    env: userEnvironment(process.env, settings.get<Record<string, string | null>>(`env.${PLATFORM}`)),
  };
}

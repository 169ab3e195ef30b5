// Reads which shell and environment the user's own terminals have: commands run in the same.
import * as vscode from 'vscode';
import { shellProgram, userEnvironment } from '../../node/shellProgram.ts';
import { type UserShell } from '../../node/supervision.ts';

const PLATFORM = process.platform === 'win32' ? 'windows' : process.platform === 'darwin' ? 'osx' : 'linux';

export function userShell(): UserShell {
  const settings = vscode.workspace.getConfiguration('terminal.integrated');
  // For programs that run commands there is a profile of its own; otherwise what a new terminal would open.
  const automation = settings.get<{ path?: unknown } | null>(`automationProfile.${PLATFORM}`);
  const path = typeof automation?.path === 'string' ? automation.path : vscode.env.shell;
  return {
    shell: shellProgram(path || (process.env['SHELL'] ?? '')),
    env: userEnvironment(process.env, settings.get<Record<string, string | null>>(`env.${PLATFORM}`)),
  };
}

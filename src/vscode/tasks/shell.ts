// Reads the shell and the environment of the user's terminals, in which commands run too. What the workspace's settings
// say of them is not used: it would choose a program unasked.
import type * as vscode from 'vscode';
import { platform } from '../../node/platform/platform.ts';
import { shellProgram, userEnvironment } from '../../node/shellProgram.ts';
import { type UserShell } from '../../node/supervision/supervision.ts';
import { terminalShell } from '../../node/terminalProfile.ts';
import { userSetting, workspaceSetting } from '../configuration.ts';

export const TERMINAL_SECTION = 'terminal.integrated';
/** The part of a terminal setting's name that says for which system it is. */
const PLATFORM = platform.programs.settings;

const AUTOMATION = `terminal.integrated.automationProfile.${PLATFORM}`;
const DEFAULT = `terminal.integrated.defaultProfile.${PLATFORM}`;
const PROFILES = `terminal.integrated.profiles.${PLATFORM}`;
const ENVIRONMENT = `terminal.integrated.env.${PLATFORM}`;

/** Computed without `vscode.env.shell`, which follows the workspace's settings, also for a while after they are gone. */
export function userShell(): UserShell {
  const path = terminalShell({
    automationProfile: userSetting(AUTOMATION),
    defaultProfile: userSetting(DEFAULT),
    profiles: userSetting(PROFILES),
  });
  return { shell: shellProgram(path), env: environment() };
}

/** Options for a terminal of the user, in which the workspace's settings choose neither the program nor the environment. */
export function userTerminal(): Pick<vscode.TerminalOptions, 'shellPath' | 'env' | 'strictEnv'> {
  if (Object.keys(workspaceTerminal()).length === 0) return {};
  const profiles = { defaultProfile: userSetting(DEFAULT), profiles: userSetting(PROFILES) };
  const shellPath = terminalShell({ automationProfile: undefined, ...profiles });
  // Without `strictEnv` the editor adds the workspace's variables, and remote windows ignore it: null removes these there.
  const added = Object.keys(workspaceSetting(ENVIRONMENT) ?? {});
  const removed = Object.fromEntries(added.map((name) => [name, null] as const));
  return { shellPath, env: { ...removed, ...environment() }, strictEnv: true };
}

function environment(): NodeJS.ProcessEnv {
  const env = userSetting(ENVIRONMENT) as Readonly<Record<string, string | null>> | undefined;
  return userEnvironment(process.env, env);
}

/** The workspace's settings that choose the program or the environment of terminals and tasks, by their names. */
export function workspaceTerminal(): Readonly<Record<string, unknown>> {
  const values = {
    [AUTOMATION]: workspaceSetting(AUTOMATION),
    [DEFAULT]: workspaceSetting(DEFAULT),
    [PROFILES]: workspaceSetting(PROFILES),
    [ENVIRONMENT]: workspaceSetting(ENVIRONMENT),
  };
  return Object.fromEntries(
    Object.entries(values).filter(
      ([, value]) => value !== undefined && value !== null && JSON.stringify(value) !== '{}',
    ),
  );
}

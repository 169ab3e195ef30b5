// Finds the shell that terminal settings in VS Code's format name.
import { existsSync } from 'node:fs';
import { userInfo } from 'node:os';
import { type Programs } from './platform/parts.ts';
import { platform } from './platform/platform.ts';

/** `terminal.integrated.*` for this platform, as in the settings; every value may be missing or wrong. */
export interface TerminalValues {
  readonly automationProfile: unknown;
  readonly defaultProfile: unknown;
  readonly profiles: unknown;
}

interface System {
  readonly programs: Pick<Programs, 'isAbsolute' | 'defaultShell'>;
  readonly env: NodeJS.ProcessEnv;
  exists(path: string): boolean;
  /** Of the user's account; empty if it has none. */
  loginShell(): string;
}

const THIS_SYSTEM: System = {
  programs: platform.programs,
  env: process.env,
  exists: existsSync,
  loginShell: () => userInfo().shell ?? '',
};

/** The programs that a profile of Windows names by its `source`, the best first. */
const SOURCES = {
  PowerShell: [
    '${env:ProgramFiles}\\PowerShell\\7\\pwsh.exe',
    '${env:SystemRoot}\\System32\\WindowsPowerShell\\v1.0\\powershell.exe',
  ],
  'Git Bash': ['${env:ProgramFiles}\\Git\\bin\\bash.exe', '${env:LocalAppData}\\Programs\\Git\\bin\\bash.exe'],
};

/** The automation profile, else the default profile, else what VS Code uses without settings, as outside the editor. */
export function terminalShell(values: Partial<TerminalValues> = {}, system: System = THIS_SYSTEM): string {
  const { automationProfile, defaultProfile, profiles } = values;
  const named = typeof defaultProfile === 'string' ? field(profiles, defaultProfile) : undefined;
  return programOf(automationProfile, system) ?? programOf(named, system) ?? withoutProfile(system);
}

function withoutProfile(system: System): string {
  const { env, loginShell, programs } = system;
  return programs.defaultShell({ env, loginShell, sourceProgram: (source) => programOf({ source }, system) });
}

function programOf(profile: unknown, system: System): string | undefined {
  const source = field(profile, 'source');
  const path = field(profile, 'path') ?? (typeof source === 'string' ? field(SOURCES, source) : undefined);
  return [path]
    .flat()
    .map((one) => (typeof one === 'string' ? replaceEnvironment(one, system.env) : ''))
    .find((one) => isUsable(one, system));
}

/** A relative path would name a different program in each folder. */
function isUsable(path: string, { programs, exists }: System): boolean {
  const isName = path !== '' && !/[\\/]/.test(path);
  return isName || (programs.isAbsolute(path) && exists(path));
}

function replaceEnvironment(text: string, env: NodeJS.ProcessEnv): string {
  return text.replace(/\$\{env:([^{}]{1,100})\}/g, (_whole, name: string) => {
    const found = Object.keys(env).find((one) => one.toUpperCase() === name.toUpperCase());
    return (found === undefined ? undefined : env[found]) ?? '';
  });
}

function field(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
  return (value as Record<string, unknown>)[name] ?? undefined;
}

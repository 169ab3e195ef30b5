// Starts programs so that all processes that they start can be ended with them.
import { type ChildProcess, spawn } from 'node:child_process';
import { platform } from './platform/platform.ts';
import { commandArguments, type ShellProgram } from './shellProgram.ts';

export interface ShellCommand {
  readonly command: string;
  readonly shell: ShellProgram;
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
  /** If false, the input is closed: with an open input some programs wait forever or read from it instead of files. */
  readonly input: boolean;
}

export function spawnShell({ command, shell, folder, env, input }: ShellCommand): ChildProcess {
  const { args, isVerbatim } = commandArguments(shell, command);
  return start(shell.path, args, { cwd: folder, env, input, isVerbatim });
}

/** Starts a program without a shell; `fed`: its input is a pipe. Throws if an argument cannot be passed to it. */
export function spawnProgram(
  program: string,
  args: readonly string[],
  folder: string,
  fed = false,
  env: NodeJS.ProcessEnv = process.env,
): ChildProcess {
  const { file, args: given, isVerbatim } = platform.programs.start(program, args);
  return start(file, given, { cwd: folder, env, input: fed, isVerbatim });
}

interface Start {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly input: boolean;
  readonly isVerbatim: boolean;
}

function start(program: string, args: readonly string[], { cwd, env, input, isVerbatim }: Start): ChildProcess {
  const { options, leash } = platform.programs;
  return spawn(program, args, {
    ...options,
    cwd,
    env,
    stdio: [input ? 'pipe' : 'ignore', 'pipe', 'pipe', ...leash],
    windowsHide: true,
    windowsVerbatimArguments: isVerbatim,
  });
}

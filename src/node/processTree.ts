// Decides how a command is started so that it can be ended with everything it started.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';

/** In a process group of its own, through the user's shell; output as it comes, no input. */
export function spawnShell(command: string, folder: string): ChildProcess {
  return spawn(command, {
    cwd: folder,
    shell: shellOf(process.platform),
    detached: process.platform !== 'win32',
    stdio: ['ignore', 'pipe', 'pipe'],
    windowsHide: true,
  });
}

/** A program with its arguments, without a shell; `fed`: it is given its input. */
export function spawnProgram(program: string, args: readonly string[], folder: string, fed = false): ChildProcess {
  return spawn(program, args, {
    cwd: folder,
    detached: process.platform !== 'win32',
    stdio: [fed ? 'pipe' : 'ignore', 'pipe', 'pipe'],
    windowsHide: true,
  });
}

function shellOf(platform: string): string | true {
  return platform === 'win32' ? true : (process.env['SHELL'] ?? '/bin/sh');
}

/** Ends the whole tree; `force` leaves it no choice. */
export function endTree(child: ChildProcess, force: boolean): void {
  if (child.pid === undefined) return;
  try {
    if (process.platform === 'win32')
      spawnSync('taskkill', ['/T', ...(force ? ['/F'] : []), '/PID', String(child.pid)]);
    else process.kill(-child.pid, force ? 'SIGKILL' : 'SIGTERM');
  } catch {
    // It ended by itself in between.
  }
}

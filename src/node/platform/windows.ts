// Windows: pipes instead of sockets, trees by parent ids, and no signals.
import { spawn } from 'node:child_process';
import { constants } from 'node:fs';
import { win32 } from 'node:path';
import { type Platform, type Programs, type ProgramStart, type StartedProcess } from './parts.ts';
import { hasStarted, listWindows, runProgram } from './windowsTable.ts';
import { WindowsTree } from './windowsTree.ts';

const programs: Programs = {
  settings: 'windows',
  target: `win32-${process.arch}`,
  // A detached program has no console, and a window opens for each program that it starts.
  options: { detached: false },
  leash: ['pipe'],
  separator: ';',
  fileName: (name) => `${name}.exe`,
  withEndings: (path, env) => {
    if (win32.extname(path) !== '') return [path];
    return (env['PATHEXT'] ?? '.EXE;.CMD;.BAT').split(';').map((ending) => path + ending.toLowerCase());
  },
  isAbsolute: win32.isAbsolute,
  withSlashes: (path) => path.replaceAll('\\', '/'),
  start: startOnWindows,
  defaultShell: ({ env, sourceProgram }) => sourceProgram('PowerShell') ?? env['ComSpec'] ?? 'cmd.exe',
  inherited: [
    'APPDATA',
    'HOMEDRIVE',
    'HOMEPATH',
    'LOCALAPPDATA',
    'PATH',
    'PATHEXT',
    'PROCESSOR_ARCHITECTURE',
    'SYSTEMDRIVE',
    'SYSTEMROOT',
    'TEMP',
    'USERNAME',
    'USERPROFILE',
    'PROGRAMFILES',
  ],
  ownNode: () => 'node',
  launcher: (node, program) => ({
    ending: '.cmd',
    text: `@echo off\r\nset ELECTRON_RUN_AS_NODE=1\r\n"${node}" "${program}" %*\r\n`,
  }),
};

/** Batch files run only in the system's shell, so arguments that the shell would interpret are refused. */
function startOnWindows(program: string, args: readonly string[]): ProgramStart {
  if (!/\.(?:cmd|bat)$/i.test(program)) return { file: program, args, isVerbatim: false };
  const unsafe = args.find((arg) => /["%!^&|<>\r\n]/.test(arg));
  if (unsafe !== undefined) throw new Error(`the argument ${unsafe} cannot be passed to a batch file`);
  const line = [program, ...args].map((word) => `"${word}"`).join(' ');
  return { file: process.env['ComSpec'] ?? 'cmd.exe', args: ['/d', '/s', '/c', `"${line}"`], isVerbatim: true };
}

export const windows: Platform = {
  name: 'windows',
  processes: {
    interrupts: false,
    list: () => listWindows(runProgram),
    info: () => undefined,
    startTimeOf: () => undefined,
    stampOf: (pid) => String(Math.round(Date.now() - (pid === process.pid ? process.uptime() * 1000 : 0))),
    isRunning: async (pid, stamp) => isRunning(pid) && hasStarted(runProgram, pid, stamp),
    isSameBoot: () => false,
    tree: (child) => new WindowsTree(runProgram, child),
    kill: killTree,
  },
  activity: undefined,
  peers: undefined,
  listening: undefined,
  sockets: {
    areFiles: false,
    inFolder: (_folder, _file, pipe) => pipeOf(pipe),
    watcherIn: (folder, name) => ({
      path: pipeOf(`${win32.basename(folder)}-${name}`),
      addressFile: win32.join(folder, `${name}.json`),
    }),
    forName: async (name) => pipeOf(name),
  },
  disk: {
    syncedWrites: 0,
    // Folders cannot be opened; the file system journals names.
    syncsFolders: false,
    nonBlocking: (constants as Partial<typeof constants>).O_NONBLOCK ?? 0,
    hasModes: false,
    user: undefined,
    ignoresCase: true,
    replacesOpenFiles: false,
    pathOfOpened: async () => undefined,
    entryOf: undefined,
    hasLocalClock: () => false,
  },
  programs,
  // VS Code's own notifications reach the desktop.
  notices: { program: () => undefined },
};

function pipeOf(name: string): string {
  return `\\\\.\\pipe\\earshot-${name}`;
}

/** Does not wait, since the window may be ending. The id of a program that has ended may be in use again. */
function killTree({ pid, exitCode = null, signalCode = null }: StartedProcess, signal = 'SIGKILL'): void {
  if (pid === undefined || exitCode !== null || signalCode !== null) return;
  const args = ['/T', ...(signal === 'SIGKILL' ? ['/F'] : []), '/PID', String(pid)];
  const child = spawn('taskkill', args, { detached: true, stdio: 'ignore', windowsHide: true });
  child.on('error', () => undefined);
  child.unref();
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

// What differs between operating systems, one interface for each concern. `platform.ts` has the one that is used.
import { type ChildProcess } from 'node:child_process';
import { type FileHandle } from 'node:fs/promises';
import { type Survivor } from '../../base/commandEnd.ts';

export interface Platform {
  /** `posix` has what `ps` and POSIX give: macOS, BSD and others. */
  readonly name: 'linux' | 'posix' | 'windows';
  readonly processes: ProcessTable;
  /** Undefined: when a process ran cannot be found out here, so no change can be attributed to a command. */
  readonly activity: ActivitySource | undefined;
  /** Undefined: it cannot be found out here. */
  readonly peers: Peers | undefined;
  /** The ports on which these processes listen. Undefined: it cannot be found out here. */
  readonly listening: ((pids: readonly number[]) => Promise<readonly ListeningPort[]>) | undefined;
  readonly sockets: SocketNames;
  readonly disk: Disk;
  readonly programs: Programs;
  readonly notices: Notices;
}

export interface ProcessInfo {
  readonly pid: number;
  readonly name: string;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  readonly started: string;
  /** A zombie: where no parent reaps it, it stays forever. */
  readonly ended: boolean;
}

/** The processes of this machine. */
interface ProcessTable {
  /** Programs can be sent Ctrl+C; otherwise an interrupt ends them. */
  readonly interrupts: boolean;
  /** Those that can be read. */
  list(): Promise<readonly ProcessInfo[]>;
  /** Undefined if there is no such process, or if one process cannot be looked up quickly. */
  info(pid: number): Pick<ProcessInfo, 'name' | 'parent'> | undefined;
  /**
   * Distinguishes a process from a later one with the same id; undefined if there is none, or if it cannot be looked up
   * quickly.
   */
  startTimeOf(pid: number): string | undefined;
  /** The same for this process, and for one that it has just started. Empty if it has ended already. */
  stampOf(pid: number): string;
  /** Whether this very process runs, by its stamp or start time. False if that cannot be determined. */
  isRunning(pid: number, stamp: string): Promise<boolean>;
  /** Whether a start time belongs to the current boot; false where this cannot be determined. */
  isSameBoot(startTime: string): boolean;
  /** All processes of a command that was started with `Programs.options`, and has this value of COMMAND_MARK. */
  tree(child: StartedProcess, mark: string): ProcessTree;
  /** Sends a program and what it started a signal, by default SIGKILL, without waiting. */
  kill(child: StartedProcess, signal?: 'SIGTERM' | 'SIGKILL'): void;
}

/** A process by its id, or one that this process has started: its pipes say whether anything of it is left. */
export type StartedProcess = Pick<ChildProcess, 'pid'> &
  Partial<Pick<ChildProcess, 'stdio' | 'exitCode' | 'signalCode' | 'once'>>;

/** All processes of a command: its group, its descendants, and, where they can be found, those that left both. */
export interface ProcessTree {
  /** `force` kills; without `away` processes that left the group are spared. Resolves once the signals are sent. */
  end(force: boolean, away?: boolean): Promise<void>;
  /** Does the same as Ctrl+C in a terminal, where programs can be sent that; otherwise kills them. */
  interrupt(): Promise<void>;
  /** Whether any process is left, even if the command has ended. */
  isAlive(): Promise<boolean>;
  /** Processes that left the command's group and are not ended with it. Empty where they cannot be determined. */
  survivors(): Promise<readonly Survivor[]>;
}

/** Shows when processes ran. */
export interface ActivitySource {
  list(): readonly ProcessInfo[];
  /** When the process started, in the unit of `ProcessInfo.started`; zero if it is unknown. */
  startOf(pid: number): number;
  /** Changes whenever a thread of it ran, by thread. Undefined if there is no such process. */
  countersOf(pid: number): ReadonlyMap<string, string> | undefined;
  /** The mark of the command that started the process. Undefined also for processes with an unreadable environment. */
  markOf(pid: number): string | undefined;
  /** Adds the process to those of the files that it has open for writing. */
  findWritten(pid: number, writers: ReadonlyMap<string, Set<number>>): Promise<void>;
}

/** Finds the program at the other end of a loopback connection. */
export interface Peers extends Pick<ActivitySource, 'list' | 'markOf'> {
  /** The processes, of all or of `among`, that have this end of the connection open, as far as this user may see that. */
  holdersOf(localPort: number, remotePort: number, among?: readonly number[]): Promise<readonly number[]>;
  /** Its command line; empty if it cannot be read. */
  wordsOf(pid: number): Promise<readonly string[]>;
}

export interface ListeningPort {
  readonly port: number;
  readonly pid: number;
  /** Other machines can reach it too. */
  readonly everywhere: boolean;
  /** The command line of the process; empty: it is not known. */
  readonly command: string;
}

/** Addresses of sockets that only this user can open. */
export interface SocketNames {
  /** False: they are pipes without files, and without rights that keep other users out, so clients prove a token. */
  readonly areFiles: boolean;
  /** The socket with this file name in a private folder; `pipe` is its name where sockets are no files. */
  inFolder(folder: string, file: string, pipe: string): string;
  /** That of a process that watches the folder, by its name there, such as `window-42`. */
  watcherIn(folder: string, name: string): WatcherAddress;
  /** A new one for this name, in a folder that is private to the user. */
  forName(name: string): Promise<string>;
}

export interface WatcherAddress {
  /** The address that programs connect to. */
  readonly path: string;
  /** Where sockets are no files: the file with the pipe's name and a token, since pipes have no file permissions. */
  readonly addressFile?: string;
}

/** Durable writes, safe reads, and names of files. */
export interface Disk {
  /** A flag with which writes return once the bytes are on disk; zero where that is weaker than a sync. */
  readonly syncedWrites: number;
  /** Names survive a power loss only once their folder is synced. */
  readonly syncsFolders: boolean;
  /** A flag with which opening a pipe or a device does not wait. */
  readonly nonBlocking: number;
  /** The modes of files keep other users out. */
  readonly hasModes: boolean;
  /** The owner of this user's files; undefined where files do not say whose they are. */
  readonly user: number | undefined;
  /** Names that differ only in case are usually one file. */
  readonly ignoresCase: boolean;
  /** Otherwise a rename over a file that somebody has open fails until it is closed. */
  readonly replacesOpenFiles: boolean;
  /** Where the opened file or folder is now; undefined where the system does not say. */
  pathOfOpened(handle: FileHandle): Promise<string | undefined>;
  /** A path to an entry of the opened folder, whatever its own path leads to now; undefined where there is none. */
  entryOf: ((folder: FileHandle, name: string) => string) | undefined;
  /** Whether the times of files of such a file system (`statfs`) come from this machine's clock. */
  hasLocalClock(type: number): boolean;
}

/** How programs and shells are found and started. */
export interface Programs {
  /** The part of the names of VS Code's terminal settings. */
  readonly settings: 'linux' | 'osx' | 'windows';
  /** This system in the names of packages. */
  readonly target: string;
  /** Options of `spawn` with which a whole process tree can be ended later. */
  readonly options: { readonly detached: boolean };
  /** A further pipe that all processes of a command inherit and that closes when the last of them has ended. */
  readonly leash: readonly 'pipe'[];
  /** Between the entries of PATH. */
  readonly separator: string;
  /** The file name of a program. */
  fileName(name: string): string;
  /** The names under which a program may be found. `env` has the endings. */
  withEndings(path: string, env: NodeJS.ProcessEnv): readonly string[];
  isAbsolute(path: string): boolean;
  /** A path as the rest of Earshot writes it, with slashes. */
  withSlashes(path: string): string;
  /** How a program is started without a shell. Throws if an argument cannot be passed to it. */
  start(program: string, args: readonly string[]): ProgramStart;
  /** The shell without any settings. */
  defaultShell(system: ShellSearch): string;
  /** Variables that a program from outside inherits. */
  readonly inherited: readonly string[];
  /** How a command line calls the editor's own Node; `node` where no single line does that in every shell. */
  ownNode(path: string): string;
  /** A launcher of a Node program for command lines: its file ending, and its text. */
  launcher(node: string, program: string): { readonly ending: string; readonly text: string };
}

export interface ProgramStart {
  readonly file: string;
  readonly args: readonly string[];
  /** Nothing may be quoted. */
  readonly isVerbatim: boolean;
}

interface ShellSearch {
  readonly env: NodeJS.ProcessEnv;
  loginShell(): string;
  /** The program that VS Code's profiles call by this name; undefined if it is not installed. */
  sourceProgram(source: string): string | undefined;
}

/** A program of the system that shows a notice on the desktop. */
interface Notices {
  /** Undefined: this system has none. Texts come from outside, so they are never part of a script. */
  program(title: string, text: string): { readonly command: string; readonly given: readonly string[] } | undefined;
}

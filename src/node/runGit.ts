// Every start of git: without a shell, a prompt, a pager, the user's settings, or a program that the repository names.
import { spawn } from 'node:child_process';
import { constants, devNull, setPriority } from 'node:os';
import { parse } from 'node:path';

export interface GitRun {
  readonly folder: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string | Uint8Array;
  readonly signal: AbortSignal;
  /** Runs with low priority. */
  readonly idle?: boolean;
  /** The longest run. A repository can make git wait forever, such as for a pipe that its configuration includes. */
  readonly milliseconds?: number;
  /** The most bytes of output. */
  readonly atMost?: number;
}

/** Git ran and exited with a code other than zero; it was neither killed nor impossible to start. */
export class GitExit extends Error {
  readonly code: number;

  constructor(message: string, code: number) {
    super(message);
    this.code = code;
  }
}

/** For a capture of many files on a slow disk. */
const LIMIT_MILLISECONDS = 45_000;
/** The bytes of all files of one capture. */
const MOST_OUTPUT = 1024 * 1024 * 1024;

/**
 * Resolves with git's output. Rejects with git's error message if it fails, when it takes too long or prints too much,
 * and when the signal is aborted.
 */
export function runGit(args: readonly string[], run: GitRun): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const { milliseconds = LIMIT_MILLISECONDS, atMost = MOST_OUTPUT } = run;
    const stopping = new AbortController();
    const child = spawn('git', ['-C', run.folder, ...NEUTRAL, ...args], {
      // Some systems look for the program in the current folder, too.
      cwd: parse(run.folder).root,
      env: { ...withoutGit(process.env), ...QUIET, ...run.env },
      stdio: ['pipe', 'pipe', 'pipe'],
      windowsHide: true,
      signal: AbortSignal.any([run.signal, stopping.signal]),
    });
    const output: Buffer[] = [];
    let length = 0;
    let complaint = '';
    let failure: Error | undefined;
    const stop = (why: string) => {
      failure ??= new Error(`git ${args[0] ?? ''}: ${why}`);
      stopping.abort();
    };
    const timer = setTimeout(() => stop(`not ready after ${milliseconds / 1000} s`), milliseconds);
    child.stdout.on('data', (chunk: Buffer) => {
      length += chunk.length;
      if (length > atMost) stop('its output is too long');
      else output.push(chunk);
    });
    child.stderr.on('data', (chunk: Buffer) => {
      complaint = (complaint + chunk.toString()).slice(0, 4000);
    });
    // A process that exits early does not read all input; its exit code says why.
    child.stdin.on('error', () => undefined);
    child.stdin.end(run.input ?? '');
    // An aborted process may still write for a moment; callers rely on its end, so `close` is awaited.
    child.once('error', (error) => {
      failure ??= error;
      if (child.pid !== undefined) return;
      clearTimeout(timer);
      reject(error);
    });
    child.once('close', (code, signal) => {
      clearTimeout(timer);
      if (failure !== undefined) reject(failure);
      else if (code === 0) resolve(Buffer.concat(output));
      else {
        const message = `git ${args[0] ?? ''}: ${complaint.trim() || `ended with ${code ?? signal}`}`;
        reject(code === null ? new Error(message) : new GitExit(message, code));
      }
    });
    if (run.idle === true) yieldToOthers(child.pid);
  });
}

/** Disables conversion, filters, watching, garbage collection, and everything else that would start a program. */
const NEUTRAL = [
  '--no-pager',
  ...[
    'core.autocrlf=false',
    'core.safecrlf=false',
    'core.fsmonitor=false',
    `core.hooksPath=${devNull}`,
    `core.attributesFile=${devNull}`,
    'core.longpaths=true',
    'core.quotePath=false',
    'core.looseCompression=1',
    'core.askPass=',
    'core.sshCommand=false',
    'credential.helper=',
    'diff.external=',
    'gc.auto=0',
    'maintenance.auto=false',
    'protocol.allow=never',
    'submodule.recurse=false',
  ].flatMap((setting) => ['-c', setting]),
];

const QUIET = {
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: devNull,
  GIT_ATTR_NOSYSTEM: '1',
  GIT_OPTIONAL_LOCKS: '0',
  GIT_TERMINAL_PROMPT: '0',
  GIT_LITERAL_PATHSPECS: '1',
  // A missing object of a partial clone is not fetched: the repository names the program or the host for that.
  GIT_ALLOW_PROTOCOL: '',
  GIT_NO_LAZY_FETCH: '1',
  LC_ALL: 'C',
};

/** An editor started from a git hook passes on variables that would select the user's repository. */
function withoutGit(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('GIT_')));
}

function yieldToOthers(pid: number | undefined): void {
  try {
    if (pid !== undefined) setPriority(pid, constants.priority.PRIORITY_LOW);
  } catch {
    // The process has ended already, or the system does not allow it.
  }
}

// Runs git without a shell and without the user's settings, hooks and prompts.
import { spawn } from 'node:child_process';
import { constants, devNull, setPriority } from 'node:os';

export interface GitRun {
  readonly folder: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string | Uint8Array;
  readonly signal: AbortSignal;
  /** Runs with low priority. */
  readonly idle?: boolean;
}

/** Git ran and exited with a code other than zero; it was neither killed nor impossible to start. */
export class GitExit extends Error {}

/** Resolves with git's output. Rejects with git's error message if it fails, and when the signal is aborted. */
export function runGit(args: readonly string[], run: GitRun): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const child = spawn('git', [...NEUTRAL, ...args], {
      cwd: run.folder,
      env: { ...withoutGit(process.env), ...QUIET, ...run.env },
      stdio: ['pipe', 'pipe', 'pipe'],
      windowsHide: true,
      signal: run.signal,
    });
    const output: Buffer[] = [];
    let complaint = '';
    child.stdout.on('data', (chunk: Buffer) => output.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => {
      complaint = (complaint + chunk.toString()).slice(0, 4000);
    });
    // A process that exits early does not read all input; its exit code says why.
    child.stdin.on('error', () => undefined);
    child.stdin.end(run.input ?? '');
    let failure: Error | undefined;
    // An aborted process may still write for a moment; callers rely on its end, so `close` is awaited.
    child.once('error', (error) => {
      failure = error;
      if (child.pid === undefined) reject(error);
    });
    child.once('close', (code, signal) => {
      if (failure !== undefined) reject(failure);
      else if (code === 0) resolve(Buffer.concat(output));
      else {
        const message = `git ${args[0] ?? ''}: ${complaint.trim() || `ended with ${code ?? signal}`}`;
        reject(code === null ? new Error(message) : new GitExit(message));
      }
    });
    if (run.idle === true) yieldToOthers(child.pid);
  });
}

/** Disables conversion, filters, watching and garbage collection. */
const NEUTRAL = [
  'core.autocrlf=false',
  'core.safecrlf=false',
  'core.fsmonitor=false',
  `core.hooksPath=${devNull}`,
  'core.longpaths=true',
  'core.quotePath=false',
  'core.looseCompression=1',
  'gc.auto=0',
  'maintenance.auto=false',
].flatMap((setting) => ['-c', setting]);

const QUIET = {
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: devNull,
  GIT_ATTR_NOSYSTEM: '1',
  GIT_OPTIONAL_LOCKS: '0',
  GIT_TERMINAL_PROMPT: '0',
  GIT_LITERAL_PATHSPECS: '1',
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

// Decides how git is run for our own purposes: no shell, no settings, hooks or prompts of the user's, ended by a signal.
import { spawn } from 'node:child_process';
import { constants, devNull, setPriority } from 'node:os';

export interface GitRun {
  readonly folder: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string | Uint8Array;
  readonly signal: AbortSignal;
  /** Lets everything else go first. */
  readonly idle?: boolean;
}

/** What it printed. Rejects with what it said if it failed, and when the signal is aborted. */
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
    // One that ends early does not read all of it; its exit says why.
    child.stdin.on('error', () => undefined);
    child.stdin.end(run.input ?? '');
    let failure: Error | undefined;
    // One that is called off still writes for a moment: whoever waits may rely on it that nothing does any more.
    child.once('error', (error) => {
      failure = error;
      if (child.pid === undefined) reject(error);
    });
    child.once('close', (code, signal) => {
      if (failure !== undefined) reject(failure);
      else if (code === 0) resolve(Buffer.concat(output));
      else reject(new Error(`git ${args[0] ?? ''}: ${complaint.trim() || `ended with ${code ?? signal}`}`));
    });
    if (run.idle === true) yieldToOthers(child.pid);
  });
}

/** Nothing is converted, filtered, watched or collected behind our back. */
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

/** An editor that was started from a git hook hands on what would lead us to the user's repository. */
function withoutGit(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('GIT_')));
}

function yieldToOthers(pid: number | undefined): void {
  try {
    if (pid !== undefined) setPriority(pid, constants.priority.PRIORITY_LOW);
  } catch {
    // It ended already, or the machine does not let us.
  }
}

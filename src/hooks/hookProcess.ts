// Runs one hook: writes JSON to its stdin, collects its bounded output, and ends it with all processes that it started.
import { type Clock } from '../base/clock.ts';
import { describeError, failed, type Result, succeeded } from '../base/errors.ts';
import { COMMAND_MARK } from '../node/platform/marks.ts';
import { platform } from '../node/platform/platform.ts';
import { spawnProgram } from '../node/processTree.ts';
import { withoutKeys } from '../node/shellProgram.ts';
import { type HookEnd } from './hookAnswer.ts';

/** Characters of stdout and stderr together. */
const MOST_OUTPUT = 1024 * 1024;

export interface HookStart {
  readonly program: string;
  readonly args: readonly string[];
  readonly folder: string;
  readonly input: string;
  readonly seconds: number;
  readonly clock: Clock;
  /** Identifies all processes that the hook starts. */
  readonly mark: string;
  readonly signal: AbortSignal;
}

/** Fails if the hook cannot start, takes too long, or writes too much. Resolves once none of its processes runs. */
export async function runHookProcess(start: HookStart): Promise<Result<HookEnd>> {
  const { program, args, folder, mark, signal } = start;
  const env = { ...withoutKeys(process.env), [COMMAND_MARK]: mark, CLAUDE_PROJECT_DIR: folder };
  const child = spawnProgram(program, args, folder, true, env);
  const tree = child.pid === undefined ? undefined : platform.processes.tree(child, mark);
  const killAtExit = () => platform.processes.kill(child);
  process.once('exit', killAtExit);
  const { promise: ended, resolve: end } = Promise.withResolvers<Result<HookEnd>>();
  const timer = start.clock.after(start.seconds * 1000, () => end(failure(`it took longer than ${start.seconds} s`)));
  const stop = () => end(failure('the turn was stopped'));
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  const texts = { stdout: '', stderr: '' };
  let length = 0;
  for (const name of ['stdout', 'stderr'] as const) {
    const stream = child[name];
    stream?.setEncoding('utf8');
    stream?.on('error', () => undefined);
    stream?.on('data', (text: string) => {
      length += text.length;
      if (length > MOST_OUTPUT) end(failure('it wrote more than 1 MB'));
      else texts[name] += text;
    });
  }
  child.stdin?.on('error', () => undefined);
  child.stdin?.end(start.input);
  child.on('error', (error) => end(failure(`it could not be started: ${describeError(error)}`)));
  child.on('close', (code, killed) =>
    end(killed === null ? succeeded({ code: code ?? 0, ...texts }) : failure(`it was ended by ${killed}`)),
  );
  try {
    return await ended;
  } finally {
    timer.dispose();
    signal.removeEventListener('abort', stop);
    process.off('exit', killAtExit);
    // Needed even if the hook itself has ended: processes that it started may still run.
    await tree?.end(true);
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.destroy();
  }
}

function failure(why: string): Result<never> {
  return failed('hook', `${why}.`);
}

// The tool run_command: runs a shell command in the workspace's first folder and returns what it printed.
import { type ChildProcess } from 'node:child_process';
import { StringDecoder } from 'node:string_decoder';
import { stripVTControlCharacters } from 'node:util';
import * as z from 'zod';
import { describeError } from '../base/errors.ts';
import { endTree, spawnShell } from '../node/processTree.ts';
import { defineTool, refuse } from './defineTool.ts';

const DEFAULT_SECONDS = 120;
const GRACE_MILLISECONDS = 3000;
/** Of the output, this many of the last characters are kept. */
const KEPT = 200_000;

export const runCommandTool = defineTool({
  name: 'run_command',
  description:
    'Runs a shell command in the workspace and returns its output and exit code. The user is asked first. It gets no input and is stopped after its time limit.',
  effect: 'execute',
  emits: ['stopped', 'failed', 'waiting', 'lost'],
  arguments: {
    command: z.string().min(1).describe('The command line, as for a shell'),
    timeout_secs: z.int().min(1).max(3600).optional().describe(`Time limit; ${DEFAULT_SECONDS} if not given`),
  },
  touches: ({ command }) => ({ command }),
  run: async ({ command, timeout_secs: seconds = DEFAULT_SECONDS }, { workspace, signal, progress }) => {
    const folder = workspace.folders[0];
    if (folder === undefined) return refuse('No folder is open in the editor, so there is no place to run a command.');
    const child = spawnShell(command, folder.absolute);
    const output = collectOutput(child, progress);
    const end = await waitForEnd(child, seconds * 1000, signal);
    const { isError, line } = describeEnd(end, seconds);
    return { content: [output(), line].filter((part) => part !== '').join('\n'), isError };
  },
});

/** Keeps the last part of what is printed; returns it as text without terminal controls. */
function collectOutput(child: ChildProcess, progress: (text: string) => void): () => string {
  let kept = '';
  let dropped = 0;
  for (const stream of [child.stdout, child.stderr]) {
    const decoder = new StringDecoder('utf8');
    stream?.on('data', (chunk: Buffer) => {
      const text = stripVTControlCharacters(decoder.write(chunk));
      kept += text;
      if (kept.length > KEPT * 2) {
        dropped += kept.length - KEPT;
        kept = kept.slice(-KEPT);
      }
      progress(text);
    });
  }
  return () => {
    const text = kept.trimEnd();
    return dropped > 0 ? `(The first ${dropped} characters were dropped.)\n${text}` : text;
  };
}

type End =
  | { type: 'exited'; code: number | null; signal: string | null }
  | { type: 'timed_out' }
  | { type: 'cancelled' }
  | { type: 'not_started'; reason: string };

function waitForEnd(child: ChildProcess, limit: number, signal: AbortSignal): Promise<End> {
  return new Promise((resolve) => {
    let cause: End | undefined;
    let force: NodeJS.Timeout | undefined;
    const end = (why: End) => {
      if (cause !== undefined) return;
      cause = why;
      endTree(child, false);
      force = setTimeout(() => endTree(child, true), GRACE_MILLISECONDS);
    };
    const cancel = () => end({ type: 'cancelled' });
    const timer = setTimeout(() => end({ type: 'timed_out' }), limit);
    const finish = (result: End) => {
      clearTimeout(timer);
      clearTimeout(force);
      signal.removeEventListener('abort', cancel);
      resolve(cause ?? result);
    };
    signal.addEventListener('abort', cancel, { once: true });
    if (signal.aborted) cancel();
    child.once('error', (error) => finish({ type: 'not_started', reason: describeError(error) }));
    child.once('close', (code, name) => finish({ type: 'exited', code, signal: name }));
  });
}

function describeEnd(end: End, seconds: number): { isError: boolean; line: string } {
  switch (end.type) {
    case 'exited':
      if (end.code === 0) return { isError: false, line: '(exit code 0)' };
      return { isError: true, line: end.code === null ? `(ended by ${end.signal})` : `(exit code ${end.code})` };
    case 'timed_out':
      return { isError: true, line: `(stopped: it ran longer than ${seconds} s)` };
    case 'cancelled':
      return { isError: true, line: 'Cancelled by the user.' };
    case 'not_started':
      return { isError: true, line: `It could not be started: ${end.reason}` };
  }
}

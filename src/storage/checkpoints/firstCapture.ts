// Takes the first capture of a folder in a separate process: it reads every file, and memory is released only at exit.
import { parseJson } from '../../base/json/outsideJson.ts';
import { spawn } from 'node:child_process';
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { Sequence } from '../../base/async.ts';
import { type CheckpointFolder, folderName, type TakenFolder } from './checkpointFolder.ts';

/** Sent to the process as one line of JSON. */
export interface FirstCapture {
  readonly storage: string;
  readonly folder: string;
  /** Further files to capture, relative to the folder. */
  readonly also: readonly string[];
}

/** Rejects if the process fails, and when the signal is aborted. */
export type CaptureFirst = (capture: FirstCapture, signal: AbortSignal) => Promise<TakenFolder>;

interface FirstCaptureDeps extends Omit<FirstCapture, 'also'> {
  readonly capture: CaptureFirst | undefined;
  /** Called if the process failed; the capture is then taken in this process. */
  report(error: unknown): void;
}

const MOST_COMPLAINT = 4000;

const takenSchema = z.strictObject({
  tree: z.string().regex(/^[0-9a-f]{40}$/),
  nested: z.array(z.string()),
  leftOut: z.array(z.string()),
});

/** Wraps the folder so that its first capture is taken in a separate process. */
export function withFirstCapture(folder: CheckpointFolder, deps: FirstCaptureDeps): CheckpointFolder {
  const { capture, report, ...place } = deps;
  if (capture === undefined) return folder;
  const index = join(place.storage, 'git', folderName(place.folder), 'index');
  const closing = new AbortController();
  const captures = new Sequence();
  const take = async (also: readonly string[], signal: AbortSignal): Promise<TakenFolder> => {
    const either = AbortSignal.any([signal, closing.signal]);
    if (!(await exists(index))) {
      try {
        return await capture({ ...place, also }, either);
      } catch (error) {
        either.throwIfAborted();
        report(error);
      }
    }
    return folder.take(also, signal);
  };
  return {
    kind: folder.kind,
    take: (also, signal) => captures.run(() => take(also, signal)),
    keep: (name, tree, signal) => folder.keep(name, tree, signal),
    compare: (before, after, signal) => folder.compare(before, after, signal),
    read: (keys, signal) => folder.read(keys, signal),
    forget: (needed, signal) => folder.forget(needed, signal),
    close: async () => {
      closing.abort();
      await captures.settled();
      await folder.close();
    },
  };
}

function exists(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}

/** `program`: the script of `bin/firstCapture.ts`. */
export function captureInProcess(program: string): CaptureFirst {
  return (capture, signal) =>
    new Promise((resolve, reject) => {
      signal.throwIfAborted();
      const { NODE_OPTIONS: _options, ...env } = process.env;
      const child = spawn(process.execPath, [program], {
        env: { ...env, ELECTRON_RUN_AS_NODE: '1' },
        stdio: ['pipe', 'pipe', 'pipe'],
        windowsHide: true,
      });
      const output: Buffer[] = [];
      let complaint = '';
      child.stdout.on('data', (chunk: Buffer) => output.push(chunk));
      child.stderr.on('data', (chunk: Buffer) => {
        complaint = (complaint + chunk.toString()).slice(0, MOST_COMPLAINT);
      });
      child.stdin.on('error', () => undefined);
      // The input stays open: its end tells the process that this window has ended.
      child.stdin.write(`${JSON.stringify(capture)}\n`);
      const end = () => child.stdin.end();
      signal.addEventListener('abort', end, { once: true });
      child.once('error', reject);
      child.once('close', (code, killed) => {
        signal.removeEventListener('abort', end);
        if (signal.aborted) reject(signal.reason as Error);
        else if (code === 0) resolve(parseJson(Buffer.concat(output).toString()));
        else reject(new Error(complaint.trim() || `The capture ended with ${code ?? killed}.`));
      });
    }).then(takenSchema.parse);
}

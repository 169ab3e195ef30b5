// The program that takes the first capture of a folder. Reads one line of JSON, prints the result, and stops early when
// its input ends.
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { openGitFolder } from '../storage/checkpoints/checkpointGit.ts';
import { type FirstCapture } from '../storage/checkpoints/firstCapture.ts';

async function main(): Promise<void> {
  const ending = new AbortController();
  const { signal } = ending;
  const lines = createInterface({ input: process.stdin });
  const [line] = (await once(lines, 'line')) as [string];
  lines.once('close', () => ending.abort(new Error('The window is gone.')));
  const { storage, folder, also } = JSON.parse(line) as FirstCapture;
  const opened = await openGitFolder({ storage, folder, signal, report: () => undefined });
  if (opened === undefined) throw new Error('There is no git.');
  const taken = await opened.take(also, signal);
  process.stdout.write(JSON.stringify(taken), () => process.exit(0));
}

function fail(error: unknown): void {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`, () => process.exit(1));
}

void main().catch(fail);

// What tests on Windows share: folders, programs as they are shipped, and waits.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test as nodeTest, type TestContext } from 'node:test';

/** The built programs and helpers, such as `supervisor.cjs`. */
export const programs = process.env['EARSHOT_TEST_PROGRAMS'] ?? '';

/** The runner waits for the result and reports it. */
export function test(name: string, run: (context: TestContext) => void | Promise<void>): void {
  // Against what never happens; a loaded machine is slow, not wrong.
  nodeTest(name, { timeout: 240_000 }, run).catch(() => undefined);
}

/** A folder that is removed when the file's tests have ended. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'earshot-'));
  after(() => {
    try {
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    } catch {
      // A program that is just ending still has it as its current folder.
    }
  });
  return folder;
}

export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 20));
}

export function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** Starts a Node program and resolves with its first line, which is to be a process id or `ready`. */
export function startNode(args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const child = spawn(process.execPath, ['--no-warnings', ...args], {
    env: { ...process.env, ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
    windowsHide: true,
  });
  const line = new Promise<string>((resolve, reject) => {
    let text = '';
    child.stdout.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      if (text.includes('\n')) resolve(text.split('\n')[0]?.trim() ?? '');
    });
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`it ended with ${code}`)));
  });
  line.catch(() => undefined);
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  return { child, line, ended };
}

// Shows a desktop notice with the program that the operating system provides for this.
import { spawn } from 'node:child_process';
import { platform } from './platform/platform.ts';

const LONGEST = 300;

/** Resolves to whether a program accepted the notice; it runs without a shell, since the text comes from outside. */
export async function showSystemNotice(
  title: string,
  text: string,
  env: NodeJS.ProcessEnv = process.env,
): Promise<boolean> {
  const program = platform.notices.program(title, text.replace(/\s+/g, ' ').slice(0, LONGEST));
  if (program === undefined) return false;
  return new Promise((resolve) => {
    const child = spawn(program.command, [...program.given], { env, stdio: 'ignore', timeout: 10_000 });
    child.once('error', () => resolve(false));
    child.once('close', (code) => resolve(code === 0));
  });
}

// Shows a desktop notice with the program that the operating system provides for this.
import { spawn } from 'node:child_process';

const LONGEST = 300;

interface Program {
  readonly command: string;
  readonly given: readonly string[];
}

/** Runs without a shell, since the text comes from outside. Undefined if this system has no such program. */
export function noticeProgram(platform: NodeJS.Platform, title: string, text: string): Program | undefined {
  const short = text.replace(/\s+/g, ' ').slice(0, LONGEST);
  if (platform === 'linux') return { command: 'notify-send', given: ['--app-name', title, '--', title, short] };
  if (platform !== 'darwin') return undefined;
  // The texts are arguments of the script, not part of it.
  const script = 'on run given\ndisplay notification (item 2 of given) with title (item 1 of given)\nend run';
  return { command: 'osascript', given: ['-e', script, title, short] };
}

/** Resolves to whether the program accepted the notice. */
export async function showSystemNotice(
  title: string,
  text: string,
  env: NodeJS.ProcessEnv = process.env,
): Promise<boolean> {
  const program = noticeProgram(process.platform, title, text);
  if (program === undefined) return false;
  return new Promise((resolve) => {
    const child = spawn(program.command, [...program.given], { env, stdio: 'ignore', timeout: 10_000 });
    child.once('error', () => resolve(false));
    child.once('close', (code) => resolve(code === 0));
  });
}

// Shows a notice of the operating system with the program that it ships for this.
import { spawn } from 'node:child_process';

const LONGEST = 300;

interface Program {
  readonly command: string;
  readonly given: readonly string[];
}

/** Never through a shell: the text is from outside. Undefined: this system has no such program. */
export function noticeProgram(platform: NodeJS.Platform, title: string, text: string): Program | undefined {
  const short = text.replace(/\s+/g, ' ').slice(0, LONGEST);
  if (platform === 'linux') return { command: 'notify-send', given: ['--app-name', title, '--', title, short] };
  if (platform !== 'darwin') return undefined;
  // The texts are arguments of the script, not part of it.
  const script = 'on run given\ndisplay notification (item 2 of given) with title (item 1 of given)\nend run';
  return { command: 'osascript', given: ['-e', script, title, short] };
}

/** Resolves to whether the program accepted it. */
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

// Opens an address in the user's default browser.
import { spawn } from 'node:child_process';

/** Resolves to false if no browser can be opened, as on a machine without a screen. */
export function openInBrowser(url: string): Promise<boolean> {
  const [command, ...args] = opener(url);
  return new Promise((resolve) => {
    const child = spawn(command, args, { stdio: 'ignore', detached: true, windowsHide: true });
    child.once('error', () => resolve(false));
    child.once('exit', (exitCode) => resolve(exitCode === 0));
    // Some openers keep running while the browser runs.
    setTimeout(() => resolve(child.pid !== undefined), 3000).unref();
    child.unref();
  });
}

function opener(url: string): [string, ...string[]] {
  if (process.platform === 'darwin') return ['open', url];
  // The shell's `start` would take the & in the address for the end of the command.
  if (process.platform === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler', url];
  return ['xdg-open', url];
}

// Ends a Node program together with the process that started it, even if that is killed. Preloaded with --import.
import { Socket } from 'node:net';

// Removed at once: this file is also preloaded into programs that this program forks, which must not be bound.
const bond = process.env['EARSHOT_BOND'];
delete process.env['EARSHOT_BOND'];

if (bond === 'group' || bond === 'self') {
  // The parent holds the other end; the kernel closes it even if the parent is killed.
  new Socket({ fd: 3 })
    .on('error', () => {})
    .on('close', bond === 'group' ? killGroup : askToEnd)
    .resume()
    .unref();
}

/** For a program that leads its own group. */
function killGroup() {
  if (process.platform === 'win32') process.exit(1);
  process.kill(-process.pid, 'SIGKILL');
}

/** For a program that cleans up on its own. */
function askToEnd() {
  process.kill(process.pid, 'SIGTERM');
}

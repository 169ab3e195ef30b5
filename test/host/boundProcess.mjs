// Decides that a Node program never outlives the process that started it, however that one ends. Preloaded with --import.
import { Socket } from 'node:net';

// Removed at once: what this program forks itself is preloaded with the same file, and is not meant.
const bond = process.env['EARSHOT_BOND'];
delete process.env['EARSHOT_BOND'];

if (bond === 'group' || bond === 'self') {
  // Whoever started us holds the other end; the kernel closes it even when they are killed.
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

/** For a program that cleans up by itself. */
function askToEnd() {
  process.kill(process.pid, 'SIGTERM');
}

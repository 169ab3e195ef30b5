// Decides that a VS Code server and all it started never outlive the process that wanted them, however that one ends.
import { pathToFileURL } from 'node:url';

// Whoever started us holds the other end of this pipe; the kernel closes it even when they are killed.
process.stdin.on('error', endAll).on('close', endAll).resume();

function endAll() {
  // We lead a group of our own.
  if (process.platform !== 'win32') process.kill(-process.pid, 'SIGKILL');
  process.exit(1);
}

// VS Code reads its own command line, in which this file must not appear.
process.argv.splice(1, 1);
await import(pathToFileURL(process.argv[1] ?? '').href);

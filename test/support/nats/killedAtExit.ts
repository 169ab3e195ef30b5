// Programs that must not outlive the tests, whatever happens to those: killed when this process exits.
import { type ChildProcess } from 'node:child_process';

const running = new Set<ChildProcess>();

process.on('exit', () => {
  for (const child of running) kill(child);
});

export function killedAtExit(child: ChildProcess): void {
  running.add(child);
  child.once('exit', () => running.delete(child));
}

/** With its process group, if it has its own. */
function kill({ pid, spawnfile }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(spawnfile === 'nats-server' ? pid : -pid, 'SIGKILL');
  } catch {
    // It has gone.
  }
}

// Kills programs that must not outlive the tests when the test process exits for any reason.
import { type ChildProcess } from 'node:child_process';

const running = new Set<ChildProcess>();

process.on('exit', () => {
  for (const child of running) kill(child);
});

export function killedAtExit(child: ChildProcess): void {
  running.add(child);
  child.once('exit', () => running.delete(child));
}

/** Kills the whole process group of programs that have their own; nats-server has none. */
function kill({ pid, spawnfile }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(spawnfile === 'nats-server' ? pid : -pid, 'SIGKILL');
  } catch {
    // The process has already ended.
  }
}

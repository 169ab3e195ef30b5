// A placeholder for a command of which nothing is left on disk.
import { failed } from '../../base/errors.ts';
import { type KnownHandle } from '../conversation/projections/handleStates.ts';
import { type SupervisedCommand } from '../ports/processes.ts';

export function lostCommand({ started }: KnownHandle): SupervisedCommand {
  const gone = failed('not_running', 'It does not run any more.');
  return {
    command: '',
    pid: started.pid,
    startTime: started.start_time,
    ...(started.agent && { agent: started.agent }),
    shell: undefined,
    status: { startedAt: started.timestamp, inputOpen: false, size: 0, kept: 0, lost: true },
    onDidChange: () => ({ dispose: () => undefined }),
    read: async () => ({ from: 0, bytes: new Uint8Array() }),
    write: async () => gone,
    stop: () => undefined,
    interrupt: () => undefined,
    dispose: () => undefined,
  };
}

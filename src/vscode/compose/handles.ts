// Composes the execution of commands: their supervisors, and the handles of background commands.
import { type AgentRuns, type RemoteTasks } from '../../core/ports/processes.ts';
import { Handles } from '../../core/tools/handles.ts';
import { realClock } from '../../node/realClock.ts';
import { createSupervision, launchSupervisor } from '../../node/supervision/supervision.ts';
import { userShell } from '../tasks/shell.ts';
import { type Window } from './window.ts';

export function composeHandles(
  { context, logger, settings, held }: Window,
  folderOf: (conversation: string) => Promise<string>,
  tasks: RemoteTasks,
  agents: AgentRuns,
) {
  const supervision = createSupervision({
    launch: (place, env) => launchSupervisor(context.asAbsolutePath('dist/supervisor.cjs'), place, env),
    clock: realClock,
    report: (what, error) => logger.error(what, error),
    folderOf,
    userShell,
    unownedMilliseconds: () => settings.current['handles.ownerTimeout'] * 1000,
  });
  return { supervision, handles: held.add(new Handles({ supervision, tasks, agents, clock: realClock, logger })) };
}

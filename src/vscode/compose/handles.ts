// Composes the execution of commands: their supervisors, and the handles of background commands.
import { type AgentRuns, type RemoteTasks } from '../../core/ports/processes.ts';
import { Handles } from '../../core/tools/handles.ts';
import { installNotifyProgram, notifyEnvironment } from '../../node/scripts/notifyProgram.ts';
import { realClock } from '../../node/realClock.ts';
import { createSupervision, launchSupervisor } from '../../node/supervision/supervision.ts';
import { userShell } from '../tasks/shell.ts';
import { type Window } from './window.ts';

export function composeHandles(
  { context, logger, settings, held }: Window,
  folderOf: (conversation: string) => Promise<string>,
  tasks: RemoteTasks,
  agents: AgentRuns,
  keyOf: (conversation: string) => string,
) {
  let installed: Promise<string | undefined> | undefined;
  const notifyProgram = () => {
    installed ??= installNotifyProgram(context.asAbsolutePath('dist/earshot-notify.js')).catch((error: unknown) => {
      logger.error('earshot-notify could not be installed', error);
      return undefined;
    });
    return installed;
  };
  const supervision = createSupervision({
    launch: (place, env) => launchSupervisor(context.asAbsolutePath('dist/supervisor.cjs'), place, env),
    clock: realClock,
    report: (what, error) => logger.error(what, error),
    folderOf,
    userShell,
    environment: async ({ conversation, run }) =>
      notifyEnvironment(await notifyProgram(), conversation, run, keyOf(conversation)),
    unownedMilliseconds: () => settings.current['handles.ownerTimeout'] * 1000,
  });
  return { supervision, handles: held.add(new Handles({ supervision, tasks, agents, clock: realClock, logger })) };
}

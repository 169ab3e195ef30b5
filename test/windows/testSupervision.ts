// Supervised commands in cmd.exe, by the supervisor as it is shipped.
import { join } from 'node:path';
import { realClock } from '../../src/node/realClock.ts';
import { shellProgram, userEnvironment } from '../../src/node/shellProgram.ts';
import { createSupervision, launchSupervisor } from '../../src/node/supervision/supervision.ts';

/** `folder` has the conversations. */
export function testSupervision(folder: string, supervisor: string) {
  return createSupervision({
    launch: (place, env) => launchSupervisor(supervisor, place, env),
    clock: realClock,
    report: (what, error) => process.stderr.write(`${what}: ${String(error)}\n`),
    folderOf: async (conversation) => join(folder, conversation),
    userShell: () => ({ shell: shellProgram(process.env['ComSpec'] ?? 'cmd.exe'), env: userEnvironment(process.env) }),
    unownedMilliseconds: () => 60_000,
    graceMilliseconds: 300,
  });
}

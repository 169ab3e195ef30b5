// Supervised commands for tests: real supervisors, in their own processes where that matters, otherwise in the test's
// process.
import { join, resolve } from 'node:path';
import { type Clock } from '../../../src/base/clock.ts';
import { type Logger } from '../../../src/core/ports/ports.ts';
import { type AgentRuns, type RemoteTasks, type Supervision } from '../../../src/core/ports/processes.ts';
import { Handles } from '../../../src/core/tools/handles.ts';
import { realClock } from '../../../src/node/realClock.ts';
import { shellProgram, userEnvironment } from '../../../src/node/shellProgram.ts';
import {
  createSupervision,
  launchSupervisor,
  type SupervisionDeps,
} from '../../../src/node/supervision/supervision.ts';
import { createSupervisor } from '../../../src/node/supervision/supervisor.ts';

let program: Promise<string> | undefined;

/**
 * Starts a supervisor process as the editor does. The program is built once; a built program starts in a third of the
 * time.
 */
export async function launchProcess(folder: string, env: NodeJS.ProcessEnv): Promise<void> {
  program ??= buildProgram();
  return launchSupervisor(await program, folder, env);
}

/** Imports esbuild lazily, so that bundled suites can use the rest of this file. */
async function buildProgram(): Promise<string> {
  const { buildSync } = await import('esbuild');
  const root = resolve(import.meta.dirname, '../../..');
  const outfile = join(root, '.build', 'test', `supervisor-${process.pid}.cjs`);
  buildSync({
    absWorkingDir: root,
    entryPoints: ['src/bin/supervisor.ts'],
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'es2023',
    outfile,
    logLevel: 'error',
  });
  return outfile;
}

/** Runs the supervisor in the test's own process: it cannot outlive the test, but saves the time to start Node. */
async function launchHere(folder: string, env: NodeJS.ProcessEnv): Promise<void> {
  const { promise, resolve: ready, reject } = Promise.withResolvers<void>();
  const supervisor = await createSupervisor({ folder, env, ready });
  void supervisor.run().catch(reject);
  await promise;
}

export interface TestHandlesOptions {
  readonly storage: string;
  readonly logger: Logger;
  readonly clock?: Clock;
  readonly tasks?: RemoteTasks | undefined;
  readonly agents?: AgentRuns | undefined;
  readonly supervisors?: {
    /** Runs each supervisor in its own process. */
    readonly processes?: boolean;
    readonly unownedMilliseconds?: number;
  } & Pick<SupervisionDeps, 'graceMilliseconds'>;
}

export function createTestHandles({
  storage,
  logger: log,
  clock = realClock,
  tasks,
  agents,
  supervisors = {},
}: TestHandlesOptions): {
  handles: Handles;
  supervision: Supervision;
} {
  const { processes, unownedMilliseconds = 30_000, ...limits } = supervisors;
  const supervision = createSupervision({
    launch: processes === true ? launchProcess : launchHere,
    clock: realClock,
    report: (what, error) => log.error(what, error),
    folderOf: async (conversation) => join(storage, 'conversations', conversation),
    userShell: () => ({ shell: shellProgram(process.env['SHELL'] ?? '/bin/sh'), env: userEnvironment(process.env) }),
    unownedMilliseconds: () => unownedMilliseconds,
    ...limits,
  });
  return { supervision, handles: new Handles({ supervision, tasks, agents, clock, logger: log }) };
}

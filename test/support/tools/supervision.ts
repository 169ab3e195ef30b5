// Supervised commands for tests: real supervisors, in their own processes where that matters, otherwise in the test's
// process.
import { join, resolve } from 'node:path';
import { launchSupervisor, type SupervisionDeps } from '../../../src/node/supervision/supervision.ts';
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

export interface TestSupervisors extends Pick<SupervisionDeps, 'graceMilliseconds' | 'environment'> {
  /** Runs each supervisor in its own process. */
  readonly processes?: boolean;
  readonly unownedMilliseconds?: number;
}

/** How supervisors start in tests, as options of `composeHeadless`. */
export function testSupervision({ processes, unownedMilliseconds = 30_000, ...limits }: TestSupervisors = {}) {
  return {
    launch: processes === true ? launchProcess : launchHere,
    supervision: { unownedMilliseconds: () => unownedMilliseconds, ...limits },
  };
}

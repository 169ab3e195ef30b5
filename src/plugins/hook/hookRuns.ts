// Records when an agent has last run the hook, so that an installed hook that the agent never runs is noticed.
import { mkdir, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** Never fails: the hook must run without the record. */
export async function recordHookRun(home: string, agent: string): Promise<void> {
  const file = runFile(home, agent);
  try {
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, '');
  } catch {
    // The record is missing, so the hook counts as not run.
  }
}

/** Undefined: the agent has never run the hook. */
export async function lastHookRun(home: string, agent: string): Promise<Date | undefined> {
  return stat(runFile(home, agent)).then(
    ({ mtime }) => mtime,
    () => undefined,
  );
}

/** Call when the hook was removed: an earlier run says nothing about the next installation. */
export async function forgetHookRun(home: string, agent: string): Promise<void> {
  await rm(runFile(home, agent), { force: true });
}

function runFile(home: string, agent: string): string {
  return join(home, '.earshot', 'hook-runs', agent.replaceAll(/[^\w-]/g, '_').slice(0, 60));
}

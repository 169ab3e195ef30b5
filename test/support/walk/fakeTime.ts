// The time of day of programs that tests start: libfaketime adds an offset to it, which may change while they run.
import { spawnSync } from 'node:child_process';
import { rename, writeFile } from 'node:fs/promises';
import { isFull } from '../runs.ts';

/**
 * Without Debian's package faketime, tests of sleep and of another time of day are skipped, which is printed; the full
 * suite and CI install it, so there they fail.
 */
export const hasFaketime = spawnSync('faketime', ['--version']).status === 0;
if (!hasFaketime) {
  const missing = 'faketime is missing: nothing is tested about sleep and another time of day (apt install faketime).';
  if (isFull || process.env['CI'] !== undefined) throw new Error(missing);
  process.stderr.write(`${missing}\n`);
}

/** Only the time of day is changed: a clock that is set does not change how long something takes. */
export const onlyTimeOfDay = { FAKETIME_DONT_FAKE_MONOTONIC: '1', DONT_FAKE_MONOTONIC: '1' };

/** The environment of a program, and of those that it starts, whose offset is in this file. */
export function fakeTimeFrom(file: string): Readonly<Record<string, string>> {
  // The library that the command would load.
  const { stdout } = spawnSync('faketime', ['-m', '-f', '+0', 'printenv', 'LD_PRELOAD']);
  return {
    ...onlyTimeOfDay,
    ...{ LD_PRELOAD: stdout.toString().trim(), FAKETIME_TIMESTAMP_FILE: file, FAKETIME_NO_CACHE: '1' },
  };
}

/** Sets the offset in such a file. No program reads half of it. */
export async function setOffset(file: string, hours: number): Promise<void> {
  await writeFile(`${file}.part`, `${hours < 0 ? '' : '+'}${hours}h`);
  await rename(`${file}.part`, file);
}

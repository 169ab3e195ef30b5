// The time of day of programs that tests start: libfaketime adds an offset to it, which may change while they run.
import { spawnSync } from 'node:child_process';
import { rename, writeFile } from 'node:fs/promises';

/** Where Debian's package faketime is missing, tests with it are skipped. */
export const hasFaketime = spawnSync('faketime', ['--version']).status === 0;

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

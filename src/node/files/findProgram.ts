// Finds a program in the absolute folders of the PATH: a relative one would be found in whatever folder is current.
import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { delimiter, isAbsolute, join } from 'node:path';
import { platform } from '../platform/platform.ts';

/** The places of a program, in the order of the PATH. */
export function placesOnPath(name: string, path = ''): string[] {
  const file = platform.programs.fileName(name);
  return path.split(delimiter).flatMap((folder) => (isAbsolute(folder) ? join(folder, file) : []));
}

export async function firstUsable(programs: readonly string[]): Promise<string | undefined> {
  for (const program of programs) {
    const usable = await access(program, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (usable) return program;
  }
  return undefined;
}

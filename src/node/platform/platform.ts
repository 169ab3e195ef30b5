// Chooses the implementation for this system: the only place that asks which one it is.
import { linux } from './linux.ts';
import { type Platform } from './parts.ts';
import { posixPlatform } from './posix.ts';
import { windows } from './windows.ts';

export function platformFor(system: NodeJS.Platform): Platform {
  if (system === 'win32') return windows;
  return system === 'linux' ? linux : posixPlatform(system);
}

/** `EARSHOT_PLATFORM=posix` runs Linux by what every POSIX system has, for tests. */
export const platform: Platform =
  process.env['EARSHOT_PLATFORM'] === 'posix' ? posixPlatform(process.platform) : platformFor(process.platform);

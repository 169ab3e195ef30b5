// The environment of the tests by what every POSIX system has.
import { delimiter, join } from 'node:path';

/** On Linux with a `ps` that takes only what those of BSD and macOS take; elsewhere the system's own is like that. */
export function posixEnvironment(system: NodeJS.Platform): Record<string, string> {
  const forced = { EARSHOT_PLATFORM: 'posix' };
  if (system !== 'linux') return forced;
  return { ...forced, PATH: [join(import.meta.dirname, 'bin'), process.env['PATH'] ?? ''].join(delimiter) };
}

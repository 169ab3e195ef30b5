// Installs Debian packages where that is possible: as root, on Debian or a system derived from it.
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { newLogFile } from './cache.mjs';
import { lastLines, runCommand } from '../processes/runCommand.mjs';

/** @type {Promise<unknown>} */
let installing = Promise.resolve();

export async function canUseApt() {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return false;
  const system = await readFile('/etc/os-release', 'utf8').catch(() => '');
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  return /^ID(_LIKE)?=.*(debian|ubuntu)/m.test(system) && folders.some((folder) => existsSync(join(folder, 'apt-get')));
}

/**
 * @param {readonly string[]} packages
 * @param {(what: string) => void} say
 * @returns {Promise<{ installed: boolean, logFile: string, output: string }>} `output`: the last lines of apt's output
 */
export function installPackages(packages, say) {
  // One at a time, since two installations would wait for each other's locks.
  const result = installing.then(() => install(packages, say));
  installing = result.catch(() => undefined);
  return result;
}

/**
 * @param {readonly string[]} packages
 * @param {(what: string) => void} say
 */
async function install(packages, say) {
  const logFile = await newLogFile('apt');
  /** @param {string} command @param {string[]} args */
  const run = (command, args) =>
    runCommand(command, args, {
      logFile,
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
      // Gives dpkg time to finish its current package.
      graceMilliseconds: 10_000,
    });

  // An interrupted installation makes every later one fail until it is completed.
  await run('dpkg', ['--configure', '-a']);
  say('apt-get update');
  // A failure is not final: the existing package lists may be good enough.
  await run('apt-get', ['update']);
  say(`apt-get install ${packages[0]}`);
  const options = ['-y', '--no-install-recommends', '-o', 'DPkg::Lock::Timeout=300'];
  const result = await run('apt-get', ['install', ...options, ...packages]);
  return { installed: result.exitCode === 0, logFile, output: lastLines(result.output, 8) };
}

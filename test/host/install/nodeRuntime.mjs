// Provides the Node that runs VS Code and the TypeScript here: the installed one if its version fits, or the
// registry's.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { buildWhole, cacheFolder } from './cache.mjs';
import { UserError } from '../console/errors.mjs';
import { quietInstall, runNpm } from './npm.mjs';

/** VS Code 1.139 is made for Node 24. */
const wantedMajor = 24;
const registryVersion = '24.21.0';

/**
 * @param {import('../console/report.mjs').Reporter} report
 * @returns {Promise<string>} the path of the executable
 */
export async function provideNode(report) {
  if (Number(process.versions.node.split('.')[0]) === wantedMajor) return process.execPath;
  return provideNodeVersion(registryVersion, report);
}

/**
 * @param {string} version
 * @param {import('../console/report.mjs').Reporter} report
 * @returns {Promise<string>} the path of the executable
 */
export async function provideNodeVersion(version, report) {
  const platform = process.platform === 'win32' ? 'win' : process.platform;
  const packageName = `node-${platform}-${process.arch}`;
  const folder = join(cacheFolder(), `${packageName}-${version}`);
  const executable = join(folder, 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
  if (existsSync(executable)) return executable;

  await report.step(`Node ${version}`, (say) =>
    buildWhole(folder, async (partial) => {
      say('downloading');
      const installed = await install(packageName, version, partial);
      await checkThatItRuns(version, join(installed, 'bin', basename(executable)));
      return installed;
    }),
  );
  return executable;
}

/**
 * @param {string} packageName
 * @param {string} version
 * @param {string} folder
 * @returns {Promise<string>}
 */
async function install(packageName, version, folder) {
  await writeFile(join(folder, 'package.json'), '{ "private": true }');
  await runNpm(['install', ...quietInstall, '--no-package-lock', `${packageName}@${version}`], {
    cwd: folder,
    purpose: `Node ${version} (${packageName})`,
  });
  const installed = join(folder, 'node_modules', packageName);
  // Removes headers and manuals, which are not needed.
  for (const name of ['include', 'share', 'CHANGELOG.md'])
    await rm(join(installed, name), { recursive: true, force: true });
  return installed;
}

/**
 * @param {string} version
 * @param {string} executable
 */
async function checkThatItRuns(version, executable) {
  try {
    await promisify(execFile)(executable, ['--version']);
  } catch (error) {
    throw new UserError(
      `Node ${version} from the npm registry does not run on this system (${String(error).split('\n')[0]}).`,
      `Install Node ${wantedMajor} with your system’s package manager and run the command with it.`,
    );
  }
}

// Calls npm with the user's npm and registry settings, without the environment of the npm that runs this script.
import { basename } from 'node:path';
import { newLogFile } from './cache.mjs';
import { UserError } from '../console/errors.mjs';
import { lastLines, runCommand, runNode } from '../processes/runCommand.mjs';

/** No package needs its install scripts, and none may run on the user's machine without being asked for. */
export const quietInstall = [
  '--ignore-scripts',
  '--no-audit',
  '--no-fund',
  '--no-update-notifier',
  '--loglevel=warn',
].concat(
  '--prefer-offline',
  // By default npm waits for more than a minute before it reports that there is no network.
  '--fetch-retry-mintimeout=2000',
  '--fetch-retry-maxtimeout=10000',
);

/**
 * @param {readonly string[]} args
 * @param {{ cwd: string, purpose: string }} options purpose: what is being installed, for the error message
 */
export async function runNpm(args, { cwd, purpose }) {
  const script = npmScript();
  const options = { cwd, env: npmEnvironment(process.env), logFile: await newLogFile('npm') };
  const { logFile } = options;
  const result =
    script === undefined
      ? // On Windows npm is a batch file.
        await runCommand('npm', args, { ...options, shell: process.platform === 'win32' })
      : await runNode(process.execPath, [script, ...args], options);
  if (result.exitCode === 0) return;
  if (result.startError !== undefined) {
    throw new UserError(`npm could not be started (${result.startError.message}).`, 'Install npm and try again.');
  }
  throw new UserError(
    `npm could not install ${purpose} (${result.signal ?? `exit code ${result.exitCode}`}).`,
    `${nextStepFor(result.output)} The whole log: ${logFile}`,
    { details: causeIn(result.output) },
  );
}

/**
 * @param {NodeJS.ProcessEnv} [environment]
 * @returns {string | undefined} the npm that runs this script, if npm does
 */
export function npmScript(environment = process.env) {
  const script = environment['npm_execpath'];
  // Another package manager sets the same variable to itself.
  return script !== undefined && /^npm-cli\.c?js$/.test(basename(script)) ? script : undefined;
}

/**
 * The npm that runs this script describes its package in the environment, which an npm for another folder must not get.
 *
 * @param {NodeJS.ProcessEnv} environment
 * @returns {NodeJS.ProcessEnv}
 */
export function npmEnvironment(environment) {
  const ofTheCaller =
    /^(npm_(lifecycle|package)_|npm_config_(local_prefix|global|location|workspace|omit|include|dry_run)|NODE_ENV$)/i;
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !ofTheCaller.test(name)));
}

/**
 * npm states the cause first, and pages of advice may follow.
 *
 * @param {string} output
 * @returns {string}
 */
function causeIn(output) {
  const errors = output.split('\n').filter((line) => /^npm error +\S/.test(line));
  return errors.length === 0 ? lastLines(output, 12) : errors.slice(0, 12).join('\n');
}

/**
 * @param {string} output
 * @returns {string}
 */
function nextStepFor(output) {
  if (/ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|network/i.test(output)) {
    return 'The npm registry cannot be reached: connect to the network (or check npm’s proxy and registry settings) and run the command again; it continues where it stopped.';
  }
  if (/code EUSAGE/.test(output))
    return 'package-lock.json does not match package.json: run `npm install` and commit its changes.';
  if (/ENOSPC/.test(output)) return 'The disk is full: free about 1.5 GB and run the command again.';
  if (/EACCES|EPERM|EROFS/.test(output)) return 'A folder cannot be written to: the lines above name it.';
  return 'Fix the problems named above and run the command again.';
}

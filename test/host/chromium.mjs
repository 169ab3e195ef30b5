// Finds or installs the Chromium for tests: a configured one, an installed one, or Debian's.
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { newLogFile } from './cache.mjs';
import { UserError } from './errors.mjs';
import { lastLines, runCommand } from './runCommand.mjs';

const howToHelp =
  'Install Chrome, Chromium or Edge, or set EARSHOT_CHROMIUM to the path of one. (`npm run test:unit` needs none, nor does `npm start`: open its address in any browser.)';

const namesOnPath = [
  'google-chrome',
  'google-chrome-stable',
  'chromium',
  'chromium-browser',
  'microsoft-edge',
  'microsoft-edge-stable',
];

/**
 * @param {import('./report.mjs').Reporter} report
 * @returns {Promise<string>} the path of the executable
 */
export async function provideChromium(report) {
  const named = process.env['EARSHOT_CHROMIUM'];
  if (named !== undefined && named !== '') {
    if (existsSync(named)) return named;
    throw new UserError(
      `EARSHOT_CHROMIUM names ${named}, which does not exist.`,
      'Correct it, or unset it to use an installed browser.',
    );
  }
  const installed = findInstalled();
  if (installed !== undefined) return installed;

  if (!(await canUseApt()))
    throw new UserError('No Chromium was found, and it cannot be installed from here.', howToHelp);
  await report.step('Chromium', installWithApt);
  const now = findInstalled();
  if (now === undefined) throw new UserError('Chromium was installed, but cannot be found.', howToHelp);
  return now;
}

function findInstalled() {
  return candidates(process.env, process.platform).find((path) => existsSync(path));
}

/**
 * @param {NodeJS.ProcessEnv} environment
 * @param {NodeJS.Platform} platform
 * @returns {string[]}
 */
function candidates(environment, platform) {
  if (platform === 'darwin') {
    const home = environment['HOME'] ?? '';
    return ['Google Chrome', 'Chromium', 'Microsoft Edge'].flatMap((name) =>
      ['/Applications', `${home}/Applications`].map((folder) => `${folder}/${name}.app/Contents/MacOS/${name}`),
    );
  }
  if (platform === 'win32') {
    const roots = ['PROGRAMFILES', 'PROGRAMFILES(X86)', 'LOCALAPPDATA'].flatMap((name) => environment[name] ?? []);
    const programs = [
      'Google\\Chrome\\Application\\chrome.exe',
      'Chromium\\Application\\chrome.exe',
      'Microsoft\\Edge\\Application\\msedge.exe',
    ];
    return programs.flatMap((program) => roots.map((root) => join(root, program)));
  }
  const folders = (environment['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
  return namesOnPath.flatMap((name) => folders.map((folder) => join(folder, name)));
}

async function canUseApt() {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return false;
  const system = await readFile('/etc/os-release', 'utf8').catch(() => '');
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  return /^ID(_LIKE)?=.*(debian|ubuntu)/m.test(system) && folders.some((folder) => existsSync(join(folder, 'apt-get')));
}

/** @param {(what: string) => void} say */
async function installWithApt(say) {
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
  say('apt-get install chromium');
  const options = ['-y', '--no-install-recommends', '-o', 'DPkg::Lock::Timeout=300'];
  // Without a font the workbench shows no text.
  const result = await run('apt-get', ['install', ...options, 'chromium', 'fonts-dejavu-core']);
  if (result.exitCode !== 0) {
    throw new UserError('apt-get could not install Chromium.', `${howToHelp} The whole log: ${logFile}`, {
      details: lastLines(result.output, 8),
    });
  }
}

// Finds or installs the Chromium for tests: a configured one, an installed one, or Debian's.
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { canUseApt, installPackages } from './apt.mjs';
import { UserError } from '../console/errors.mjs';

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
 * @param {import('../console/report.mjs').Reporter} report
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

/** @param {(what: string) => void} say */
async function installWithApt(say) {
  // Without a font the workbench shows no text.
  const { installed, logFile, output } = await installPackages(['chromium', 'fonts-dejavu-core'], say);
  if (!installed) {
    throw new UserError('apt-get could not install Chromium.', `${howToHelp} The whole log: ${logFile}`, {
      details: output,
    });
  }
}

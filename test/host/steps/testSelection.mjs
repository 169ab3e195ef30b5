// Selects the steps of `npm test` from its command line.
import { UserError } from '../console/errors.mjs';

export const testHelp = `npm test [-- WHICH]: checks and tests Earshot; the last line counts passed and failed tests.

  (nothing)   all of the following except full and electron; on macOS checks, unit, posix and electron, and on Windows
              checks, unit, windows and electron
  full        the same, with every random or repeated test run much more often
  checks      types, lint, format, unused code, build
  unit        tests without an editor
  posix       tests of processes by what every POSIX system has, on Linux with a ps that is like the one of macOS
  windows     tests in test/windows with Node for Windows, on Linux under Wine
  vscode      tests in the extension host of the installed VS Code
  browser     tests of its workbench, through Chromium
  installed   packages Earshot, installs the package in that VS Code and uses it
  electron    the vscode suites in a desktop VS Code: downloaded, or the one that EARSHOT_VSCODE names`;

/** @typedef {'types' | 'lint' | 'format' | 'unused' | 'build' | 'unit' | 'posix' | 'windows' | 'vscode' | 'notifications' | 'browser' | 'alone' | 'installed' | 'electron'} Step */

/** @type {readonly Step[]} */
const order = [
  'types',
  'lint',
  'format',
  'unused',
  'build',
  'unit',
  'posix',
  'windows',
  'vscode',
  'notifications',
  'browser',
  'alone',
  'installed',
  'electron',
];

const DESKTOP = 'its tests run in a desktop VS Code here';
const SERVER = 'its tests use the server of VS Code, and the keys, as they are on Linux';

const EDITORS = { vscode: DESKTOP, notifications: DESKTOP, browser: SERVER, alone: SERVER, installed: SERVER };

/**
 * Why a step does not run on this system unless it is named.
 *
 * @param {NodeJS.Platform} platform
 * @returns {Partial<Record<Step, string>>}
 */
function leftOutOn(platform) {
  if (platform === 'linux') return { electron: 'its tests run in the server of VS Code here' };
  if (platform === 'win32') return { ...EDITORS, posix: 'there is no ps' };
  return { ...EDITORS, windows: 'its tests need Windows, or Wine, which is installed on Linux only' };
}

/** @type {Record<string, readonly Step[]>} */
const selections = {
  checks: ['types', 'lint', 'format', 'unused', 'build'],
  unit: ['unit'],
  posix: ['posix'],
  windows: ['windows'],
  vscode: ['build', 'vscode', 'notifications'],
  browser: ['build', 'browser', 'alone'],
  installed: ['installed'],
  electron: ['build', 'electron'],
};

/**
 * @param {readonly string[]} args
 * @param {NodeJS.Platform} [platform]
 * @returns {readonly Step[]} in the order in which they run
 */
export function readTestSelection(args, platform = process.platform) {
  const leftOut = leftOutOn(platform);
  const all = order.filter((step) => leftOut[step] === undefined);
  if (args.length === 0) return all;
  const wanted = new Set(
    args.flatMap((word) => {
      if (word === 'full') return all;
      const steps = Object.hasOwn(selections, word) ? selections[word] : undefined;
      if (steps === undefined) {
        const suites = ['full', ...Object.keys(selections)].join(', ');
        throw new UserError(`There is no test suite “${word}”.`, `Suites: ${suites}.`, { exitCode: 2 });
      }
      return steps;
    }),
  );
  return order.filter((step) => wanted.has(step));
}

/**
 * The steps that a run of everything leaves out on this system, and why.
 *
 * @param {readonly string[]} args
 * @param {NodeJS.Platform} [platform]
 * @returns {readonly { readonly step: Step, readonly why: string }[]}
 */
export function stepsLeftOut(args, platform = process.platform) {
  if (platform === 'linux' || (args.length > 0 && !args.includes('full'))) return [];
  const chosen = readTestSelection(args, platform);
  const leftOut = leftOutOn(platform);
  return order.flatMap((step) => {
    const why = leftOut[step];
    return why === undefined || chosen.includes(step) ? [] : [{ step, why }];
  });
}

/**
 * The environment variables of the tests for these arguments.
 *
 * @param {readonly string[]} args
 * @returns {Record<string, string>}
 */
export function testEnvironment(args) {
  return args.includes('full') ? { EARSHOT_TEST_FULL: '1' } : {};
}

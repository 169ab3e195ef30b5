// Selects the steps of `npm test` from its command line.
import { UserError } from '../console/errors.mjs';

export const testHelp = `npm test [-- WHICH]: checks and tests Earshot; the last line counts passed and failed tests.

  (nothing)   all of the following except full and electron
  full        the same, with every random or repeated test run much more often
  checks      types, lint, format, unused code, build
  unit        tests without an editor
  vscode      tests in the extension host of the installed VS Code
  browser     tests of its workbench, through Chromium
  installed   packages Earshot, installs the package in that VS Code and uses it
  electron    the vscode suites in a desktop VS Code: downloaded, or the one that EARSHOT_VSCODE names`;

/** @typedef {'types' | 'lint' | 'format' | 'unused' | 'build' | 'unit' | 'vscode' | 'notifications' | 'browser' | 'alone' | 'installed' | 'electron'} Step */

/** @type {readonly Step[]} */
const order = [
  'types',
  'lint',
  'format',
  'unused',
  'build',
  'unit',
  'vscode',
  'notifications',
  'browser',
  'alone',
  'installed',
  'electron',
];

/** @type {Record<string, readonly Step[]>} */
const selections = {
  full: order.filter((step) => step !== 'electron'),
  checks: ['types', 'lint', 'format', 'unused', 'build'],
  unit: ['unit'],
  vscode: ['build', 'vscode', 'notifications'],
  browser: ['build', 'browser', 'alone'],
  installed: ['installed'],
  electron: ['build', 'electron'],
};

/**
 * @param {readonly string[]} args
 * @returns {readonly Step[]} in the order in which they run
 */
export function readTestSelection(args) {
  if (args.length === 0) return order.filter((step) => step !== 'electron');
  const wanted = new Set(
    args.flatMap((word) => {
      const steps = Object.hasOwn(selections, word) ? selections[word] : undefined;
      if (steps === undefined) {
        throw new UserError(`There is no test suite “${word}”.`, `Suites: ${Object.keys(selections).join(', ')}.`, {
          exitCode: 2,
        });
      }
      return steps;
    }),
  );
  return order.filter((step) => wanted.has(step));
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

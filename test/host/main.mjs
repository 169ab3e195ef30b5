// Entry point of `npm start`, `npm test` and similar: installs what they need and runs their TypeScript on the right
// Node.
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { fileURLToPath } from 'node:url';
import { UserError } from './console/errors.mjs';
import { runToExit } from './processes/lifetime.mjs';
import { createReporter } from './console/report.mjs';
import { bondOptions } from './processes/runCommand.mjs';
import { setUp } from './setup.mjs';
import { readStartOptions, startHelp } from './start/startOptions.mjs';
import { readTestSelection, testHelp } from './steps/testSelection.mjs';

const oldestNode = 20;

/**
 * @typedef {object} Command
 * @property {string} help
 * @property {string} stage the file to run once everything is installed
 * @property {(args: readonly string[]) => Promise<readonly import('./setup.mjs').Need[]>} check
 *   refuses wrong arguments before anything is installed; returns what is needed
 */

/** @type {Record<string, Command>} */
const commands = {
  start: {
    stage: 'start.ts',
    help: startHelp,
    async check(args) {
      await readStartOptions(args);
      return ['dependencies', 'vscode'];
    },
  },
  test: {
    stage: 'test.ts',
    help: testHelp,
    async check(args) {
      const steps = readTestSelection(args);
      const needsEditor = ['vscode', 'browser', 'installed'].some((step) => steps.some((one) => one === step));
      return [
        'dependencies',
        ...(needsEditor ? /** @type {const} */ (['vscode', 'chromium']) : []),
        ...(steps.includes('unit') ? /** @type {const} */ (['programs']) : []),
        ...(steps.includes('windows') ? /** @type {const} */ (['wine']) : []),
      ];
    },
  },
  bench: {
    stage: 'bench.ts',
    help: 'npm run bench [-- NAME]: runs test/bench/*.bench.ts, or those whose name contains NAME.',
    // The storm benchmark runs in a real extension host, the hub benchmark with a nats-server.
    check: async () => ['dependencies', 'vscode', 'chromium', 'programs'],
  },
  trial: {
    stage: '../trial/run.ts',
    help: 'npm run trial -- --base-url URL --model NAME [--verbose]: tries how a model reacts to notifications in each format.',
    check: async () => ['dependencies'],
  },
  record: {
    stage: '../noise/record.ts',
    help: 'npm run record [-- FASTER FILE]: records an hour of ordinary work in a real VS Code, in real time.',
    check: async () => ['dependencies', 'vscode', 'chromium'],
  },
  crash: {
    stage: 'crash.ts',
    help: 'npm run test:crash [-- RUNS]: kills a writing process RUNS times; default 500.',
    check: async () => ['dependencies'],
  },
  mutants: {
    stage: '../mutants/run.ts',
    help: 'npm run test:mutants [-- NAME]: breaks the code on purpose and checks that the tests fail.',
    check: async () => ['dependencies'],
  },
  contributions: {
    stage: 'contributions.ts',
    help: 'npm run contributions: writes commands, menus, settings and views to package.json.',
    check: async () => ['dependencies'],
  },
  models: {
    stage: 'models.ts',
    help: 'npm run models: writes the facts about models (prices, windows, levels of reasoning) to media/models.json.',
    check: async () => ['dependencies'],
  },
  package: { stage: 'package.ts', help: 'npm run package: builds earshot.vsix.', check: async () => ['dependencies'] },
  // Called by test/host/vscode, which has the command line of a desktop VS Code.
  vscode: { stage: 'vscodeExecutable.ts', help: '', check: async () => ['dependencies', 'vscode', 'chromium'] },
};

endWithTheShell();
await runToExit(main);

async function main() {
  if (Number(process.versions.node.split('.')[0]) < oldestNode) {
    throw new UserError(`Node ${process.versions.node} is too old.`, `Install Node ${oldestNode} or later.`);
  }
  const [name = '', ...args] = process.argv.slice(2);
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (command === undefined) {
    throw new UserError(`There is no command “${name}”.`, `Commands: ${Object.keys(commands).join(', ')}.`, {
      exitCode: 2,
    });
  }
  if (name !== 'vscode' && (args.includes('--help') || args.includes('-h'))) {
    process.stdout.write(`${command.help}\n`);
    return 0;
  }
  const needs = await command.check(args);
  const { node } = await setUp(needs, createReporter());
  return runStage(node, command.stage, args);
}

/**
 * npm passes a signal to the shell that runs this script; the shell ends without passing it on.
 */
function endWithTheShell() {
  if (process.env['npm_lifecycle_event'] === undefined) return;
  const shell = process.ppid;
  setInterval(() => {
    if (process.ppid !== shell) process.kill(process.pid, 'SIGTERM');
  }, 500).unref();
}

/**
 * Runs the second stage in place of this process: same terminal, same signals, its exit code.
 *
 * @param {string} node
 * @param {string} file
 * @param {readonly string[]} args
 * @returns {Promise<number>}
 */
function runStage(node, file, args) {
  const script = fileURLToPath(new URL(file, import.meta.url));
  const bond = bondOptions('self');
  const child = spawn(node, [...bond.args, script, ...args], {
    env: { ...process.env, ...bond.env },
    stdio: ['inherit', 'inherit', 'inherit', bond.stdio],
  });
  // The second stage cleans up and reports the end itself.
  for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP'])) {
    process.removeAllListeners(signal);
    process.on(signal, () => child.kill(signal));
  }
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (exitCode, signal) => resolve(exitCode ?? 128 + constants.signals[signal ?? 'SIGKILL']));
  });
}

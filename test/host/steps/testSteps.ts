// The steps of `npm test`: what each one runs, and where its result is read from.
import { existsSync } from 'node:fs';
import { readdir, readFile, rm } from 'node:fs/promises';
import { constants } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from '../packaging/build.ts';
import { UserError } from '../console/errors.mjs';
import { isMarked, mark, markerOf } from './checkCache.ts';
import { type CommandResult, lastLines, runCommand, runNode } from '../processes/runCommand.mjs';
import { repository } from '../setup.mjs';
import {
  failedToRun,
  oneFailed,
  onePassed,
  readMochaReport,
  readVitestReport,
  requireTests,
  type StepResult,
} from './stepResult.ts';
import type { Step } from './testSelection.mjs';
import { testOnWindows } from './windowsTests.ts';
import { restoreTypes, saveTypes } from './typeCache.ts';

const resultsFolder = join(repository, '.build', 'test');
const shownLines = 38;
/**
 * Steps with editors have a higher priority than those that only compute: an editor that waits for a core is too slow
 * for the time limits of its tests. Unit tests are only a little lower, because they take the longest.
 */
const priorities: Partial<Record<Step, number>> = {
  unit: 2,
  types: constants.priority.PRIORITY_BELOW_NORMAL,
  lint: constants.priority.PRIORITY_BELOW_NORMAL,
  format: constants.priority.PRIORITY_BELOW_NORMAL,
  unused: constants.priority.PRIORITY_BELOW_NORMAL,
  build: constants.priority.PRIORITY_BELOW_NORMAL,
};

interface TestStep {
  readonly label: string;
  run(): Promise<StepResult>;
  /** Runs the files or suites of these failed tests again. If absent, a failure is final. */
  repeat?(titles: readonly string[]): Promise<StepResult>;
}

export const testSteps: Record<Step, TestStep> = {
  types: { label: 'Types', run: () => oncePerTree('types-passed', checkTypes) },
  lint: {
    label: 'Lint',
    run: () => oncePerTree('lint', () => check('lint', 'eslint/bin/eslint.js', ['--max-warnings=0', '.'], LINT_MEMORY)),
  },
  format: { label: 'Format', run: () => check('format', '@biomejs/biome/bin/biome', ['format', '.']) },
  unused: {
    label: 'Unused code',
    run: () => oncePerTree('unused', () => check('unused', 'knip/bin/knip.js', [])),
  },
  build: { label: 'Build', run: buildAll },
  unit: {
    label: 'Unit tests',
    run: () => vitest('unit', 'test/vitest.config.ts'),
    repeat: (titles) => vitest('unit', 'test/vitest.config.ts', titles),
  },
  posix: {
    label: 'Tests on POSIX',
    run: () => vitest('posix', 'test/posix.config.ts'),
    repeat: (titles) => vitest('posix', 'test/posix.config.ts', titles),
  },
  windows: {
    label: 'Tests on Windows',
    run: () => testOnWindows(logFileOf('windows')),
    repeat: (titles) => testOnWindows(logFileOf('windows'), titles),
  },
  vscode: {
    label: 'Tests in VS Code',
    run: () => vscodeSuites('vscode', 'others'),
    repeat: (titles) => vscodeSuites('vscode', 'others', titles),
  },
  notifications: {
    label: 'Tests of notifications in VS Code',
    run: () => vscodeSuites('notifications', 'notifications'),
    repeat: (titles) => vscodeSuites('notifications', 'notifications', titles),
  },
  browser: {
    label: 'Tests in the browser',
    run: () => vitest('browser', 'test/browser/vitest.config.ts'),
    repeat: (titles) => vitest('browser', 'test/browser/vitest.config.ts', titles),
  },
  alone: {
    label: 'Tests with restarted windows',
    run: () => vitest('alone', 'test/browser/alone/vitest.config.ts'),
    repeat: (titles) => vitest('alone', 'test/browser/alone/vitest.config.ts', titles),
  },
  installed: { label: 'Installed package', run: () => vitest('installed', 'test/installed/vitest.config.ts') },
  electron: { label: 'Tests in a desktop VS Code', run: () => vscodeSuites('electron', undefined) },
};

function logFileOf(step: string): string {
  return join(resultsFolder, `${step}.log`);
}

/** Runs a program of a dependency on this Node; its whole output goes to a file, and the end of it is returned. */
async function runTool(
  step: Step,
  script: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
): Promise<CommandResult> {
  await rm(logFileOf(step), { force: true });
  const options = {
    cwd: repository,
    logFile: logFileOf(step),
    env: { ...process.env, NO_COLOR: '1', FORCE_COLOR: '0', ...env },
    // Time for the program to close the browsers and servers that it started.
    graceMilliseconds: 8000,
    ...(priorities[step] !== undefined && { priority: priorities[step] }),
  };
  const display = step === 'electron' ? virtualDisplay() : undefined;
  return display === undefined
    ? runNode(process.execPath, [script, ...args], options)
    : runCommand(display, ['-a', process.execPath, script, ...args], options);
}

/** The types of the whole tree need more than Node's default of 4 GB. */
const LINT_MEMORY = { NODE_OPTIONS: '--max-old-space-size=8192' };

async function check(
  step: Step,
  script: string,
  args: readonly string[],
  env?: NodeJS.ProcessEnv,
): Promise<StepResult> {
  const result = await runTool(step, join(repository, 'node_modules', script), args, env);
  return result.exitCode === 0 ? onePassed : oneFailed(testSteps[step].label, explain(step, result));
}

/** Passes without running if the same tree has passed before. */
async function oncePerTree(name: string, run: () => Promise<StepResult>): Promise<StepResult> {
  const marker = await markerOf(name);
  if (marker !== undefined && (await isMarked(marker))) return onePassed;
  const result = await run();
  // A cache that cannot be written only costs time.
  if (marker !== undefined && result.failures.length === 0) await mark(marker).catch(() => undefined);
  return result;
}

async function checkTypes(): Promise<StepResult> {
  await restoreTypes();
  for (const project of await typeProjects()) {
    // Not `tsc -b`: it skips a project whose own files are unchanged, even if files that they import have changed.
    const result = await check('types', 'typescript/bin/tsc', ['-p', project]);
    if (result.failures.length > 0) return result;
  }
  // A cache that cannot be written only costs time.
  await saveTypes().catch(() => undefined);
  return onePassed;
}

function explain(step: Step, { exitCode, signal, output, startError }: CommandResult): string {
  const ending = startError?.message ?? (signal === null ? `exit code ${exitCode}` : `ended by ${signal}`);
  return `${lastLines(output, shownLines)}\n(${ending}; the whole output: ${logFileOf(step)})`;
}

/** Every project in the tree; the one at the root only contains shared options. */
async function typeProjects(): Promise<string[]> {
  const found = await Promise.all(
    ['src', 'test'].map(async (top) => {
      const files = await readdir(join(repository, top), { recursive: true, withFileTypes: true });
      return files.filter(({ name }) => name === 'tsconfig.json').map((file) => join(file.parentPath, file.name));
    }),
  );
  return found
    .flat()
    .filter((path) => !path.includes(join('test', 'host', 'sample')))
    .sort();
}

async function buildAll(): Promise<StepResult> {
  try {
    await build();
    await build('--tests');
    return onePassed;
  } catch (error) {
    return failedToRun(error, testSteps.build.label);
  }
}

async function vitest(step: Step, configuration: string, titles: readonly string[] = []): Promise<StepResult> {
  const files = new Set(titles.map((title) => title.split(' › ')[0] ?? ''));
  const report = join(resultsFolder, `${step}.json`);
  await rm(report, { force: true });
  const script = join(repository, 'node_modules', 'vitest', 'vitest.mjs');
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  const result = await runTool(step, script, [
    'run',
    '--config',
    join(repository, configuration),
    ...reporters,
    ...files,
  ]);
  return readReport(step, result, report, (text) => readVitestReport(text, repository));
}

async function vscodeSuites(
  step: Step,
  part: 'notifications' | 'others' | undefined,
  titles: readonly string[] = [],
): Promise<StepResult> {
  const report = join(resultsFolder, `${step}.json`);
  await rm(report, { force: true });
  const script = fileURLToPath(new URL('../vscodeSuites.ts', import.meta.url));
  const only = titles.map((title) => title.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)).join('|');
  const env = {
    EARSHOT_TEST_RESULTS: report,
    ...(part !== undefined && { EARSHOT_TEST_PART: part }),
    ...(only !== '' && { EARSHOT_TEST_ONLY: only }),
  };
  const result = await runTool(step, script, [step], env);
  return readReport(step, result, report, readMochaReport);
}

/** An interrupted run counts as failed even if every test so far has passed. */
async function readReport(
  step: Step,
  result: CommandResult,
  file: string,
  read: (text: string) => StepResult,
): Promise<StepResult> {
  const { label } = testSteps[step];
  if (!existsSync(file)) return oneFailed(label, explain(step, result));
  const counted = requireTests(read(await readFile(file, 'utf8')), label);
  if (result.exitCode === 0 || counted.failures.length > 0) return counted;
  return { ...oneFailed(label, explain(step, result)), passed: counted.passed, skipped: counted.skipped };
}

/** The program that provides a virtual display for a desktop program; undefined if there is a real display. */
function virtualDisplay(): string | undefined {
  const { DISPLAY, WAYLAND_DISPLAY, PATH = '' } = process.env;
  if (process.platform !== 'linux' || DISPLAY !== undefined || WAYLAND_DISPLAY !== undefined) return undefined;
  const found = PATH.split(':')
    .map((folder) => join(folder, 'xvfb-run'))
    .find((file) => existsSync(file));
  if (found !== undefined) return found;
  throw new UserError(
    'A desktop VS Code needs a display, and there is none.',
    'Install xvfb (`apt-get install xvfb`), or run `npm run test:vscode`, which needs no display.',
  );
}

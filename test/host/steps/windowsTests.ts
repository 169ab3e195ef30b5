// Runs the tests of test/windows with Node for Windows, on Windows itself or under Wine, and the programs as they are
// shipped.
import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import * as esbuild from 'esbuild';
import { hook, nodePrograms, programs } from '../../../esbuild.mjs';
import { findWine } from '../install/wine.mjs';
import { runCommand } from '../processes/runCommand.mjs';
import { repository } from '../setup.mjs';
import { oneFailed, requireTests, type StepResult } from './stepResult.ts';

const LABEL = 'Tests on Windows';
const folder = join(repository, '.build', 'windows');
/** More than these wait for the same two cores. */
const AT_ONCE = 2;

interface Reported {
  readonly name: string;
  readonly nesting: number;
  readonly skipped: boolean;
  readonly reason?: string;
  readonly error?: string;
}

/** What runs the tests, and how it names a file of this machine. */
interface WindowsNode {
  readonly env: NodeJS.ProcessEnv;
  pathOf(path: string): string;
  urlOf(path: string): string;
  /** `output`: a file for what it prints, where that cannot be read through a pipe. */
  start(args: readonly string[], output: string): { readonly command: string; readonly args: readonly string[] };
}

/** Undefined: there is none on this machine. */
export function windowsNode(system: NodeJS.Platform = process.platform): WindowsNode | undefined {
  if (system === 'win32') {
    return {
      env: {},
      pathOf: (path) => path,
      urlOf: (path) => pathToFileURL(path).href,
      start: (args) => ({ command: process.execPath, args }),
    };
  }
  const wine = findWine();
  if (wine === undefined) return undefined;
  return {
    env: wine.env,
    pathOf: (path) => `Z:${path.replaceAll('/', '\\')}`,
    urlOf: (path) => `file:///Z:${path}`,
    // Through a pipe of Linux, Node for Windows prints nothing under Wine.
    start: (args, output) => {
      const line = [wine.program, wine.node, ...args].map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ');
      return { command: 'sh', args: ['-c', `exec ${line} > '${output}' 2>&1 </dev/null`] };
    },
  };
}

/**
 * Skipped, and said so when Wine was to be installed, where there is none. `titles`: only the files of these tests.
 */
export async function testOnWindows(logFile: string, titles?: readonly string[]): Promise<StepResult> {
  const node = windowsNode();
  if (node === undefined) return { passed: 0, skipped: 1, failures: [] };
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const files = titles && new Set(titles.map((title) => title.split(' › ')[0]));
  const names = (await readdir(join(repository, 'test/windows'))).filter(
    (name) => name.endsWith('.test.ts') && files?.has(`test/windows/${name}`) !== false,
  );
  await buildTests(names);
  const results: StepResult[] = [];
  const left = [...names];
  const lane = async () => {
    for (let name = left.shift(); name !== undefined; name = left.shift()) {
      results.push(await runOnWindows(node, { folder, name: name.replace(/\.ts$/, ''), logFile }));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
  return {
    passed: results.reduce((sum, { passed }) => sum + passed, 0),
    skipped: results.reduce((sum, { skipped }) => sum + skipped, 0),
    failures: results.flatMap(({ failures }) => failures),
    notes: results.flatMap(({ notes = [] }) => notes),
  };
}

/** One bundle each, as Node for Windows would otherwise read a thousand files through Wine. */
async function buildTests(names: readonly string[]): Promise<void> {
  const quiet = {
    absWorkingDir: repository,
    outdir: folder,
    sourcemap: false,
    metafile: false,
    logLevel: 'error',
  } as const;
  const entries = [
    ...names.map((name) => `test/windows/${name}`),
    ...['src/bin/ears.ts', 'test/crash/child.ts', 'test/windows/lockHolder.ts', 'test/windows/window.ts'],
  ];
  const { plugins: _launchers, ...node } = nodePrograms;
  await Promise.all([
    esbuild.build({ ...programs, ...quiet, entryPoints: { supervisor: 'src/bin/supervisor.ts' } }),
    esbuild.build({ ...hook, ...quiet, outExtension: { '.js': '.mjs' } }),
    esbuild.build({ ...node, ...quiet, entryPoints: entries, entryNames: '[name]', outExtension: { '.js': '.mjs' } }),
  ]);
}

/** Runs the built tests `name` in the folder. */
export async function runOnWindows(
  node: WindowsNode,
  { folder, name, logFile }: { readonly folder: string; readonly name: string; readonly logFile: string },
): Promise<StepResult> {
  const report = join(folder, `${name}.jsonl`);
  const output = join(folder, `${name}.log`);
  const args = [
    // A test that failed may have left something open.
    ...['--no-warnings', '--test', '--experimental-test-isolation=none', '--test-force-exit'],
    `--test-reporter=${node.urlOf(join(repository, 'test/windows/reporter.mjs'))}`,
    `--test-reporter-destination=${node.pathOf(report)}`,
    node.pathOf(join(folder, `${name}.mjs`)),
  ];
  const start = node.start(args, output);
  const ended = await runCommand(start.command, start.args, {
    logFile,
    env: { ...process.env, ...node.env, EARSHOT_TEST_PROGRAMS: node.pathOf(folder), NODE_OPTIONS: '' },
    cwd: folder,
  });
  const text = await readFile(report, 'utf8').catch(() => '');
  const tests = text.split('\n').flatMap((one) => (one === '' ? [] : [JSON.parse(one) as Reported]));
  const titleOf = (one: Reported) => `test/windows/${name}.ts › ${one.name}`;
  const failures = tests.flatMap((one) =>
    one.error === undefined ? [] : [{ title: titleOf(one), message: one.error }],
  );
  const skipped = tests.filter((one) => one.skipped);
  const counted = {
    passed: tests.length - failures.length - skipped.length,
    skipped: skipped.length,
    failures,
    notes: skipped.map((one) => `Skipped: ${titleOf(one)}: ${one.reason ?? 'no reason was given'}`),
  };
  if (ended.exitCode === 0 || failures.length > 0) return requireTests(counted, LABEL);
  const printed = await readFile(output, 'utf8').catch(() => ended.output);
  return oneFailed(`test/windows/${name}.ts`, `${printed.slice(-2000)}\n(exit code ${ended.exitCode})`);
}

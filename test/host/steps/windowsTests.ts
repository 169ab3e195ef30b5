// Runs the tests of test/windows under Wine: with Node for Windows, and the programs as they are shipped.
import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
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
  readonly error?: string;
}

/** Skipped, and said so when Wine was to be installed, where there is none. */
export async function testOnWindows(logFile: string): Promise<StepResult> {
  const wine = findWine();
  if (wine === undefined) return { passed: 0, skipped: 1, failures: [] };
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const names = (await readdir(join(repository, 'test/windows'))).filter((name) => name.endsWith('.test.ts'));
  await buildTests(names);
  const results: StepResult[] = [];
  const left = [...names];
  const lane = async () => {
    for (let name = left.shift(); name !== undefined; name = left.shift()) {
      results.push(await run(wine, name.replace(/\.ts$/, ''), logFile));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
  return {
    passed: results.reduce((sum, { passed }) => sum + passed, 0),
    skipped: results.reduce((sum, { skipped }) => sum + skipped, 0),
    failures: results.flatMap(({ failures }) => failures),
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
    ...['src/bin/ears.ts', 'test/crash/child.ts', 'test/windows/lockHolder.ts'],
  ];
  const { plugins: _launchers, ...node } = nodePrograms;
  await Promise.all([
    esbuild.build({ ...programs, ...quiet, entryPoints: { supervisor: 'src/bin/supervisor.ts' } }),
    esbuild.build({ ...hook, ...quiet, outExtension: { '.js': '.mjs' } }),
    esbuild.build({ ...node, ...quiet, entryPoints: entries, entryNames: '[name]', outExtension: { '.js': '.mjs' } }),
  ]);
}

/** Standard output must be a file: through a pipe of Linux, Node for Windows prints nothing under Wine. */
async function run(
  { program, node, env }: NonNullable<ReturnType<typeof findWine>>,
  name: string,
  logFile: string,
): Promise<StepResult> {
  const report = join(folder, `${name}.jsonl`);
  const reporter = join(repository, 'test/windows/reporter.mjs');
  const windows = (path: string) => `Z:${path.replaceAll('/', '\\')}`;
  const args = [
    // A test that failed may have left something open.
    ...['--no-warnings', '--test', '--experimental-test-isolation=none', '--test-force-exit'],
    `--test-reporter=file:///Z:${reporter}`,
    `--test-reporter-destination=${windows(report)}`,
    windows(join(folder, `${name}.mjs`)),
  ];
  const line = [program, node, ...args].map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ');
  const { exitCode } = await runCommand('sh', ['-c', `exec ${line} > '${folder}/${name}.log' 2>&1 </dev/null`], {
    logFile,
    env: { ...process.env, ...env, EARSHOT_TEST_PROGRAMS: windows(folder), NODE_OPTIONS: '' },
    cwd: folder,
  });
  const text = await readFile(report, 'utf8').catch(() => '');
  const tests = text.split('\n').flatMap((one) => (one === '' ? [] : [JSON.parse(one) as Reported]));
  const failures = tests.flatMap((one) =>
    one.error === undefined ? [] : [{ title: `test/windows/${name}.ts › ${one.name}`, message: one.error }],
  );
  const skipped = tests.filter((one) => one.skipped).length;
  const counted = { passed: tests.length - failures.length - skipped, skipped, failures };
  if (exitCode === 0 || failures.length > 0) return requireTests(counted, LABEL);
  const output = await readFile(join(folder, `${name}.log`), 'utf8').catch(() => '');
  return oneFailed(`test/windows/${name}.ts`, `${output.slice(-2000)}\n(exit code ${exitCode})`);
}

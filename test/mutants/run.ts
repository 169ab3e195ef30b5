// Applies each mutant to a copy of the tree and runs the tests that must detect it. Exits with 1 if one survives.
// Usage: node test/mutants/run.ts [part of a name or of a file]
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { mutants } from './list.ts';
import { type Mutant, mutate } from './mutate.ts';

const root = resolve(import.meta.dirname, '../..');
const [wanted = ''] = process.argv.slice(2);
const start = performance.now();
const counts = new Map<string, number>();
const say = (line: string) => process.stdout.write(`${line}\n`);

const chosen = mutants.filter(({ name, file }) => name.includes(wanted) || file.includes(wanted));
if (chosen.length === 0) {
  say(`No mutant’s name or file contains “${wanted}”.`);
  process.exit(1);
}

const copy = await mkdtemp(join(tmpdir(), 'earshot-mutants-'));
try {
  for (const name of ['src', 'test', 'package.json', 'tsconfig.json', 'esbuild.mjs']) {
    await cp(join(root, name), join(copy, name), { recursive: true });
  }
  await symlink(join(root, 'node_modules'), join(copy, 'node_modules'));
  const tests = [...new Set(chosen.flatMap((mutant) => mutant.tests))];
  const failure = await firstFailure(tests);
  if (failure !== undefined) {
    say(`The tests fail without any mutant: fix them first. ${failure.test ?? ''}: ${failure.message}`);
    process.exitCode = 1;
  } else {
    for (const mutant of chosen) await checkMutant(mutant);
    const minutes = ((performance.now() - start) / 60_000).toFixed(1);
    say(`${[...counts].map(([result, count]) => `${count} ${result}`).join(', ')}, ${minutes} min`);
  }
} finally {
  await rm(copy, { recursive: true, force: true });
}

async function checkMutant(mutant: Mutant): Promise<void> {
  const path = join(copy, mutant.file);
  const source = await readFile(path, 'utf8');
  try {
    await writeFile(path, mutate(source, mutant));
  } catch (error) {
    report('STALE', `${mutant.name}: ${String(error)}, in ${mutant.file}`);
    return;
  }
  const failure = await firstFailure(mutant.tests);
  await writeFile(path, source);
  if (failure === undefined) report('SURVIVED', mutant.name);
  else if (failure.test === undefined) report('BROKEN', `${mutant.name}: no test ran. ${failure.message}`);
  else report('killed', `${mutant.name}\n          by “${failure.test}”: ${failure.message}`);
}

function report(result: 'killed' | 'SURVIVED' | 'BROKEN' | 'STALE', line: string): void {
  say(`${result.padEnd(9)} ${line}`);
  counts.set(result, (counts.get(result) ?? 0) + 1);
  if (result !== 'killed') process.exitCode = 1;
}

interface Failure {
  /** Missing if not even one test ran: then the mutant is no fault of behaviour, and proves nothing about the tests. */
  readonly test: string | undefined;
  readonly message: string;
}

/** Undefined if all tests pass. */
async function firstFailure(tests: readonly string[]): Promise<Failure | undefined> {
  const vitest = join(copy, 'node_modules/vitest/vitest.mjs');
  const output = join(copy, 'results.json');
  await rm(output, { force: true });
  // A mutant may make a test wait forever.
  const limits = ['--testTimeout=20000', '--bail=1', '--reporter=json', `--outputFile=${output}`];
  const args = [vitest, 'run', '--config', 'test/vitest.config.ts', '--silent', ...limits, ...tests];
  const child = spawn(process.execPath, args, { cwd: copy, stdio: 'ignore' });
  const [code] = (await once(child, 'exit')) as [number | null];
  if (code === 0) return undefined;
  const files = await readFile(output, 'utf8').then(
    (text) => (JSON.parse(text) as Results).testResults,
    (): Results['testResults'] => [],
  );
  const failed = files.flatMap((file) => file.assertionResults).find(({ status }) => status === 'failed');
  if (failed !== undefined) return { test: failed.fullName, message: firstLine(failed.failureMessages[0]) };
  const file = files.find(({ status }) => status === 'failed');
  const ran = files.some((one) => one.assertionResults.some(({ status }) => status === 'passed'));
  return { test: ran ? (file?.name ?? tests.join(', ')) : undefined, message: firstLine(file?.message) };
}

/** The part of vitest's JSON report that is read here. */
interface Results {
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly message: string;
    readonly assertionResults: readonly {
      readonly fullName: string;
      readonly status: string;
      readonly failureMessages: readonly string[];
    }[];
  }[];
}

function firstLine(text = ''): string {
  return text.split('\n', 1)[0]?.slice(0, 200) ?? '';
}

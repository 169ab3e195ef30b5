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
  if (!(await passes(tests))) {
    say('The tests fail without any mutant: fix them first.');
    process.exitCode = 1;
  } else {
    for (const mutant of chosen) await checkMutant(mutant);
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
    say(`STALE     ${mutant.name}: ${String(error)}, in ${mutant.file}`);
    process.exitCode = 1;
    return;
  }
  const survived = await passes(mutant.tests);
  await writeFile(path, source);
  say(`${survived ? 'SURVIVED ' : 'killed   '} ${mutant.name}`);
  if (survived) process.exitCode = 1;
}

async function passes(tests: readonly string[]): Promise<boolean> {
  const vitest = join(copy, 'node_modules/vitest/vitest.mjs');
  // A mutant may make a test wait forever.
  const limits = ['--testTimeout=20000', '--bail=1'];
  const args = [vitest, 'run', '--config', 'test/vitest.config.ts', '--silent', ...limits, ...tests];
  const child = spawn(process.execPath, args, { cwd: copy, stdio: 'ignore' });
  const [code] = (await once(child, 'exit')) as [number | null];
  return code === 0;
}

// Runs the selected benchmarks one after another, so that they do not disturb each other.
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { UserError } from './console/errors.mjs';
import { runToExit } from './processes/lifetime.mjs';
import { spawnNode } from './processes/runCommand.mjs';
import { repository } from './setup.mjs';

await runToExit(bench);

async function bench(): Promise<number> {
  const [wanted = ''] = process.argv.slice(2);
  const folder = join(repository, 'test', 'bench');
  const names = (await readdir(folder).catch(() => [])).filter(
    (name) => name.endsWith('.bench.ts') && name.includes(wanted),
  );
  if (names.length === 0) {
    throw new UserError(
      wanted === '' ? `There is no benchmark in ${folder}.` : `No benchmark has “${wanted}” in its name.`,
      'Benchmarks are files test/bench/*.bench.ts.',
    );
  }
  let exitCode = 0;
  for (const name of names.sort()) {
    console.log(`\n${name}`);
    if ((await runToEnd(join(folder, name))) !== 0) exitCode = 1;
  }
  return exitCode;
}

function runToEnd(file: string): Promise<number | null> {
  const { child } = spawnNode(process.execPath, ['--expose-gc', file], { cwd: repository, output: 'inherit' });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', resolve);
  });
}

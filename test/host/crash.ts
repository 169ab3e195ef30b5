// Runs the crash test with more repetitions than `npm test`.
import { join } from 'node:path';
import { runToExit } from './processes/lifetime.mjs';
import { spawnNode } from './processes/runCommand.mjs';
import { repository } from './setup.mjs';

const DEFAULT_RUNS = '500';

await runToExit(crash);

async function crash(): Promise<number> {
  process.env['EARSHOT_CRASH_RUNS'] = process.argv[2] ?? DEFAULT_RUNS;
  const vitest = join(repository, 'node_modules', 'vitest', 'vitest.mjs');
  const args = ['run', '--config', join(repository, 'test', 'vitest.config.ts'), 'test/unit/storage/killed.test.ts'];
  const { child } = spawnNode(process.execPath, [vitest, ...args], { cwd: repository, output: 'inherit' });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => resolve(code ?? 1));
  });
}

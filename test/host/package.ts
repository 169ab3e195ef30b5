// Decides how the file that users install is made.
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from './build.ts';
import { UserError } from './errors.mjs';
import { runToExit } from './lifetime.mjs';
import { createReporter } from './report.mjs';
import { lastLines, runNode } from './runCommand.mjs';
import { repository } from './setup.mjs';

const report = createReporter();
const name = 'earshot.vsix';

await runToExit(makePackage);

async function makePackage(): Promise<number> {
  await report.step('Earshot', async (say) => {
    say('building');
    await build('--production');
    say('packaging');
    await runVsce();
  });
  const { size } = await stat(join(repository, name));
  report.line(`${name}: ${(size / 1024).toFixed(0)} kB`);
  return 0;
}

async function runVsce(): Promise<void> {
  const logFile = join(repository, '.build', 'vsce.log');
  const vsce = fileURLToPath(import.meta.resolve('@vscode/vsce/vsce'));
  // Everything that ships is in the bundles; without it vsce would pack node_modules.
  const args = ['package', '--no-dependencies', '--out', join(repository, name)];
  const result = await runNode(process.execPath, [vsce, ...args], { cwd: repository, logFile });
  if (result.exitCode === 0) return;
  throw new UserError(`${name} could not be made.`, `Correct what the lines above name. The whole log: ${logFile}`, {
    details: lastLines(result.output, 20),
  });
}

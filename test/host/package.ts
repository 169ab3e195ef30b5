// Runs `npm run package`: builds the packages that users install, for VS Code and for npm, and prints their names and
// sizes.
import { join } from 'node:path';
import { runToExit } from './processes/lifetime.mjs';
import { createReporter } from './console/report.mjs';
import { repository } from './setup.mjs';
import { makeNpmPackage } from './packaging/npmPackage.ts';
import { makeVsix } from './packaging/vsix.ts';

const report = createReporter();
const name = 'earshot.vsix';
const ears = 'earshot-ears.tgz';

await runToExit(async () => {
  const sizes = new Map<string, number>();
  await report.step('Earshot', async (say) => void sizes.set(name, await makeVsix(join(repository, name), say)));
  await report.step('earshot-ears', async () => {
    sizes.set(ears, await makeNpmPackage(join(repository, '.build', 'npm'), join(repository, ears)));
  });
  for (const [file, size] of sizes) report.line(`${file}: ${(size / 1024).toFixed(0)} kB`);
  return 0;
});

// Runs `npm run package`: builds the package that users install and prints its name and size.
import { join } from 'node:path';
import { runToExit } from './processes/lifetime.mjs';
import { createReporter } from './console/report.mjs';
import { repository } from './setup.mjs';
import { makeVsix } from './packaging/vsix.ts';

const report = createReporter();
const name = 'earshot.vsix';

await runToExit(async () => {
  let size = 0;
  await report.step('Earshot', async (say) => {
    size = await makeVsix(join(repository, name), say);
  });
  report.line(`${name}: ${(size / 1024).toFixed(0)} kB`);
  return 0;
});

// Implements test/host/vscode, which is called like a desktop VS Code: runs tests in a real extension host.
import { join } from 'node:path';
import { newTemporaryFolder } from './install/cache.mjs';
import { readDesktopFlags } from './editor/desktopFlags.ts';
import { runInsideEditor } from './editor/insideEditor.ts';
import { runToExit } from './processes/lifetime.mjs';

await runToExit(run);

async function run(): Promise<number> {
  const flags = readDesktopFlags(process.argv.slice(2));
  return runInsideEditor({
    folder: flags.folder,
    extension: flags.extension,
    tests: flags.tests,
    dataDir: flags.userDataDir ?? join(await newTemporaryFolder(), 'data'),
    workspaceTrust: !flags.disableWorkspaceTrust,
    ...(flags.extensionsDir === undefined ? {} : { extensionsDir: flags.extensionsDir }),
  });
}

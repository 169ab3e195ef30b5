// Installs a packaged extension into the extensions folder of a VS Code server, as `code --install-extension` does.
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { newTemporaryFolder } from '../install/cache.mjs';
import { UserError } from '../console/errors.mjs';
import { lastLines, runNode } from '../processes/runCommand.mjs';
import { serverEnvironment } from './serverEnvironment.ts';
import { setUp } from '../setup.mjs';

/** @param dataDir the data folder of the server that will use the extension */
export async function installVsix(file: string, dataDir: string): Promise<void> {
  const { node, vscode } = await setUp(['vscode']);
  const home = join(dataDir, 'home');
  await mkdir(home, { recursive: true });
  const args = ['--install-extension', file, '--accept-server-license-terms']
    .concat('--server-data-dir', dataDir, '--extensions-dir', join(dataDir, 'extensions'))
    // No network requests to a gallery.
    .concat('--telemetry-level', 'off');
  const logFile = join(dataDir, 'install.log');
  const env = serverEnvironment(process.env, { home, runtimeFolder: await newTemporaryFolder(), node }, {});
  const result = await runNode(node, [join(vscode, 'out', 'server-main.js'), ...args], { cwd: home, logFile, env });
  if (result.exitCode === 0 && result.output.includes('was successfully installed')) return;
  throw new UserError(`${file} could not be installed.`, `The whole log: ${logFile}`, {
    details: lastLines(result.output, 20),
  });
}

// Program that runs the suites of test/vscode in the installed VS Code, or with `electron` in a desktop VS Code.
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { downloadAndUnzipVSCode, runTests, TestRunFailedError } from '@vscode/test-electron';
import { cacheFolder, newTemporaryFolder } from './install/cache.mjs';
import { UserError } from './console/errors.mjs';
import { runToExit } from './processes/lifetime.mjs';
import { installModelProvider } from './editor/modelProvider.ts';
import { createSample } from './sample.ts';
import { defaultSettings } from './editor/serverSettings.ts';
import { repository } from './setup.mjs';

const whereToGetVscode =
  'Set EARSHOT_VSCODE to the executable of a desktop VS Code, or run `npm run test:vscode`, which needs none.';

await runToExit(runSuites, { stoppedMessage: '' });

async function runSuites(): Promise<number> {
  const desktop = process.argv.includes('electron');
  const temporary = await newTemporaryFolder();
  const userDataDir = join(temporary, 'data');
  if (desktop) await writeUserSettings(userDataDir);
  const extensions = join(temporary, 'extensions');
  await installModelProvider(extensions);
  try {
    await runTests({
      vscodeExecutablePath: desktop ? await desktopExecutable() : ourExecutable(),
      extensionDevelopmentPath: repository,
      extensionTestsPath: join(repository, '.build', 'vscode-tests', 'index.cjs'),
      launchArgs: [await createSample(temporary), `--user-data-dir=${userDataDir}`, `--extensions-dir=${extensions}`],
    });
    return 0;
  } catch (error) {
    if (error instanceof TestRunFailedError) return error.code ?? 1;
    throw error;
  }
}

function ourExecutable(): string {
  return fileURLToPath(new URL(process.platform === 'win32' ? 'vscode.cmd' : 'vscode', import.meta.url));
}

async function desktopExecutable(): Promise<string> {
  const named = process.env['EARSHOT_VSCODE'];
  if (named !== undefined && named !== '') {
    if (existsSync(named)) return named;
    throw new UserError(
      `EARSHOT_VSCODE names ${named}, which does not exist.`,
      'Correct it, or unset it to download VS Code.',
    );
  }
  try {
    return await downloadAndUnzipVSCode({ cachePath: join(cacheFolder(), 'desktop') });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new UserError(`A desktop VS Code could not be downloaded (${reason}).`, whereToGetVscode);
  }
}

async function writeUserSettings(userDataDir: string): Promise<void> {
  await mkdir(join(userDataDir, 'User'), { recursive: true });
  await writeFile(join(userDataDir, 'User', 'settings.json'), JSON.stringify(defaultSettings));
}

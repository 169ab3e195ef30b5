// Installs a complete VS Code from the npm registry into the cache, without a compiler.
import { existsSync } from 'node:fs';
import { copyFile, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildWhole, cacheFolder } from './cache.mjs';
import { quietInstall, runNpm } from './npm.mjs';

/** This release of code-server contains VS Code 1.139.1. Its shrinkwrap files pin all dependencies. */
const codeServerVersion = '4.139.1';
const vscodeVersion = '1.139.1';
/** Increase this whenever the steps below change, so that older caches are not used. */
const recipe = 1;

/**
 * Native modules that would need a compiler, and JavaScript that replaces them well enough for development. All other
 * native modules are prebuilt or not used.
 */
const standIns = { '@vscode/spdlog': 'spdlog.mjs', '@vscode/native-watchdog': 'nativeWatchdog.mjs' };

/**
 * @param {import('../console/report.mjs').Reporter} report
 * @returns {Promise<string>} the folder of VS Code's server
 */
export async function provideVscode(report) {
  const folder = join(
    cacheFolder(),
    `vscode-${vscodeVersion}-${codeServerVersion}-${process.platform}-${process.arch}-${recipe}`,
  );
  if (!existsSync(folder)) {
    await report.step(`VS Code ${vscodeVersion}`, (say) => buildWhole(folder, (partial) => install(partial, say)));
  }
  return folder;
}

/**
 * @param {string} folder
 * @param {(what: string) => void} say
 * @returns {Promise<string>}
 */
async function install(folder, say) {
  const purpose = `VS Code ${vscodeVersion}`;
  say('downloading');
  await writeFile(join(folder, 'package.json'), '{ "private": true }');
  await runNpm(['install', ...quietInstall, '--no-package-lock', `code-server@${codeServerVersion}`], {
    cwd: folder,
    purpose,
  });

  const vscode = join(folder, 'node_modules', 'code-server', 'lib', 'vscode');
  say('installing its modules');
  await Promise.all([
    // A peer dependency is missing in the shrinkwrap file; nothing imports it.
    runNpm(['ci', ...quietInstall, '--omit=dev', '--legacy-peer-deps'], { cwd: vscode, purpose }),
    runNpm(['ci', ...quietInstall, '--omit=dev'], { cwd: join(vscode, 'extensions'), purpose }),
  ]);

  for (const [name, file] of Object.entries(standIns)) await putStandIn(join(vscode, 'node_modules', name), file);
  await removeOtherPlatforms(join(vscode, 'node_modules', 'node-pty', 'prebuilds'));
  await removeOtherPlatforms(join(vscode, 'node_modules', '@vscode', 'ripgrep-universal', 'bin'));
  return vscode;
}

/**
 * @param {string} moduleFolder
 * @param {string} file
 */
async function putStandIn(moduleFolder, file) {
  const manifest = join(moduleFolder, 'package.json');
  const { name, version } = JSON.parse(await readFile(manifest, 'utf8'));
  await copyFile(fileURLToPath(new URL(`standIns/${file}`, import.meta.url)), join(moduleFolder, file));
  await writeFile(manifest, JSON.stringify({ name, version, main: file }));
}

/**
 * @param {string} folder a folder whose entries are named by platform and architecture
 */
async function removeOtherPlatforms(folder) {
  for (const name of await readdir(folder).catch(() => [])) {
    if (!name.includes(`${process.platform}-${process.arch}`)) {
      await rm(join(folder, name), { recursive: true, force: true });
    }
  }
}

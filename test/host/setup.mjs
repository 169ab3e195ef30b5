// Installs everything that a command needs and that is missing.
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cacheFolder, removeAbandoned } from './install/cache.mjs';
import { provideChromium } from './install/chromium.mjs';
import { provideDependencies } from './install/dependencies.mjs';
import { provideNode } from './install/nodeRuntime.mjs';
import { providePrograms } from './install/programs.mjs';
import { silentReporter } from './console/report.mjs';
import { provideWine } from './install/wine.mjs';
import { provideVscode } from './install/vscodeServer.mjs';

/** The root of this clone. */
export const repository = fileURLToPath(new URL('../..', import.meta.url)).replace(/[\\/]$/, '');

/** @typedef {'dependencies' | 'vscode' | 'chromium' | 'programs' | 'wine'} Need */

/**
 * The parts do not depend on each other, so they are installed at the same time.
 *
 * @param {readonly Need[]} needs what is needed in addition to Node
 * @param {import('./console/report.mjs').Reporter} [report]
 * @returns {Promise<{ node: string, vscode: string, chromium: string }>} paths; empty for parts that were not requested
 */
export async function setUp(needs, report = silentReporter) {
  // Removes the remains of killed runs.
  const tidied = Promise.all([cacheFolder(), join(repository, '.build')].map(removeAbandoned));
  const [node, vscode, chromium] = await Promise.all([
    provideNode(report),
    needs.includes('vscode') ? provideVscode(report) : '',
    needs.includes('chromium') ? provideChromium(report) : '',
    needs.includes('dependencies') ? provideDependencies(repository, report) : undefined,
    needs.includes('programs') ? providePrograms(report) : undefined,
    needs.includes('wine') ? provideWine(report) : undefined,
  ]);
  await tidied;
  return { node, vscode, chromium };
}

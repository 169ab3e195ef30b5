// Decides what must be there before a command can run, and provides it all; what is there already costs only a look.
import { fileURLToPath } from 'node:url';
import { provideChromium } from './chromium.mjs';
import { provideDependencies } from './dependencies.mjs';
import { provideNode } from './nodeRuntime.mjs';
import { silentReporter } from './report.mjs';
import { provideVscode } from './vscodeServer.mjs';

/** The root of this clone. */
export const repository = fileURLToPath(new URL('../..', import.meta.url)).replace(/[\\/]$/, '');

/** @typedef {'dependencies' | 'vscode' | 'chromium'} Need */

/**
 * The parts do not depend on each other, so they are provided at the same time.
 *
 * @param {readonly Need[]} needs what is needed besides Node
 * @param {import('./report.mjs').Reporter} [report]
 * @returns {Promise<{ node: string, vscode: string, chromium: string }>} paths; empty for what was not asked for
 */
export async function setUp(needs, report = silentReporter) {
  const [node, vscode, chromium] = await Promise.all([
    provideNode(report),
    needs.includes('vscode') ? provideVscode(report) : '',
    needs.includes('chromium') ? provideChromium(report) : '',
    needs.includes('dependencies') ? provideDependencies(repository, report) : undefined,
  ]);
  return { node, vscode, chromium };
}

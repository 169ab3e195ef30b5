// Decides what happens when test/host/vscode is run as if it were a desktop VS Code: tests in a real extension host, their exit code ours.
import { join } from 'node:path';
import { format } from 'node:util';
import type { Page } from 'playwright-core';
import { launchChromium } from './browser.ts';
import { newTemporaryFolder } from './cache.mjs';
import { readDesktopFlags } from './desktopFlags.ts';
import { UserError } from './errors.mjs';
import { runToExit } from './lifetime.mjs';
import { startVscodeServer, type VscodeServer } from './serve.ts';

const extensionHostWithinMilliseconds = 120_000;
const longestRunMilliseconds = 20 * 60_000;
/** After the extension host has ended by itself. */
const exitCodeWithinMilliseconds = 10_000;
/** What the server printed just before an exit code may still be on its way. */
const settleMilliseconds = 300;

await runToExit(run);

async function run(): Promise<number> {
  const flags = readDesktopFlags(process.argv.slice(2));
  const dataDir = flags.userDataDir ?? join(await newTemporaryFolder(), 'data');
  const server = await startVscodeServer({
    dataDir,
    workspaceTrust: !flags.disableWorkspaceTrust,
    ...(flags.extensionsDir === undefined ? {} : { extensionsDir: flags.extensionsDir }),
  });
  const browser = await launchChromium();
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  const url = server.url(flags.folder, { extension: flags.extension, tests: flags.tests });
  try {
    return await Promise.race([runTests(page, url), failure(page, server)]);
  } finally {
    await Promise.all([browser.close(), server.stop()]);
  }
}

async function runTests(page: Page, url: string): Promise<number> {
  await page.exposeFunction('codeAutomationLog', (_type: string, values: readonly unknown[]) => {
    // As the console it was written to would show it.
    console.log(format(...values));
  });
  const { promise: exitCode, resolve } = Promise.withResolvers<number>();
  await page.exposeFunction('codeAutomationExit', (code: number) => void setTimeout(resolve, settleMilliseconds, code));
  await page.goto(url);
  return exitCode;
}

/**
 * Rejects if no exit code can be expected any more. VS Code itself reports 0 after its extension host has crashed; only
 * one that ends by itself is followed by an exit code that means something.
 */
function failure(page: Page, server: VscodeServer): Promise<never> {
  return new Promise((_resolve, reject) => {
    const fail = (message: string) =>
      reject(
        new UserError(message, 'The lines above show how far it came.', {
          details: server.recentOutput().slice(-2000),
        }),
      );

    let isRunning = false;
    server.onOutput(() => (isRunning ||= server.extensionHostPids().length > 0));
    setTimeout(() => {
      if (!isRunning) fail(`No extension host was started within ${extensionHostWithinMilliseconds / 1000} s.`);
    }, extensionHostWithinMilliseconds).unref();
    setTimeout(
      () => fail(`The tests did not end within ${longestRunMilliseconds / 60_000} minutes.`),
      longestRunMilliseconds,
    ).unref();

    server.onDidExitExtensionHost(({ how, clean }) => {
      const tell = () => fail(`The extension host ended in the middle of the tests (${how}).`);
      if (clean) setTimeout(tell, exitCodeWithinMilliseconds).unref();
      else tell();
    });
    server.ended.then(() => fail('The VS Code server ended in the middle of the tests.'), reject);
    page.on('crash', () => fail('The page crashed in the middle of the tests.'));
    page.on('close', () => fail('The page was closed in the middle of the tests.'));
  });
}

// Runs a module inside a real extension host: starts the installed VS Code and a page, and returns the exit code.
import { format } from 'node:util';
import type { Page } from 'playwright-core';
import { launchChromium } from './browser.ts';
import { UserError } from '../console/errors.mjs';
import { startVscodeServer, type VscodeServer, type VscodeServerOptions } from './serve.ts';

const extensionHostWithinMilliseconds = 120_000;
const longestRunMilliseconds = 20 * 60_000;
/** Longest wait for the exit code after the extension host has ended normally. */
const exitCodeWithinMilliseconds = 10_000;
/** Time for server output printed just before the exit code to arrive. */
const settleMilliseconds = 300;

export interface InsideEditorOptions extends VscodeServerOptions {
  readonly folder: string | undefined;
  /** The folder of the extension under development. */
  readonly extension: string;
  /** A file that exports run(). */
  readonly tests: string;
  /** Default: 20 minutes. */
  readonly longestMilliseconds?: number;
  /** Called with each line of the window's console, including those of other extensions. Default: prints it. */
  readonly log?: (line: string) => void;
}

export async function runInsideEditor(options: InsideEditorOptions): Promise<number> {
  const { folder, extension, tests, longestMilliseconds = longestRunMilliseconds, log = console.log } = options;
  const [server, browser] = await Promise.all([startVscodeServer(options), launchChromium()]);
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, reducedMotion: 'reduce' });
  try {
    const url = server.url(folder, { extension, tests });
    return await Promise.race([runTests(page, url, log), failure(page, server, longestMilliseconds)]);
  } finally {
    await Promise.all([browser.close(), server.stop()]);
  }
}

async function runTests(page: Page, url: string, log: (line: string) => void): Promise<number> {
  await page.exposeFunction('codeAutomationLog', (_type: string, values: readonly unknown[]) => {
    // Formats the arguments as the console does.
    log(format(...values));
  });
  const { promise: exitCode, resolve } = Promise.withResolvers<number>();
  await page.exposeFunction('codeAutomationExit', (code: number) => void setTimeout(resolve, settleMilliseconds, code));
  await page.goto(url);
  return exitCode;
}

/**
 * Rejects if no exit code can be expected any more. VS Code reports 0 even after its extension host has crashed; the
 * exit code is meaningful only if the extension host ended normally.
 */
function failure(page: Page, server: VscodeServer, longestMilliseconds: number): Promise<never> {
  return new Promise((_resolve, reject) => {
    const fail = (message: string) =>
      reject(
        new UserError(message, 'The lines above show how far the tests got.', {
          details: server.recentOutput().slice(-2000),
        }),
      );

    let isRunning = false;
    server.onOutput(() => (isRunning ||= server.extensionHostPids().length > 0));
    setTimeout(() => {
      if (!isRunning) fail(`No extension host was started within ${extensionHostWithinMilliseconds / 1000} s.`);
    }, extensionHostWithinMilliseconds).unref();
    setTimeout(
      () => fail(`The tests did not end within ${longestMilliseconds / 60_000} minutes.`),
      longestMilliseconds,
    ).unref();

    server.onDidExitExtensionHost(({ how, clean }) => {
      const failLate = () => fail(`The extension host ended in the middle of the tests (${how}).`);
      if (clean) setTimeout(failLate, exitCodeWithinMilliseconds).unref();
      else failLate();
    });
    server.ended.then(() => fail('The VS Code server ended in the middle of the tests.'), reject);
    page.on('crash', () => fail('The page crashed in the middle of the tests.'));
    page.on('close', () => fail('The page was closed in the middle of the tests.'));
  });
}

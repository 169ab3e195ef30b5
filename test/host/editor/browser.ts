// Starts Chromium for tests: headless, without network requests of its own.
import { type Browser, chromium } from 'playwright-core';
import { onEnd } from '../processes/lifetime.mjs';
import { setUp } from '../setup.mjs';

const flags = ['--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking'].concat(
  '--disable-component-update',
  '--disable-sync',
  // Terminals would draw with a GPU that is emulated by the CPU, which costs more than the tests that use them.
  '--disable-3d-apis',
);

export async function launchChromium(options: { readonly headless?: boolean } = {}): Promise<Browser> {
  const { chromium: executablePath } = await setUp(['chromium']);
  const browser = await chromium.launch({
    executablePath,
    headless: options.headless ?? true,
    // Chromium's sandbox does not work for root, nor in most containers; it only opens our own pages.
    chromiumSandbox: false,
    args: flags,
    handleSIGINT: false,
    handleSIGTERM: false,
    handleSIGHUP: false,
  });
  const forget = onEnd('processes', () => browser.close());
  browser.once('disconnected', forget);
  return browser;
}

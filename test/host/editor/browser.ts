// Starts Chromium for tests: headless, without background network requests.
import { type Browser, chromium } from 'playwright-core';
import { onEnd } from '../processes/lifetime.mjs';
import { setUp } from '../setup.mjs';

const flags = ['--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking'].concat(
  '--disable-component-update',
  '--disable-sync',
  // Otherwise terminals draw with a GPU that the CPU emulates, which takes longer than the tests themselves.
  '--disable-3d-apis',
);

export async function launchChromium(options: { readonly headless?: boolean } = {}): Promise<Browser> {
  const { chromium: executablePath } = await setUp(['chromium']);
  const browser = await chromium.launch({
    executablePath,
    headless: options.headless ?? true,
    // Chromium's sandbox works neither for root nor in most containers, and only pages of the tests are opened.
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

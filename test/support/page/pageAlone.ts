// A chat page for each test, in one browser for the file.
import { type Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import { launchChromium } from '../../host/browser.ts';
import { PageAlone } from './chatPage.ts';

/** Anything that the page reports as an error fails the test. */
export function usePages(): (options?: Parameters<PageAlone['open']>[0]) => Promise<PageAlone> {
  let browser: Browser;
  let opened: PageAlone[] = [];
  beforeAll(async () => {
    browser = await launchChromium();
  });
  afterEach(async () => {
    const problems = opened.flatMap((one) => one.problems);
    for (const one of opened) await one.page.close();
    opened = [];
    expect(problems).toEqual([]);
  });
  afterAll(() => browser.close());
  return async (options) => {
    const alone = new PageAlone(await browser.newPage({ viewport: { width: 300, height: 700 }, locale: 'en-US' }));
    opened.push(alone);
    await alone.open(options);
    return alone;
  };
}

// Provides a chat page for each test. Tests of a worker share one browser and reuse one page: opening another costs
// more than most tests.
import { type Browser } from 'playwright-core';
import { afterEach, test as base, expect } from 'vitest';
import { launchChromium } from '../../host/editor/browser.ts';
import { PageAlone } from './chatPage.ts';

const VIEWPORT = { width: 300, height: 700 };
let browser: Browser | undefined;
/** The page of the last test, if it can be reused. */
let spare: PageAlone | undefined;

/** The browser is closed when the worker ends, because no file can tell whether it is the last one. */
const worker = base.extend('browserOfPages', { scope: 'worker' }, async ({}, { onCleanup }) => {
  browser = await launchChromium();
  onCleanup(async () => browser?.close());
  return browser;
});

/** The browser shared by all tests of pages, for tests that open their own pages. */
export function useBrowserOfPages(): () => Browser {
  worker.beforeAll(({ browserOfPages: _opened }) => undefined);
  return () => {
    if (browser === undefined) throw new Error('the browser is opened before the first test');
    return browser;
  };
}

/** A test fails if one of its pages reports an error. */
export function usePages(): (options?: Parameters<PageAlone['open']>[0]) => Promise<PageAlone> {
  const browserOfPages = useBrowserOfPages();
  let opened: PageAlone[] = [];
  afterEach(async ({ task }) => {
    const problems = opened.flatMap((one) => one.problems);
    const isFine = task.result?.state !== 'fail' && problems.length === 0;
    spare = isFine ? opened.shift() : undefined;
    for (const one of opened) await one.page.close();
    opened = [];
    expect(problems).toEqual([]);
  });
  return async (options) => {
    const alone = spare ?? new PageAlone(await browserOfPages().newPage({ viewport: VIEWPORT, locale: 'en-US' }));
    spare = undefined;
    opened.push(alone);
    await alone.page.setViewportSize(VIEWPORT);
    // Moves the mouse out of the page, so that nothing is hovered.
    await alone.page.mouse.move(-1, -1);
    await alone.open(options);
    return alone;
  };
}

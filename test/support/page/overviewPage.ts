// The page of the notifications overview alone in a browser, with the test acting as the host.
import { mkdir, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { type Browser } from 'playwright-core';
import { expect } from 'vitest';
import { type FromOverview, fromOverviewSchema, type ToOverview } from '../../../src/protocol/page/overviewView.ts';
import { pageHtml } from '../../../src/vscode/chat/pageHtml.ts';
import { findViolations } from '../accessibility.ts';
import { isFull } from '../runs.ts';
import themes from './themes.json' with { type: 'json' };

const root = resolve(import.meta.dirname, '../../..');
const pictures = join(root, '.build', 'screenshots', 'overview');
const origin = 'http://overview.test';
const HEIGHT = 420;

export async function openOverview(browser: Browser, bundle: Readonly<Record<string, string>> = {}) {
  const page = await browser.newPage({ viewport: { width: 900, height: HEIGHT }, locale: 'en-US' });
  const posted: FromOverview[] = [];
  const problems: string[] = [];
  page.on('pageerror', (error) => problems.push(error.message));
  page.on('console', (line) => line.type() === 'error' && problems.push(line.text()));
  await page.exposeFunction('postToHost', (sent: unknown) => void posted.push(fromOverviewSchema.parse(sent)));
  await page.addInitScript(() => {
    const { postToHost } = window as unknown as { postToHost(sent: unknown): void };
    Object.assign(window, { acquireVsCodeApi: () => ({ postMessage: (sent: unknown) => postToHost(sent) }) });
  });
  const language = Object.keys(bundle).length === 0 ? 'en' : 'de';
  const html = pageHtml({
    ...{ page: 'overview', source: origin, nonce: 'dGVzdA==', language, bundle },
    uri: (...path) => `${origin}/${path.join('/')}`,
  });
  await page.route(`${origin}/**`, async (route) => {
    const path = new URL(route.request().url()).pathname;
    if (path === '/') return route.fulfill({ contentType: 'text/html', body: html });
    const type = path.endsWith('.css') ? 'text/css' : 'text/javascript';
    return route.fulfill({ contentType: type, body: await readFile(join(root, path), 'utf8') });
  });
  const theme = (name: keyof typeof themes) =>
    page.evaluate(({ body, variables }) => {
      document.body.className = body;
      const { style } = document.documentElement;
      style.cssText = '';
      for (const [variable, value] of Object.entries(variables)) style.setProperty(variable, value);
      style.background = 'var(--vscode-sideBar-background)';
    }, themes[name]);
  const violations = () => findViolations(page.mainFrame());
  /** In each theme and width, each without violations; only in `npm run test:full`. */
  const picture = async (name: string) => {
    if (!isFull) return;
    await mkdir(pictures, { recursive: true });
    for (const one of Object.keys(themes) as (keyof typeof themes)[]) {
      await theme(one);
      for (const width of [300, 900]) {
        await page.setViewportSize({ width, height: HEIGHT });
        // What is drawn by hand is drawn again in the next frame.
        await page.evaluate(
          () => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(() => drawn(undefined)))),
        );
        await page.screenshot({ path: join(pictures, `${name}-${one}-${width}.png`) });
      }
      expect((await violations()).map((line) => `${name} ${one}: ${line}`)).toEqual([]);
    }
    await theme('dark');
  };
  const send = (message: ToOverview) => page.evaluate((data) => window.postMessage(data, '*'), message);
  await page.goto(`${origin}/`);
  await theme('dark');
  await expect.poll(() => posted[0]).toEqual({ type: 'ready' });
  return { page, posted, problems, picture, send, violations };
}

// The themes of VS Code that the tests show, and the chat's frame in a window.
import { type Frame, type Page } from 'playwright-core';
import { expect } from 'vitest';
import { findViolations } from '../accessibility.ts';
import { firstUnlessFull } from '../runs.ts';
import { type Workbench } from '../workbench.ts';

/** With the class that each gives to a page. */
export const THEMES = {
  'Default Dark Modern': 'vscode-dark',
  'Default Light Modern': 'vscode-light',
  'Default High Contrast': 'vscode-high-contrast',
  'Default High Contrast Light': 'vscode-high-contrast-light',
};

export async function chatFrame(page: Page): Promise<Frame> {
  const outer = page.locator('iframe.webview').first().contentFrame();
  const element = await outer.locator('#active-frame').elementHandle();
  const frame = await element.contentFrame();
  if (!frame) throw new Error('the chat has no frame');
  return frame;
}

/** A picture of the window in each theme, without findings in this frame. `npm test` has the first theme only. */
export async function showInThemes(workbench: Workbench, name: string, frame: Frame): Promise<void> {
  for (const [theme, kind] of firstUnlessFull(Object.entries(THEMES))) {
    await workbench.setTheme(theme);
    await expect.poll(() => frame.evaluate(() => document.body.className)).toContain(kind);
    await workbench.screenshot(`${name}-${theme}`);
    expect((await findViolations(frame)).map((line) => `${theme}: ${line}`)).toEqual([]);
  }
  await workbench.setTheme('Default Dark Modern');
}

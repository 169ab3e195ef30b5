// The chat in every theme, also at 200 %: a screenshot of each, without findings of the accessibility checker.
import { execFileSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findViolations } from '../support/accessibility.ts';
import { useSharedWorkbench } from '../support/sharedWorkbench.ts';
import { chatFrame, THEMES } from '../support/vscode/allThemes.ts';

const workbench = useSharedWorkbench();
test('a conversation shows answers, code, a chip and a call that waits for approval', async () => {
  const pipe = join(workbench.folder, 'pipe');
  execFileSync('mkfifo', [pipe]);
  await workbench.openChat();
  await workbench.say('read src/menu.ts then run cat pipe then run npm test');
  await workbench.card('Run cat pipe').getByRole('button', { name: 'Approve' }).click();
  const menu = join(workbench.folder, 'src/menu.ts');
  await writeFile(menu, (await readFile(menu, 'utf8')).replace('\n', '\n// Changed by hand.\n'));
  await expect.poll(() => workbench.statusBar().innerText()).toMatch(/Earshot\s1/);
  await writeFile(pipe, 'All tea is hot.\n');
  await workbench.card('Run npm test').getByRole('button', { name: 'Approve' }).waitFor();
});

test.each(Object.entries(THEMES))('the chat is accessible in %s', async (theme, bodyClass) => {
  await workbench.setTheme(theme);
  const frame = await chatFrame(workbench.page);
  await expect.poll(() => frame.evaluate(() => document.body.className)).toContain(bodyClass);
  await workbench.screenshot(`themes-${theme}`);
  expect(await findViolations(frame)).toEqual([]);
  // A window of 1280 × 800 at 200 %: the composer and the footer can be reached.
  const { page } = workbench;
  try {
    await page.setViewportSize({ width: 640, height: 400 });
    for (const control of [workbench.composer(), workbench.chat().locator('footer')]) {
      await expect.poll(async () => isInside(await control.boundingBox())).toBe(true);
    }
    await workbench.screenshot(`themes-zoomed-${theme}`);
    expect(await findViolations(frame)).toEqual([]);
  } finally {
    await page.setViewportSize({ width: 1280, height: 800 });
  }
});

function isInside(box: { x: number; y: number; width: number; height: number } | null): boolean {
  return box !== null && box.x >= 0 && box.y >= 0 && box.x + box.width <= 640 && box.y + box.height <= 400;
}

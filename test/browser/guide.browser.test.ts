// The Guide in the browser: the tour with a question, unknown type errors, a background watcher, “what happened?”.
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Frame } from 'playwright-core';
import { beforeEach, expect, test } from 'vitest';
import { findViolations } from '../support/accessibility.ts';
import { firstUnlessFull, isFull } from '../support/runs.ts';
import { useSharedWorkbench } from '../support/sharedWorkbench.ts';

const workbench = useSharedWorkbench({ last: true });
const keyboard = (key: string) => workbench.page.keyboard.press(key);
const file = (path: string) => join(workbench.folder, path);

const PATIENCE = 180_000;

beforeEach(async () => {
  await workbench.openChat();
  await workbench.reset();
});

/**
 * `npm run test:full` also reloads the window. In `npm test`, `walk/consent/askUser.test.ts` covers a question over a
 * restart, and `alone/killedBrowser` an approval over a reload.
 */
test('the tour: a question is answered from the keyboard, and the change is delivered with the answer', async () => {
  await workbench.chat().getByRole('button', { name: 'Take the tour' }).click();
  await keyboard('Enter');
  const question = workbench.card(/^Question: Open README\.md/);
  await question.getByText('Needs an answer').waitFor();
  await expect.poll(() => workbench.statusBar().innerText()).toContain('waiting for answer');
  if (isFull) {
    await workbench.reload();
    await workbench.openChat();
    await question.getByText('Needs an answer').waitFor();
  }
  for (const theme of firstUnlessFull(['Default Dark Modern', 'Default Light Modern', 'Default High Contrast'])) {
    await setTheme(theme);
    await workbench.screenshot(`guide-question-${theme}`);
    expect(await findViolations(await chatFrame())).toEqual([]);
  }

  await writeFile(file('README.md'), `${await readFile(file('README.md'), 'utf8')}\nOpen until six.\n`);
  await workbench.chat().getByRole('button', { name: 'Pending notifications 1' }).waitFor();
  const group = question.getByRole('group', { name: /^Question: Open README\.md/ });
  await group.focus();
  // A key pressed in the moment the card appears must not answer.
  await keyboard('Enter');
  // The file's name is a link.
  await keyboard('Tab');
  await keyboard('Tab');
  await keyboard('Space');
  expect(await group.getByRole('radio', { name: 'I have changed and saved it' }).isChecked()).toBe(true);
  await keyboard('Tab');
  await keyboard('Tab');
  await keyboard('Enter');
  await workbench.settled();
  await question.getByRole('button', { name: /File changed · README\.md/ }).waitFor();
  await workbench.transcript().getByText('I was notified meanwhile:').waitFor();
  await workbench.transcript().getByText('That was the tour.').waitFor();
});

test.runIf(isFull)(
  'three unknown type errors are found and fixed with quick fixes, and the task passes',
  {
    timeout: 4 * PATIENCE,
  },
  async () => {
    const word = Math.random()
      .toString(36)
      .replace(/[^a-z]/g, '')
      .padEnd(6, 'tea');
    const receipt = await readFile(file('src/receipt.ts'), 'utf8');
    await writeFile(file('src/receipt.ts'), receipt.replace('Ordr', 'Order'));
    await writeFile(
      file(`src/${word}.ts`),
      [
        `export interface Pot {\n  ${word}Level: number;\n}\n`,
        `export function level(pot: Pot): number {\n  return pot.${word}Levle;\n}\n`,
        `export function ${word}Later(): Promise<void> {\n  await Promise.resolve();\n}\n`,
        `export const ${word}Order: Order = { number: 1, lines: [] };\n`,
      ].join('\n'),
    );
    await workbench.say('fix the problems then run task check');
    const first = workbench.card(`Quick fix src/${word}.ts`).filter({ hasText: 'Needs approval' });
    await first.getByRole('button', { name: 'Always' }).click({ timeout: PATIENCE });
    await workbench.chat().getByRole('menuitem', { name: 'Always in this conversation' }).click({ timeout: PATIENCE });
    const task = workbench.card('Run task check');
    // The time that language servers and compilers need varies widely.
    await task.getByRole('button', { name: 'Approve' }).waitFor({ timeout: PATIENCE });
    await workbench.screenshot('guide-fixed');
    await task.getByRole('button', { name: 'Approve' }).click();
    await workbench.transcript().getByText('Passed: the task check').waitFor({ timeout: PATIENCE });
    await workbench.settled();
    const fixed = await readFile(file(`src/${word}.ts`), 'utf8');
    expect(fixed).toContain(`return pot.${word}Level;`);
    expect(fixed).toContain(`export async function ${word}Later()`);
    expect(fixed).toMatch(/import .*Order.* from ["']\.\/order\.ts["']/);
    await workbench.screenshot('guide-passed');
  },
);

test.runIf(isFull)(
  'a background watcher and a file changed by hand are both reported on “what happened?”',
  {
    timeout: 4 * PATIENCE,
  },
  async () => {
    const command = 'node node_modules/typescript/bin/tsc --watch --preserveWatchOutput';
    await workbench.say(`run ${command} in the background as types then read src/menu.ts`);
    await workbench
      .card(/^Run node/)
      .getByRole('button', { name: 'Approve' })
      .click();
    await workbench.settled();
    await workbench.transcript().getByText('Started as the handle “types”').waitFor();

    await writeFile(
      file('src/menu.ts'),
      (await readFile(file('src/menu.ts'), 'utf8')).replace('scone: 280', 'scone: 290'),
    );
    await expect.poll(() => workbench.statusBar().innerText()).toMatch(/Earshot\s\d/);
    await workbench.say('what happened');
    await workbench.settled();
    const transcript = workbench.transcript();
    await transcript
      .getByText(/file\.changed.*src\/menu\.ts changed/)
      .first()
      .waitFor();
    await transcript.getByText('scone: 290').first().waitFor();
    await workbench.screenshot('guide-notified');
    await expect
      .poll(
        async () => {
          await workbench.say('output of types');
          await workbench.settled();
          return transcript.getByText(/Watching for file changes/).count();
        },
        { timeout: PATIENCE, interval: 1000 },
      )
      .toBeGreaterThan(0);
    await workbench.say('stop types');
    await workbench.settled();
  },
);

test('a VS Code language model is chosen from the list, and its limits are shown with the next step', async () => {
  await workbench.startCommand('Earshot: Choose Model');
  const row = workbench.page.locator('.quick-input-list .monaco-list-row').filter({ hasText: 'Tea One' });
  await row.waitFor();
  await workbench.screenshot('guide-choose-model');
  await row.click();
  await workbench.chat().locator('footer').getByText('Tea One · VS Code, teashop').waitFor();
  await workbench.say('Hello.');
  await workbench.settled();
  await workbench.transcript().getByText('Tea One failed (nothing is scripted).').waitFor();
});

async function chatFrame(): Promise<Frame> {
  const handle = await workbench.page.frameLocator('iframe.webview').locator('#active-frame').elementHandle();
  const frame = await handle.contentFrame();
  if (!frame) throw new Error('the chat has no frame');
  return frame;
}

/** Sets the theme in the settings file; the window follows without a reload. */
async function setTheme(theme: string): Promise<void> {
  await workbench.setTheme(theme);
  const kind = theme.includes('Contrast') ? 'high-contrast' : theme.includes('Light') ? 'light' : 'dark';
  await workbench.chat().locator(`body.vscode-${kind}`).waitFor();
}

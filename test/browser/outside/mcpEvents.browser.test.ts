// Subscriptions to events of an MCP server in the real window: the approval, the rows below the server, pause and end.
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ScriptedServer, startScriptedServer } from '../../support/models/scriptedServer.ts';
import { isFull } from '../../support/runs.ts';
import { useSharedWorkbench } from '../../support/sharedWorkbench.ts';

const root = resolve(import.meta.dirname, '../../..');
const folder = mkdtempSync(join(tmpdir(), 'earshot-browser-events-'));

let model: ScriptedServer;
beforeAll(async () => {
  writeFileSync(join(folder, 'events.jsonl'), '');
  writeFileSync(join(folder, 'requests.jsonl'), '');
  model = await startScriptedServer();
});
afterAll(async () => {
  await model.stop();
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
});

const workbench = useSharedWorkbench(async () => ({
  settings: {
    'earshot.baseUrl': model.baseUrl,
    'earshot.model': 'scripted-model',
    'earshot.notifications.activation': 'wake',
    'earshot.mcp.servers': {
      tracker: { command: 'node', args: [join(root, 'test/support/mcp/eventServer.mjs'), folder, 'stdio'] },
    },
  },
}));

const emit = (event: object) => appendFileSync(join(folder, 'events.jsonl'), `${JSON.stringify(event)}\n`);
const row = (name: string | RegExp) => workbench.page.getByRole('treeitem', { name });

/** In the three kinds of themes. The panel is 300 px wide. */
async function pictures(name: string): Promise<void> {
  if (!isFull) return;
  for (const theme of ['Dark Modern', 'Light Modern', 'Default High Contrast']) {
    await workbench.setTheme(theme);
    await workbench.screenshot(`mcp-events-${name}-${theme}`);
  }
  await workbench.setTheme('Dark Modern');
}

test('a subscription is approved with what it may do, is listed below its server, paused, resumed and ended', async () => {
  const { page } = workbench;
  await workbench.openChat();
  await page.getByRole('button', { name: 'MCP Servers Section' }).click();
  await row('tracker, connected').waitFor();
  const subscribe = { server: 'tracker', event: 'issue.updated', wake: true };
  model.script(
    { calls: [{ id: 's', name: 'subscribe_events', arguments: subscribe }] },
    { text: ['I am told of each issue.'] },
    { text: ['Issue 12 is broken.'] },
  );
  await workbench.say('Tell me of issues.');
  const card = workbench.card('Subscribe to events issue.updated');
  await card.getByText('it may start turns without you, at most 50 within 7 d').waitFor();
  expect(await card.getByRole('button', { name: /Always/ }).count()).toBe(0);
  await pictures('approval');
  await card.getByRole('button', { name: 'Approve' }).click();
  await workbench.chat().getByText('I am told of each issue.').first().waitFor();
  await workbench.settled();
  await row('tracker, connected').click();
  await row(/^issue\.updated, .*, 0 events$/).waitFor();
  emit({ id: 'evt_1', title: 'Broken', number: 12 });
  await workbench.chat().getByText('Issue 12 is broken.').first().waitFor();
  const events = row(/^issue\.updated, .*, 1 event$/);
  await events.waitFor();
  await events.hover();
  await pictures('rows');
  await events.hover();
  await events.getByRole('button', { name: 'Pause Events' }).click();
  const paused = row(/^issue\.updated, .*, paused$/);
  await paused.waitFor();
  await paused.hover();
  await pictures('paused');
  // By the keyboard: the row has the focus, and its context menu the commands.
  await paused.click();
  await page.keyboard.press('Shift+F10');
  await page.locator('.monaco-menu').getByText('Resume Events').waitFor();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await events.waitFor();
  await events.hover();
  await events.getByRole('button', { name: 'Unsubscribe from Events' }).click();
  await expect.poll(() => row(/^issue\.updated/).count()).toBe(0);
});

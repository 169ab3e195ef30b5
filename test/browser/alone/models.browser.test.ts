// Choosing a model and setting a key: the connection is tested, and failures are explained.
import { type Locator } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ScriptedServer, startScriptedServer } from '../../support/models/scriptedServer.ts';
import { useSharedWorkbench } from '../../support/sharedWorkbench.ts';

let server: ScriptedServer;
beforeAll(async () => {
  server = await startScriptedServer();
  server.offer(['first-model', 'second-model'], 'right-key');
});
afterAll(() => server.stop());

// These tests set the model and a key in the user's settings.
const workbench = useSharedWorkbench({ last: true });

const input = () => workbench.page.locator('.quick-input-widget input').first();
const row = (text: string) =>
  workbench.page.locator('.quick-input-list .monaco-list-row').filter({ hasText: text }).first();

/** A workbench under automation shows no toasts, so messages are read from the notification centre. */
async function shownMessage(text: string): Promise<Locator> {
  const centre = workbench.page.locator('.notifications-center');
  // A notification centre that was opened while empty does not update, so it is reopened each time.
  const reopen = async () => {
    if (await centre.isVisible()) await workbench.command('Notifications: Hide Notifications');
    await workbench.command('Notifications: Show Notifications');
    return centre.innerText();
  };
  await expect.poll(reopen, { timeout: 60_000, interval: 1000 }).toContain(text);
  return centre.locator('.notification-list-item').filter({ hasText: text });
}

async function type(text: string, title: string): Promise<void> {
  const box = workbench.page.locator('.quick-input-title', { hasText: title });
  await box.waitFor();
  await input().fill(text);
  await input().press('Enter');
  // The box stays until the extension has checked the input; another box opened earlier would replace it unanswered.
  await box.waitFor({ state: 'hidden' });
}

test('an entered endpoint asks for a key, and then its model answers', async () => {
  await workbench.openChat();
  await workbench.chat().locator('footer').getByText('Guide').waitFor();
  await workbench.startCommand('Earshot: Choose Model');
  await row('Other address').click();
  await type(server.baseUrl, 'Endpoint Address');
  await (await shownMessage('wants an API key')).getByRole('button', { name: 'Set API Key' }).click();
  await type('wrong-key', 'API key for');
  await shownMessage('refused the API key');
  await workbench.screenshot('models-refused');
  await workbench.command('Notifications: Clear All Notifications');

  await workbench.startCommand('Earshot: Choose Model');
  await row('Other address').click();
  await type(server.baseUrl, 'Endpoint Address');
  await (await shownMessage('refused the API key')).getByRole('button', { name: 'Set API Key' }).click();
  await type('right-key', 'API key for');
  await row('second-model').click();
  await workbench.chat().locator('footer').getByText('second-model').waitFor();

  server.script({ text: ['Chosen and here.'] });
  await workbench.say('Hello.');
  await workbench.settled();
  expect(await workbench.transcript().innerText()).toContain('Chosen and here.');
  expect(server.requests[0]?.headers.authorization).toBe('Bearer right-key');
  expect(JSON.parse(server.requests[0]?.body ?? '')).toMatchObject({ model: 'second-model' });
});

test('an address that does not answer is reported, and the chat keeps its model', async () => {
  await workbench.command('Notifications: Clear All Notifications');
  await workbench.startCommand('Earshot: Choose Model');
  await row('Other address').click();
  await type('http://127.0.0.1:1/v1', 'Endpoint Address');
  await shownMessage('http://127.0.0.1:1/v1 cannot be reached');
  await workbench.chat().locator('footer').getByText('second-model').waitFor();
});

test('the list marks the current model among those of its endpoint, and finds providers by their names and models', async () => {
  await workbench.startCommand('Earshot: Choose Model');
  await row('first-model').waitFor();
  expect(await row('second-model').innerText()).toContain('current model');
  expect(await row('second-model').getAttribute('class')).toContain('focused');
  await workbench.screenshot('models-current');
  for (const [typed, found] of [
    ['groq', 'Groq'],
    ['claude', 'Anthropic'],
    ['https://models.example/v1', 'Use https://models.example/v1'],
  ] as const) {
    await input().fill(typed);
    await row(found).waitFor();
    await row('first-model').waitFor({ state: 'detached' });
  }
  await input().press('Escape');
});

test('a list that the endpoint refuses is quoted in its own words, with a button for each next step', async () => {
  const open = async () => {
    await workbench.command('Notifications: Clear All Notifications');
    await workbench.startCommand('Earshot: Choose Model');
    await row('The models could not be listed').click();
  };
  server.refuseList({ status: 404, message: 'No such path on the tea server.' });
  await open();
  const missing = await shownMessage('No such path on the tea server.');
  await missing.getByRole('button', { name: 'Enter Model Name' }).waitFor();
  await workbench.screenshot('models-not-listed');
  await missing.getByRole('button', { name: 'Change Address' }).click();
  await input().press('Escape');

  server.refuseList({ status: 402, message: 'Insufficient credits for tea.' });
  await open();
  const unpaid = await shownMessage('Insufficient credits for tea.');
  await unpaid.getByRole('button', { name: 'Choose Another Model' }).waitFor();
  server.refuseList(undefined);
  await unpaid.getByRole('button', { name: 'Try Again' }).click();
  await row('first-model').click();
  await workbench.chat().locator('footer').getByText('first-model').waitFor();
});

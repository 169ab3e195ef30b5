// Several providers at once: keys, favourites and prices in the list, by keyboard; conversations with different models
// side by side, over two APIs; and the next step after each refusal.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { endAll } from '../../support/endings.ts';
import { startAnthropic } from '../../support/models/native/anthropicEndpoint.ts';
import { type NativeEndpoint } from '../../support/models/native/nativeEndpoint.ts';
import { type ScriptedServer, startScriptedServer } from '../../support/models/scriptedServer.ts';
import { firstUnlessFull } from '../../support/runs.ts';
import { useSharedWorkbench } from '../../support/sharedWorkbench.ts';
import { createTabbing } from '../../support/page/tabbing.ts';

const ANTHROPIC_KEY = 'sk-ant-api03-canary';

let shop: ScriptedServer;
let claude: NativeEndpoint;
afterAll(async () => {
  await shop.stop();
  await endAll();
});

// These tests set keys and choose models, which other files would find.
const workbench = useSharedWorkbench(async () => {
  shop = await startScriptedServer();
  shop.offer([
    { id: 'assam', context_length: 128_000, pricing: { prompt: '0.000002', completion: '0.00001' } },
    { id: 'sencha', context_length: 1_000_000, pricing: { prompt: '0.0000005', completion: '0.000002' } },
  ]);
  claude = await startAnthropic(() => ({ content: [{ type: 'text', text: 'Answered through Messages.' }] }));
  const providers = {
    shop: { name: 'Tea Shop', baseUrl: shop.baseUrl },
    house: { name: 'Claude House', api: 'messages', baseUrl: `${claude.address}/v1`, models: ['claude-opus-5-5'] },
  };
  return { settings: { 'earshot.providers': providers, 'earshot.model': 'shop/assam' }, first: true, last: true };
});

const input = () => workbench.page.locator('.quick-input-widget input').first();
const rows = () => workbench.page.locator('.quick-input-list .monaco-list-row');
const row = (text: string) => rows().filter({ hasText: text }).first();
const focused = () => workbench.page.locator('.quick-input-list .monaco-list-row.focused');
const title = (text: string) => workbench.page.locator('.quick-input-title', { hasText: text });
const footer = () => workbench.chat().locator('footer');

async function openPicker(): Promise<void> {
  await workbench.startCommand('Earshot: Choose Model');
  await row('sencha').waitFor();
}

/** Types a name and accepts the first entry, without the mouse. */
async function pickByKeyboard(name: string): Promise<void> {
  await openPicker();
  await workbench.page.keyboard.type(name);
  await expect.poll(() => focused().innerText()).toContain(name);
  await workbench.page.keyboard.press('Enter');
  await footer().getByText(name).waitFor();
}

/** Enters a key for a provider, by keyboard. */
async function enterKey(provider: string, key: string): Promise<void> {
  await workbench.startCommand('Earshot: Set API Key');
  await title('Set API Key').waitFor();
  await workbench.page.keyboard.type(provider);
  await expect.poll(() => focused().innerText()).toContain(provider);
  await workbench.page.keyboard.press('Enter');
  await title(`API key for ${provider}`).waitFor();
  await input().fill(key);
  await workbench.page.keyboard.press('Enter');
}

beforeAll(async () => {
  await workbench.openChat();
});

test('the list shows window and price of each model and marks the current one; a favourite stays first', async () => {
  await footer().getByText('assam').waitFor();
  await openPicker();
  expect(await row('assam').innerText()).toMatch(/current model · 128k tokens · \$2 in, \$10 out/);
  expect(await row('sencha').innerText()).toMatch(/1M tokens · \$0\.5 in, \$2 out/);
  await row('claude-opus-5-5').waitFor();
  await workbench.screenshot('model-choice-picker');
  await row('sencha').hover();
  await row('sencha').getByRole('button', { name: 'Add to Favorites' }).click();
  await expect.poll(() => rows().filter({ hasText: 'sencha' }).count()).toBe(2);
  await workbench.screenshot('model-choice-picker-favourite');
  await workbench.page.keyboard.press('Escape');
  await openPicker();
  await expect.poll(() => rows().filter({ hasText: 'sencha' }).count()).toBe(2);
  expect(await row('sencha').innerText()).toContain('Tea Shop');
  await workbench.page.keyboard.press('Escape');
});

test('a key of Anthropic that is entered for another provider is not sent there, and Anthropic is offered', async () => {
  await enterKey('Tea Shop', ANTHROPIC_KEY);
  const dialog = workbench.page.locator('.monaco-dialog-box');
  await dialog.getByText('This looks like a key of Anthropic. It was not sent to Tea Shop.').waitFor();
  await dialog.getByRole('button', { name: 'Use Anthropic' }).waitFor();
  await dialog.getByRole('button', { name: 'Store for Tea Shop' }).waitFor();
  await workbench.screenshot('model-choice-foreign-key');
  await workbench.page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
});

test('two conversations use different models over different APIs, and the list and the tabs show which', async () => {
  await pickByKeyboard('sencha');
  shop.script({ text: ['Answered through chat completions.'] });
  await workbench.say('Ask the shop.');
  await workbench.settled();
  await workbench.transcript().getByText('Answered through chat completions.').waitFor();
  expect(shop.requests[0]?.headers.authorization ?? '').not.toContain(ANTHROPIC_KEY);

  await enterKey('Claude House', 'k');
  await title('Models of Claude House').waitFor();
  await workbench.page.keyboard.press('Escape');
  await workbench.startCommand('Earshot: Set API Key');
  await title('Set API Key').waitFor();
  await expect.poll(() => row('Claude House').innerText()).toContain('key is set');
  expect(await row('OpenAI').innerText()).not.toContain('key is set');
  await workbench.page.keyboard.press('Escape');

  await workbench.page.getByRole('button', { name: 'New Chat' }).first().click();
  await workbench.chat().locator('.welcome').waitFor();
  await pickByKeyboard('claude-opus-5-5');
  await workbench.say('Ask Claude.');
  await workbench.settled();
  await workbench.transcript().getByText('Answered through Messages.').waitFor();
  expect(claude.refusals).toEqual([]);
  expect(claude.requests[0]?.body['model']).toBe('claude-opus-5-5');
  await footer()
    .getByRole('button', { name: /^Effort: / })
    .press('ArrowDown');
  await workbench.chat().getByRole('menuitemradio', { name: 'Low', exact: true }).click();
  await footer().getByRole('button', { name: 'Effort: Low' }).waitFor();
  await workbench.screenshot('model-choice-claude');

  // The first one keeps its model while it works, and the other is shown beside it.
  await workbench.page.getByRole('button', { name: 'Show Conversations' }).first().click();
  const first = workbench.chat().locator('.conversation-row').filter({ hasText: 'sencha' });
  const second = workbench.chat().locator('.conversation-row').filter({ hasText: 'claude-opus-5-5' });
  await second.waitFor();
  await workbench.screenshot('model-choice-conversations');
  await first.getByRole('button').first().click();
  await footer().getByText('sencha').waitFor();
  expect(await footer().getByRole('button', { name: 'Effort: Low' }).count()).toBe(0);
  shop.script({ text: ['Working on it.'], hang: true }, { text: ['Still chat completions.'] });
  await workbench.say('Again.');
  await shop.request(1);
  expect(JSON.parse(shop.requests[1]?.body ?? '')).toMatchObject({ model: 'sencha' });
  await workbench.page.getByRole('button', { name: 'Show Conversations' }).first().click();
  await second.getByRole('button').first().click();
  await footer().getByText('claude-opus-5-5').waitFor();
  const tab = workbench.chat().locator('.tab:not(.is-shown)');
  await expect.poll(() => tab.getAttribute('title')).toContain('sencha');
  await workbench.screenshot('model-choice-tabs');
  await workbench.say('And you?');
  await workbench.settled();
  // The effort changed in the middle: a system message says so, and the rest of the request stays as it was.
  const { model, messages, output_config: config } = claude.requests.at(-1)?.body ?? {};
  expect([model, config]).toEqual(['claude-opus-5-5', undefined]);
  expect((messages as object[]).at(-1)).toMatchObject({ role: 'system', output_config: { effort: 'low' } });
  expect(claude.refusals).toEqual([]);
  shop.release();
});

test.each([
  [{ status: 401, message: 'Incorrect API key provided.' }, 'Set API Key'],
  [{ status: 402, message: 'Insufficient credits.' }, 'Choose Model'],
  [{ status: 404, message: 'The model `assam` does not exist.', code: 'model_not_found' }, 'Choose Model'],
  [
    {
      status: 403,
      message: 'Country, region, or territory not supported',
      code: 'unsupported_country_region_territory',
    },
    'Choose Model',
  ],
])('a turn that is refused with %o quotes the endpoint and offers %s', async (refusal, button) => {
  await workbench.page.getByRole('button', { name: 'New Chat' }).first().click();
  await workbench.chat().locator('.welcome').waitFor();
  if (!(await footer().getByText('assam').isVisible())) await pickByKeyboard('assam');
  shop.restart({ refuse: refusal });
  await workbench.say('Is there tea?');
  await workbench.settled();
  await workbench.transcript().getByText(refusal.message).first().waitFor();
  await workbench.screenshot(`model-choice-refused-${refusal.status}`);
  await workbench.transcript().getByRole('button', { name: button }).click();
  await title(button).waitFor();
  await workbench.page.keyboard.press('Escape');
});

const { press, focused: focusedInChat, tabTo, tabBack } = createTabbing(workbench);

async function newChat(): Promise<void> {
  await press('Control+Alt+e');
  await expect.poll(focusedInChat).toBe('Message to Earshot');
  await press('Control+Alt+x');
  await workbench.chat().locator('.welcome').waitFor();
}

async function sayByKeyboard(text: string): Promise<void> {
  await press('Control+Alt+e');
  await expect.poll(focusedInChat).toBe('Message to Earshot');
  await workbench.page.keyboard.type(text);
  await press('Enter');
  await workbench.transcript().getByText(text).waitFor();
  await workbench.settled();
}

const THEMES = ['Default Dark Modern', 'Default Light Modern', 'Default High Contrast', 'Default High Contrast Light'];

test.each(firstUnlessFull(THEMES))(
  'in %s: key, model, effort, cost and the step after a refusal by keyboard alone',
  { timeout: 240_000 },
  async (theme) => {
    const picture = (name: string) => workbench.screenshot(`model-choice-${theme}-${name}`);
    await workbench.setTheme(theme);
    await newChat();
    await workbench.startCommand('Earshot: Set API Key');
    await title('Set API Key').waitFor();
    await picture('providers');
    await press('Escape');
    await enterKey('Claude House', 'k');
    await title('Models of Claude House').waitFor();
    await press('Escape');
    await openPicker();
    await picture('models');
    await press('Escape');
    await pickByKeyboard('claude-opus-5-5');

    const before = await footer()
      .getByRole('button', { name: /^Effort: / })
      .getAttribute('aria-label');
    const reaches = async () => (await tabBack([before ?? ''], 'Tab')) === before;
    await expect.poll(reaches, { interval: 500 }).toBe(true);
    await press('ArrowDown');
    await workbench.chat().getByRole('menuitemradio', { name: 'Low', exact: true }).waitFor();
    await picture('effort');
    await press('End');
    await press('Enter');
    await footer()
      .getByRole('button', { name: /^Effort: (?!Low|Auto)/ })
      .waitFor();

    await sayByKeyboard('Ask Claude by keyboard.');
    await workbench.transcript().getByText('Answered through Messages.').waitFor();
    expect(claude.refusals).toEqual([]);

    await newChat();
    await pickByKeyboard('assam');
    shop.restart(
      { text: ['Yes, there is.'], usage: { prompt_tokens: 52_000, completion_tokens: 800 } },
      { refuse: { status: 401, message: 'Incorrect API key provided.' } },
    );
    await sayByKeyboard('Is there tea?');
    const meter = footer().locator('.meter');
    const opensContext = async () => {
      await press('Control+Alt+e');
      for (let presses = 0; presses < 20; presses++) {
        await press('Tab');
        if (await meter.evaluate((one) => one === one.ownerDocument.activeElement)) return true;
      }
      return false;
    };
    await expect.poll(opensContext, { interval: 500 }).toBe(true);
    await press('Enter');
    // 52,000 tokens at 2 dollars a million, and 800 at 10.
    await workbench
      .chat()
      .getByRole('dialog', { name: 'Context' })
      .getByText(/\$0\.11/)
      .first()
      .waitFor();
    await picture('cost');
    await press('Escape');
    await sayByKeyboard('And coffee?');
    await tabTo('Set API Key');
    await picture('refused');
    await press('Enter');
    await title('Set API Key').waitFor();
    await press('Escape');
    await workbench.page.getByRole('button', { name: 'Show Conversations' }).first().press('Enter');
    await workbench.chat().locator('.conversation-row').filter({ hasText: 'claude-opus-5-5' }).first().waitFor();
    await picture('conversations');
    await press('Control+Alt+e');
  },
);

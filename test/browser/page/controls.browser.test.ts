// The panel around the transcript: footer, context, conversations and drafts, on the page alone.
import { expect, test } from 'vitest';
import { type TranscriptItem } from '../../../src/protocol/transcript.ts';
import { request } from '../../support/page/items.ts';
import { usePages } from '../../support/page/pageAlone.ts';

const open = usePages();

const meter = { context: 0.42, tokens: 52_000, notificationTokens: 800, cost: 0.1234 };
const context = {
  window: 100_000,
  used: 42_000,
  parts: [
    { part: 'fixed', tokens: 9000 },
    { part: 'requests', tokens: 12_000 },
    { part: 'answers', tokens: 6000 },
    { part: 'results', tokens: 14_000 },
    { part: 'notifications', tokens: 1000 },
  ],
  total: { input: 50_000, output: 2000, cached: 30_000 },
  written: 900,
  woken: 1200,
  switches: [
    { model: 'anthropic/claude-haiku-5-5', cost: 0.0053 },
    { model: 'google/gemini-3.1-pro-preview', cost: 0.084 },
    { model: 'fireworks/accounts/fireworks/models/deepseek-v4p1-flash', cost: 0.1 },
    { model: 'other/model', cost: 0.12 },
    { model: 'anthropic/claude-fable-5-2', cost: 0.42 },
  ],
  cost: 0.1234,
} as const;

test('mode and approvals are changed from menus with the keyboard, the model with its button', async () => {
  const { page, show, waitFor } = await opened();
  await show({ meter });
  await page.getByRole('button', { name: 'Mode: Agent' }).press('ArrowDown');
  const menu = page.getByRole('menu', { name: 'Mode' });
  expect(await menu.getByRole('menuitemradio', { name: 'Agent' }).getAttribute('aria-checked')).toBe('true');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  expect(await waitFor('choose')).toMatchObject({ mode: 'plan' });
  expect(await focusedLabel(page)).toBe('Mode: Agent');
  await page.getByRole('button', { name: 'Approvals: Ask for changes' }).click();
  await page.keyboard.press('Escape');
  await menu.waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Approvals: Ask for changes' }).click();
  await page.getByRole('menuitemradio', { name: 'Ask for commands' }).click();
  expect(await waitFor('choose')).toMatchObject({ approvals: 'edits' });
  await page.getByRole('button', { name: /^Model: test-model/ }).click();
  await waitFor('choose_model');
});

test('effort is chosen beside the model, by keyboard, from the levels that the model has', async () => {
  const alone = await opened();
  const { page, show, waitFor } = alone;
  const controls = { mode: 'agent', approvals: 'reads', sendKey: 'enter', currency: 'USD' } as const;
  const effort = page.getByRole('button', { name: /^Effort: / });
  await show({ meter, controls });
  expect(await effort.count()).toBe(0);
  await show({ meter, controls: { ...controls, effort: { levels: ['low', 'high', 'max'], current: 'high' } } });
  expect(await effort.getAttribute('aria-label')).toBe('Effort: High. How much the model reasons.');
  await effort.press('ArrowDown');
  const menu = page.getByRole('menu', { name: 'Effort' });
  expect(await menu.getByRole('menuitemradio').allInnerTexts()).toEqual(['Auto', 'Low', 'High', 'Maximum']);
  expect(await menu.getByRole('menuitemradio', { name: 'High' }).getAttribute('aria-checked')).toBe('true');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  expect(await waitFor('choose')).toMatchObject({ effort: 'max' });
  await effort.click();
  await alone.picture('effort-menu');
  await page.keyboard.press('Escape');
  await alone.pictures('effort');
  expect(await alone.violations()).toEqual([]);
});

test('a plan is carried out with one click, in agent mode; other answers have no such button', async () => {
  const { page, show, waitFor } = await opened();
  const items: TranscriptItem[] = [
    { type: 'request', id: 'r', source: 'user', text: 'Plan it.' },
    { type: 'answer', id: 'a', text: '1. Read.', reasoning: '', streaming: false, truncated: false },
  ];
  const controls = (mode: 'agent' | 'plan') => ({ mode, approvals: 'ask', sendKey: 'enter', currency: 'EUR' }) as const;
  const start = page.getByRole('button', { name: 'Start Implementation' });
  await show({ running: true, controls: controls('agent') }, items);
  await show({ controls: controls('plan') }, items);
  await page.getByRole('button', { name: 'Mode: Plan' }).waitFor();
  expect(await start.count()).toBe(0);
  await show({ running: true, controls: controls('plan') }, items);
  expect(await start.count()).toBe(0);
  await show({ controls: controls('plan') }, items);
  await start.click();
  expect(await waitFor('choose')).toMatchObject({ mode: 'agent' });
  await show({ controls: controls('agent') }, items);
  expect(await waitFor('queue')).toMatchObject({ content: 'Carry out the plan.' });
  expect(await start.count()).toBe(0);
});

test('the meter shows what fills the context, with notifications and the cost in its currency', async () => {
  const alone = await opened();
  const { page, show, send, waitFor } = alone;
  await show({ meter, controls: { mode: 'agent', approvals: 'all', sendKey: 'enter', currency: 'EUR' } });
  const before = await page.locator('.composer').boundingBox();
  await page.getByRole('button', { name: /Context used: 42 %/ }).click();
  await waitFor('read_context');
  await send({ type: 'context', context });
  const panel = page.getByRole('dialog', { name: 'Context' });
  await panel.getByText('42,000 of 100,000 tokens').waitFor();
  expect(await panel.getByRole('row', { name: /Notifications/ }).innerText()).toMatch(/1,000/);
  expect(await panel.getByRole('row', { name: /Cost/ }).innerText()).toContain('€0.123');
  expect(await panel.getByRole('row', { name: /written to the cache/ }).innerText()).toContain('900');
  await panel.getByRole('heading', { name: 'Switching the model' }).waitFor();
  expect(await panel.getByRole('row', { name: /other\/model/ }).innerText()).toContain('€0.12');
  expect(await page.locator('.composer').boundingBox()).toEqual(before);
  await alone.setTheme('light');
  const colours = await panel.locator('.context-bar').evaluate((bar) => ({
    border: getComputedStyle(bar).borderTopColor,
    quiet: getComputedStyle(bar.closest('.popover')?.querySelector('.quiet') ?? bar).color,
  }));
  expect(colours.border).toBe(colours.quiet);
  await alone.setTheme('dark');
  await alone.pictures('context');
  expect(await alone.violations()).toEqual([]);
  // The name of a model may be longer than the panel is wide.
  await page.setViewportSize({ width: 250, height: 700 });
  expect(await panel.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBe(0);
  await page.keyboard.press('Escape');
  await panel.waitFor({ state: 'detached' });
  expect(await page.locator(':focus').innerText()).toContain('42 %');
});

test('a fork says what is left in the original, opens it and restores its files; the list marks both', async () => {
  const alone = await opened();
  const { page, show, send, waitFor } = alone;
  const origin = { id: 'b', title: 'Cart total', request: 'r1', unreviewed: 5, commands: 1 };
  await show({ title: 'Cart total, again', origin }, [request('1', 'Explain what the cart does, shortly.')]);
  const bar = page.getByRole('region', { name: 'Fork of another conversation' });
  expect(await bar.innerText()).toMatch(/fork of “Cart total”.*There: 5 files to review, 1 command running\./s);
  await alone.pictures('fork');
  expect(await alone.violations()).toEqual([]);
  await bar.getByRole('button', { name: 'Open original' }).click();
  expect(await waitFor('open_conversation')).toEqual({ type: 'open_conversation', id: 'b' });
  await bar.getByRole('button', { name: 'Restore files…' }).click();
  expect(await waitFor('restore')).toEqual({ type: 'restore', request: 'r1', conversation: 'b' });
  await bar.getByRole('button', { name: 'Close' }).click();
  await bar.waitFor({ state: 'detached' });
  await send({ type: 'show_conversations' });
  const lastActivity = Date.now() - 1000;
  const items = [
    { id: 'a', title: 'Cart total, again', lastActivity, forked: true as const },
    { id: 'b', title: 'Cart total', lastActivity, unreviewed: 5, commands: 1 },
  ];
  await send({ type: 'conversations', query: '', items, searching: false });
  await page.getByText('2 conversations').waitFor();
  expect(await page.locator('.conversation-marks').allInnerTexts()).toEqual([
    'Fork of another conversation',
    '5 files to review, 1 command running',
  ]);
  await alone.pictures('fork-list');
  expect(await alone.violations()).toEqual([]);
});

test('conversations are searched, opened, renamed and deleted in the panel', async () => {
  const alone = await opened();
  const { page, show, send, waitFor } = alone;
  const others = [{ id: 'b', title: 'Release notes', activity: 'approval' as const }];
  await show({ title: 'Tea menu', others });
  await send({ type: 'show_conversations' });
  expect(await waitFor('list_conversations')).toMatchObject({ query: '' });
  const now = Date.now();
  const items = [
    { id: 'c', title: 'Tea menu', lastActivity: now - 1000 },
    { id: 'b', title: 'Release notes', lastActivity: now - 120_000, activity: 'approval' as const },
    {
      id: 'd',
      title: 'A \u202e<script>alert(1)</script> title that is far too long for a narrow panel',
      lastActivity: now - 9e8,
      activity: 'failed' as const,
    },
    { id: 'e', title: '', lastActivity: 0, problem: 'It cannot be read: bad disk.' },
  ];
  await send({ type: 'conversations', query: '', items: items.slice(0, 2), searching: false });
  await page.getByText('2 conversations').waitFor();
  await alone.picture('readme-conversations');
  await send({ type: 'conversations', query: '', items, searching: false });
  await page.getByText('4 conversations').waitFor();
  expect(await page.locator('.conversation-row').nth(1).innerText()).toMatch(
    /Release notes\s+2m\. ago|2 min|Needs approval/,
  );
  await alone.setTheme('high-contrast');
  // This theme has no background for the selection.
  const outlines = await page.locator('.conversation-row').evaluateAll((rows) =>
    rows.map((row) => {
      const { outlineStyle, outlineColor } = getComputedStyle(row);
      return outlineStyle === 'solid' && outlineColor;
    }),
  );
  expect(outlines).toEqual(['rgb(243, 133, 24)', false, false, false]);
  await alone.setTheme('dark');
  await alone.pictures('conversations');
  expect(await alone.violations()).toEqual([]);
  await page.getByRole('searchbox').fill('oolong');
  expect(await waitFor('list_conversations')).toMatchObject({ query: 'oolong' });
  const excerpt = 'more oolong for the <b>menu</b>';
  await send({
    type: 'conversations',
    query: 'oolong',
    items: items.slice(1, 2).map((item) => ({ ...item, excerpt })),
    searching: false,
  });
  await page.getByText(excerpt).waitFor();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await page.getByRole('menuitem', { name: 'Rename' }).press('Enter');
  const title = page.getByRole('textbox', { name: 'New title' });
  await title.fill('Release 2');
  await title.press('Enter');
  expect(await waitFor('rename')).toMatchObject({ conversation: 'b', title: 'Release 2' });
  await page.getByRole('button', { name: 'Actions for Release notes' }).click();
  await page.getByRole('menuitem', { name: 'Delete…' }).click();
  expect(await waitFor('delete')).toMatchObject({ conversation: 'b' });
  await page.locator('.conversation-open').first().click();
  expect(await waitFor('open_conversation')).toMatchObject({ id: 'b' });
  expect(await focusedLabel(page)).toBe('Message to Earshot');
});

test('each conversation has its own draft, and what is typed while a new chat starts stays', async () => {
  const { page, show, waitFor, posted } = await opened();
  await show({ conversation: 'a', draft: 'for a' });
  const composer = page.getByRole('textbox', { name: 'Message to Earshot' });
  await expect.poll(() => composer.inputValue()).toBe('for a');
  await composer.fill('for a, longer');
  await show({ conversation: 'b', draft: '' });
  await expect.poll(() => composer.inputValue()).toBe('');
  expect(await waitFor('draft')).toEqual({ type: 'draft', conversation: 'a', text: 'for a, longer' });
  await show({ conversation: null, draft: '' });
  await composer.fill('typed meanwhile');
  await show({ conversation: 'n', draft: null });
  await expect
    .poll(() => posted.filter(({ type }) => type === 'draft').slice(-2))
    .toEqual([
      { type: 'draft', conversation: null, text: '' },
      { type: 'draft', conversation: 'n', text: 'typed meanwhile' },
    ]);
  expect(await composer.inputValue()).toBe('typed meanwhile');
});

test('files dropped anywhere on the page are attached; a hint is shown while they are dragged over it', async () => {
  const alone = await opened();
  const { page, show, waitFor } = alone;
  await show({}, [{ type: 'request', id: '1', source: 'user', text: 'Go on.' }]);
  const drag = (
    events: readonly string[],
    data: { readonly uris?: string; readonly file?: readonly [string, string] },
  ) =>
    page.getByText('Go on.').evaluate(
      (target, { events: types, data: { uris, file } }) => {
        const dataTransfer = new DataTransfer();
        if (uris !== undefined) dataTransfer.setData('application/vnd.code.uri-list', uris);
        if (file !== undefined) dataTransfer.items.add(new File(['x'], file[0], { type: file[1] }));
        return types.map((type) => {
          const event = new DragEvent(type, { dataTransfer, bubbles: true, cancelable: true });
          target.dispatchEvent(event);
          return event.defaultPrevented;
        });
      },
      { events, data },
    );
  const hint = page.getByText('Drop files here to attach them');
  expect(await drag(['dragover'], { uris: 'file:///tea/src/menu.ts' })).toEqual([true]);
  await hint.waitFor();
  await alone.pictures('drop', [300]);
  expect(await alone.violations()).toEqual([]);
  await drag(['dragleave'], {});
  await hint.waitFor({ state: 'detached' });
  const uris = '# comment\r\nfile:///tea/src/menu.ts\r\nhttps://example.com/\r\nvscode-remote://host/tea/src';
  expect(await drag(['dragover', 'drop'], { uris })).toEqual([true, true]);
  await hint.waitFor({ state: 'detached' });
  expect(await waitFor('attach_uris')).toMatchObject({
    uris: ['file:///tea/src/menu.ts', 'vscode-remote://host/tea/src'],
  });
  expect(await focusedLabel(page)).toBe('Message to Earshot');
  await drag(['drop'], { file: ['photo.png', 'image/png'] });
  expect(await waitFor('attach')).toMatchObject({ name: 'photo.png', media_type: 'image/png' });
  // Without this, the browser would open the file instead of the page.
  expect(await drag(['drop'], { file: ['notes.txt', 'text/plain'] })).toEqual([true]);
  await page.getByText('notes.txt cannot be attached from another program').waitFor();
  const button = page.getByRole('button', { name: /^Attach files/ });
  expect(await button.getAttribute('title')).toContain('hold Shift');
});

test('the composer’s placeholder says what Earshot is waiting for', async () => {
  const { page, show } = await opened();
  const call = { type: 'tool', id: 't', name: 'ask_user', arguments: { question: 'Which tea?' }, output: '' } as const;
  const placeholder = () => page.getByRole('textbox', { name: 'Message to Earshot' }).getAttribute('placeholder');
  await show({ running: true }, [{ ...call, name: 'run_command', state: 'approval', approval: {} }]);
  await expect.poll(placeholder).toBe('Waiting for your approval');
  const question = { id: 'q', text: 'Which tea?', several: false, options: ['Oolong'] };
  await show({ running: true }, [{ ...call, state: 'question', question }]);
  await expect.poll(placeholder).toBe('Waiting for your answer');
  await show({ running: true }, [{ ...call, state: 'running' }]);
  await expect.poll(placeholder).toBe('Earshot is working…');
});

test('earlier items are shown on request, Alt+Up and Alt+Down jump between messages, an answer is copied as Markdown', async () => {
  const { page, show } = await opened();
  const items = Array.from({ length: 100 }, (_, index): readonly TranscriptItem[] => [
    { type: 'request', id: `r${index}`, source: 'user', text: `Message ${index}` },
    { type: 'answer', id: `a${index}`, text: `**Answer** ${index}`, reasoning: '', streaming: false, truncated: false },
  ]);
  await show({}, items.flat());
  const requests = page.locator('.item-request');
  const before = await requests.count();
  expect(before).toBeLessThan(100);
  await page.getByRole('button', { name: /^Show earlier/ }).click();
  await expect.poll(() => requests.count()).toBeGreaterThan(before);
  /** The message at the top of the transcript. */
  const atTop = () =>
    page.evaluate(() => {
      const top = document.querySelector('.scroller')?.getBoundingClientRect().top ?? 0;
      const all = [...document.querySelectorAll('.item-request')];
      return all.find((one) => Math.abs(one.getBoundingClientRect().top - top) < 4)?.textContent.match(/\d+/)?.[0];
    });
  await page.getByRole('textbox', { name: 'Message to Earshot' }).press('Alt+ArrowUp');
  await expect.poll(atTop).toBeDefined();
  const first = Number(await atTop());
  await page.keyboard.press('Alt+ArrowUp');
  await expect.poll(atTop).toBe(String(first - 1));
  await page.keyboard.press('Alt+ArrowDown');
  await expect.poll(atTop).toBe(String(first));
  await page.evaluate(() => {
    const writeText = async (copied: string) => void Object.assign(window, { copied });
    Object.defineProperty(navigator, 'clipboard', { value: { writeText } });
  });
  await page.getByRole('button', { name: 'Scroll to bottom' }).click();
  await page.getByRole('button', { name: 'Copy answer' }).last().click();
  await page.getByRole('button', { name: 'Copied' }).waitFor();
  expect(await page.evaluate(() => (window as unknown as { copied: string }).copied)).toBe('**Answer** 99');
});

test('tabs appear in a wide panel only', async () => {
  const { page, show, waitFor } = await opened();
  await show({ title: 'Tea menu', others: [{ id: 'b', title: 'Release notes', activity: 'running' }] });
  const tab = page.getByRole('navigation').getByRole('button', { name: /Release notes/ });
  expect(await tab.isVisible()).toBe(false);
  await page.setViewportSize({ width: 640, height: 700 });
  await tab.click();
  expect(await waitFor('open_conversation')).toMatchObject({ id: 'b' });
});

async function opened() {
  const alone = await open();
  return Object.assign(alone, {
    show: alone.show.bind(alone),
    send: alone.send.bind(alone),
    waitFor: alone.waitFor.bind(alone),
  });
}

function focusedLabel(page: Awaited<ReturnType<typeof opened>>['page']): Promise<string | null> {
  return page.evaluate(() => document.activeElement?.getAttribute('aria-label') ?? null);
}

// The composer on the page alone: history, keys, queued messages, and the @ and / pickers.
import { expect, test } from 'vitest';
import { type PageAlone } from '../../support/page/chatPage.ts';
import { answer, request, tool } from '../../support/page/items.ts';
import { usePages } from '../../support/page/pageAlone.ts';

const open = usePages();

const composerOf = ({ page }: PageAlone) => page.getByRole('textbox', { name: 'Message to Earshot' });

test('Up and Down walk the history, Escape stops, IME composition never sends, the send key is a setting', async () => {
  const alone = await open();
  await alone.show({ title: 'x', running: true }, [request('1', 'first'), answer('a', 'x'), request('2', 'second')]);
  const composer = composerOf(alone);
  await composer.focus();
  await composer.press('ArrowUp');
  expect(await composer.inputValue()).toBe('second');
  await composer.press('ArrowUp');
  expect(await composer.inputValue()).toBe('first');
  await composer.press('ArrowDown');
  await composer.press('ArrowDown');
  expect(await composer.inputValue()).toBe('');
  await composer.press('Escape');
  await alone.waitFor('stop');
  await composer.fill('日本');
  await composer.evaluate((field) => {
    field.dispatchEvent(
      new KeyboardEvent('keydown', { key: 'Enter', isComposing: true, bubbles: true, cancelable: true }),
    );
    field.dispatchEvent(new KeyboardEvent('keydown', { key: 'Process', bubbles: true, cancelable: true }));
  });
  await composer.press('Enter');
  expect(await alone.waitFor('queue')).toMatchObject({ content: '日本' });
  expect(alone.posted.filter(({ type }) => type === 'queue')).toEqual([]);
  await alone.change({
    type: 'head',
    head: { controls: { mode: 'agent', approvals: 'reads', sendKey: 'modifierEnter', currency: 'USD' } },
  });
  await alone.drawn();
  await composer.fill('one');
  await composer.press('Enter');
  await composer.press('Control+Enter');
  expect(await alone.waitFor('queue')).toMatchObject({ content: 'one\n' });
});

test('queued messages are edited, moved up and sent now', async () => {
  const alone = await open();
  const queued = [
    { id: 'q1', text: 'first thought', attachments: [] },
    { id: 'q2', text: 'second thought', attachments: [] },
  ];
  await alone.show({ title: 'x', running: true, queued }, [request('1', 'Go')]);
  const { page } = alone;
  await page.getByRole('button', { name: 'Move up: second thought' }).click();
  expect(await alone.waitFor('raise_queued')).toMatchObject({ queued_id: 'q2' });
  await page.getByRole('button', { name: 'Send now: first thought' }).click();
  expect(await alone.waitFor('send_queued')).toMatchObject({ queued_id: 'q1' });
  await page.getByRole('button', { name: 'Remove from queue: first thought' }).click();
  expect(await alone.waitFor('withdraw_queued')).toMatchObject({ queued_id: 'q1' });
  await alone.pictures('queued', [250, 300]);
  expect(await alone.violations()).toEqual([]);
});

test('@ and / offer entries that are chosen with the keyboard', async () => {
  const alone = await open();
  await alone.show({ title: 'x' });
  const { page } = alone;
  const composer = composerOf(alone);
  await composer.pressSequentially('look at @me');
  await expect
    .poll(() => alone.posted.findLast(({ type }) => type === 'complete'))
    .toMatchObject({ trigger: '@', query: 'me' });
  const items = [
    {
      ...{ source: 'files', id: 'src/menu.ts', label: 'menu.ts', mention: 'src/menu.ts', detail: 'src' },
      icon: 'file' as const,
    },
    { source: 'files', id: 'src/m\u202e.ts', label: 'm\u202e.ts', detail: 'src', icon: 'file' as const },
  ];
  await alone.send({ type: 'completions', trigger: '@', query: 'me', items: items.slice(0, 1) });
  await page.getByRole('option', { name: 'menu.ts src' }).waitFor();
  await alone.picture('readme-picker');
  await alone.send({ type: 'completions', trigger: '@', query: 'me', items });
  await page.getByRole('option', { name: 'menu.ts src' }).waitFor();
  await alone.pictures('picker');
  expect(await alone.violations()).toEqual([]);
  await composer.press('ArrowDown');
  expect(await composer.getAttribute('aria-activedescendant')).toBe('composer-picker-1');
  await composer.press('ArrowUp');
  await composer.press('Enter');
  expect(await alone.waitFor('choose_completion')).toMatchObject({ source: 'files', id: 'src/menu.ts' });
  expect(await composer.inputValue()).toBe('look at @src/menu.ts ');
  await composer.fill('');
  await composer.pressSequentially('/re');
  await expect
    .poll(() => alone.posted.findLast(({ type }) => type === 'complete'))
    .toMatchObject({ trigger: '/', query: 're' });
  const prompt = {
    source: 'prompts',
    id: 'review',
    label: '/review',
    detail: 'Review',
    icon: 'file' as const,
    insert: '/review ',
  };
  await alone.send({ type: 'completions', trigger: '/', query: 're', items: [prompt] });
  await page.getByRole('option').waitFor();
  // Text typed before and after the next frame stays in order.
  await composer.evaluate(async (field: HTMLTextAreaElement) => {
    const type = (text: string) => {
      field.setRangeText(text, field.selectionStart, field.selectionEnd, 'end');
      field.dispatchEvent(new InputEvent('input', { bubbles: true }));
    };
    field.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true, cancelable: true }));
    await new Promise((resolve) => setTimeout(resolve));
    type('a');
    await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
    type('b');
  });
  expect(await composer.inputValue()).toBe('/review ab');
  // A path in the middle of a sentence is not a command.
  await composer.fill('see a/b');
  await page.getByRole('listbox').waitFor({ state: 'detached' });
});

test('Escape in a card stops the turn, but never loses text or closes more than the field', async () => {
  const alone = await open();
  const { page } = alone;
  await alone.show({ title: 'x', running: true }, [
    request('1', 'Go'),
    tool('t', { name: 'run_command', output: '', arguments: { command: 'npm test' }, state: 'approval', approval: {} }),
  ]);
  const stops = () => alone.posted.filter(({ type }) => type === 'stop').length;
  const reason = page.getByRole('textbox', { name: /Reason/ });
  await reason.fill('Not now.');
  await reason.press('Escape');
  await page.getByRole('button', { name: 'Modify…' }).click();
  await page.locator('.modify-text').press('Escape');
  await page.getByRole('button', { name: 'Approve' }).focus();
  expect(stops()).toBe(0);
  await page.keyboard.press('Escape');
  await alone.waitFor('stop');
  // Nothing runs any more.
  await alone.change({ type: 'head', head: { running: false } });
  await alone.drawn();
  await page.keyboard.press('Escape');
  await alone.drawn();
  expect(stops()).toBe(0);
});

test('Up continues with the messages of other conversations, also if they arrive after the key', async () => {
  const alone = await open();
  await alone.show({ title: 'x' }, [request('1', 'mine')]);
  const composer = composerOf(alone);
  await composer.focus();
  await composer.press('ArrowUp');
  expect(await composer.inputValue()).toBe('mine');
  await alone.waitFor('list_prompts');
  await alone.send({ type: 'prompts', texts: ['theirs', 'mine', 'older'] });
  await alone.drawn();
  const seen: string[] = [];
  for (const key of ['ArrowUp', 'ArrowUp', 'ArrowUp', 'ArrowDown', 'ArrowDown', 'ArrowDown']) {
    await composer.press(key);
    seen.push(await composer.inputValue());
  }
  expect(seen).toEqual(['theirs', 'older', 'older', 'theirs', 'mine', '']);
  // In a new chat there is nothing before the answer.
  await alone.show({ conversation: null, title: '' });
  await alone.send({ type: 'prompts', texts: [] });
  await alone.drawn();
  await composer.press('ArrowUp');
  await alone.waitFor('list_prompts');
  expect(await composer.inputValue()).toBe('');
  await alone.send({ type: 'prompts', texts: ['theirs'] });
  await expect.poll(() => composer.inputValue()).toBe('theirs');
  // What was typed meanwhile stays.
  await composer.fill('');
  await alone.send({ type: 'prompts', texts: [] });
  await alone.drawn();
  await composer.press('ArrowUp');
  await alone.waitFor('list_prompts');
  await composer.fill('typed');
  await alone.send({ type: 'prompts', texts: ['late'] });
  await alone.drawn();
  expect(await composer.inputValue()).toBe('typed');
});

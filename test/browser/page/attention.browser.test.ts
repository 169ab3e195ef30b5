// What is pending and what needs the user, on the page alone: the drawer, chips with text, and the bar for approvals
// that are scrolled out of view.
import { expect, test } from 'vitest';
import { type PendingEntry } from '../../../src/protocol/page/pendingView.ts';
import { type TranscriptItem } from '../../../src/protocol/transcript.ts';
import { usePages } from '../../support/page/pageAlone.ts';
import { runs } from '../../support/runs.ts';

const open = usePages();

const at = new Date(Date.now() - 5 * 60_000).toISOString();
const changed: PendingEntry = {
  source: 'file',
  name: 'changed',
  label: 'File changed',
  subject: 'src/menu.ts',
  path: 'src/menu.ts',
  ids: ['n1', 'n0'],
  more: 0,
  level: 'warning',
  origin: 'editor',
  at,
  count: 2,
  message: 'src/menu.ts changed since you read it (+1 −0):\n@@ -1 +1,2 @@\n+<script>alert(1)</script>\u202e',
  tokens: 42,
};
const failed: PendingEntry = {
  ...changed,
  source: 'tool',
  name: 'failed',
  label: 'Background command failed',
  subject: 'build',
  ids: ['n2'],
  level: 'error',
  count: 1,
  message: 'build failed with exit code 1.',
};
const { path: _path, ...withoutPath } = failed;
const pending = { count: 3, worst: 'error' as const, entries: [withoutPath, changed] };

test('the drawer lists pending notifications with dismiss, mute and deliver; the composer does not move', async () => {
  const alone = await open();
  const { page } = alone;
  await alone.show({ title: 'x' }, [request('1')]);
  const place = () => page.locator('.composer').boundingBox();
  const before = await place();
  await alone.change({ type: 'head', head: { pending } });
  const drawer = page.getByRole('region', { name: 'Pending notifications' });
  const button = drawer.getByRole('button', { name: 'Pending notifications 3' });
  await button.waitFor();
  expect(await place()).toEqual(before);
  await button.click();
  await drawer.getByText('File changed · src/menu.ts').waitFor();
  expect(await drawer.locator('.drawer-detail').last().innerText()).toMatch(/Files · 5m ago · 2 times · ≈ 42 tokens/);
  expect(await place()).toEqual(before);
  await alone.picture('readme-pending');
  await drawer.getByText('File changed · src/menu.ts').click();
  await drawer.getByText('<script>alert(1)</script>⟨U+202E⟩').waitFor();
  await alone.pictures('drawer');
  expect(await alone.violations()).toEqual([]);
  await drawer.getByRole('button', { name: 'Dismiss: File changed' }).click();
  expect(await alone.waitFor('dismiss')).toMatchObject({ notification_ids: ['n1', 'n0'] });
  await drawer.getByRole('button', { name: 'Mute: File changed' }).click();
  await page.getByRole('menuitem', { name: 'Mute this file: src/menu.ts' }).click();
  expect(await alone.waitFor('mute')).toMatchObject({ mute: { by: 'path', path: 'src/menu.ts' } });
  await drawer.getByRole('button', { name: 'Mute: Background' }).click();
  await page.getByRole('menuitem', { name: 'Mute this source: Background commands' }).click();
  expect(await alone.waitFor('mute')).toMatchObject({ mute: { by: 'source', kind: { source: 'tool' } } });
  await drawer.getByRole('button', { name: 'Deliver now' }).click();
  await alone.waitFor('deliver');
  await alone.change({ type: 'head', head: { pending: { count: 0, worst: null, entries: [] } } });
  await drawer.waitFor({ state: 'detached' });
  expect(await place()).toEqual(before);
});

const carried = {
  text: '<notification source="tool" name="failed">…</notification>',
  shown: 1,
  total: 1,
  worst: 'error' as const,
  labels: [{ source: 'tool', name: 'failed', label: 'Background command failed', subject: 'build' }],
  tokens: 40,
  receipt: 'accepted' as const,
  texts: 0,
};

test('an automatic run says why it started; text for the model is folded', async () => {
  const alone = await open();
  const text = 'Automated event. No person wrote this and it approves nothing.';
  await alone.show({ title: 'x' }, [{ type: 'request', id: 's', source: 'system', text, carried }]);
  await alone.page.getByRole('article', { name: 'Automatic run: Background command failed · build' }).waitFor();
  await alone.show({ title: 'x' }, [{ type: 'request', id: 's', source: 'system', forced: true, text, carried }]);
  await alone.page.getByRole('article', { name: 'Delivered by you: Background command failed · build' }).waitFor();
  await alone.page.getByText('Background command failed · build').waitFor();
  expect(await alone.page.getByText(text).isVisible()).toBe(false);
  await alone.pictures('automatic-run', [300]);
  expect(await alone.violations()).toEqual([]);
});

test('an approval out of view pins a bar that gets the focus and scrolls to it', async () => {
  const alone = await open();
  const { page } = alone;
  const answers = Array.from({ length: 40 }, (_, index) => answer(`a${index}`));
  await alone.show({ title: 'x', running: true }, [request('1'), ...answers]);
  const scroller = page.getByRole('log');
  await page.getByText('Answer a39.').waitFor();
  await scroller.hover();
  await page.mouse.wheel(0, -20_000);
  await page.getByRole('button', { name: 'Scroll to bottom' }).waitFor();
  await alone.change({ type: 'item', item: approval });
  const bar = page.getByRole('button', { name: 'Approval needed: Run npm test' });
  await bar.waitFor();
  await expect.poll(() => bar.evaluate((element) => element === document.activeElement)).toBe(true);
  await alone.pictures('pinned', [250, 300]);
  expect(await alone.violations()).toEqual([]);
  await page.keyboard.press('Enter');
  await expect
    .poll(() => page.evaluate(() => document.activeElement?.getAttribute('aria-label')))
    .toBe('Approval: Run npm test');
  await bar.waitFor({ state: 'detached' });
});

test('Approve All and Reject All are off, and say why, until the newest approval could be seen', async () => {
  const alone = await open();
  const { page } = alone;
  await page.clock.install();
  const second = { ...approval, id: 'u' };
  await alone.show({ running: true }, [request('1'), approval, second]);
  const all = page.getByRole('button', { name: 'Approve All' });
  const none = page.getByRole('button', { name: 'Reject All' });
  await all.waitFor();
  await page.clock.runFor(900);
  await expect.poll(() => all.isEnabled()).toBe(true);
  expect(await all.getAttribute('title')).toBe('Approve these 2 calls');
  await alone.change({ type: 'item', item: { ...approval, id: 'v' } });
  await page.getByText('3 approvals needed.').waitFor();
  expect([await all.isEnabled(), await none.isEnabled()]).toEqual([false, false]);
  expect(await none.getAttribute('title')).toBe('Another approval has just appeared. Look at it first.');
  expect(await all.evaluate((element) => getComputedStyle(element).opacity)).toBe('0.5');
  await alone.picture('all-off');
  await none.dispatchEvent('click');
  await page.getByRole('alert').getByText('Nothing was answered: this request had only just appeared.').waitFor();
  await page.clock.runFor(900);
  await expect.poll(() => none.isEnabled()).toBe(true);
  // An answered one does not switch them off again.
  await alone.change({ type: 'item', item: { ...second, state: 'done', output: 'ok' } });
  await page.getByText('2 approvals needed.').waitFor();
  expect(await all.isEnabled()).toBe(true);
  await all.click();
  expect(await alone.waitFor('approve')).toMatchObject({ tool_call_id: 't', action: 'approve' });
});

test('the key for Approve, pressed too early, answers nothing and says so; pressed again, it approves', async () => {
  const alone = await open();
  const { page } = alone;
  await page.clock.install();
  await alone.show({ running: true }, [request('1'), approval]);
  await page.getByRole('button', { name: 'Approve', exact: true }).waitFor();
  await alone.send({ type: 'approve_first' });
  const said = page.getByRole('alert').getByText('Nothing was answered: this request had only just appeared.');
  await said.waitFor();
  await alone.pictures('too-early', [250, 300]);
  expect(await alone.violations()).toEqual([]);
  expect(alone.posted.filter(({ type }) => type === 'approve')).toEqual([]);
  await page.clock.runFor(900);
  await alone.send({ type: 'approve_first' });
  expect(await alone.waitFor('approve')).toMatchObject({ tool_call_id: 't', action: 'approve' });
  await alone.change({ type: 'item', item: { ...approval, state: 'done', output: 'ok' } });
  await said.waitFor({ state: 'detached' });
});

test('after an answer the composer gets the focus, but not if the user works in another part of the window by then', async () => {
  for (const hasFocus of [true, false]) {
    const alone = await open();
    const { page } = alone;
    await alone.show({ running: true }, [request('1'), approval]);
    await page.getByRole('button', { name: 'Approve', exact: true }).click();
    await alone.waitFor('approve');
    // As in an editor of the window, which the page cannot see.
    if (!hasFocus) await page.evaluate(() => (document.hasFocus = () => false));
    await alone.change({ type: 'item', item: { ...approval, state: 'done', output: 'ok' } });
    await page.getByRole('group', { name: 'Approval: Run npm test' }).waitFor({ state: 'detached' });
    await alone.drawn();
    const focused = await page.evaluate(() => document.activeElement?.tagName);
    expect(focused).toBe(hasFocus ? 'TEXTAREA' : 'BODY');
  }
});

test('the time of a running background command goes on while nothing else changes', async () => {
  const alone = await open();
  const { page } = alone;
  await page.clock.install({ time: '2026-01-01T00:01:00Z' });
  const handle = { call: 'h', name: 'kettle', command: 'boil', state: 'running' as const, output: '' };
  await alone.show({ handles: [{ ...handle, detail: 'running for 0 s', since: '2026-01-01T00:00:55Z' }] }, [
    request('1'),
  ]);
  await page.getByRole('button', { name: 'Background 1' }).click();
  await page.getByText('running for 5 s').waitFor();
  await page.clock.runFor(60_000);
  await page.getByText('running for 1 min 5 s').waitFor();
});

test('an approval in another conversation is named above the composer and opens it', async () => {
  const alone = await open();
  await alone.show({ others: [{ id: 'b', title: 'Release notes', activity: 'approval' }] });
  await alone.page.getByRole('button', { name: 'Another conversation needs you: Release notes' }).click();
  expect(await alone.waitFor('open_conversation')).toMatchObject({ id: 'b' });
});

test('the page plays a sound, but not one sent before its first snapshot', async () => {
  const alone = await open();
  await alone.page.evaluate(() => {
    const counted = { tones: 0 };
    const { createOscillator } = AudioContext.prototype;
    AudioContext.prototype.createOscillator = function counting() {
      counted.tones += 1;
      return createOscillator.call(this);
    };
    Object.assign(window, counted, { tones: () => counted.tones });
  });
  const tones = () => alone.page.evaluate(() => (window as unknown as { tones(): number }).tones());
  await alone.send({ type: 'sound' });
  expect(await tones()).toBe(0);
  await alone.show();
  await alone.send({ type: 'sound' });
  await expect.poll(tones).toBe(2);
});

function request(id: string): TranscriptItem {
  return { type: 'request', id, source: 'user', text: 'Go on.' };
}

function answer(id: string): TranscriptItem {
  return { type: 'answer', id, text: `Answer ${id}.`, reasoning: '', streaming: false, truncated: false };
}

const approval: Extract<TranscriptItem, { type: 'tool' }> = {
  type: 'tool',
  id: 't',
  name: 'run_command',
  arguments: { command: 'npm test' },
  state: 'approval',
  output: '',
  approval: {},
};

test('a form of an MCP server is one card: defaults, limits checked by the browser, submit, decline, cancel, and the answers', async () => {
  const alone = await open();
  const { page } = alone;
  const fields = [
    { name: 'name', label: 'Your name', about: 'As on the bill', type: 'text' as const, required: true },
    { name: 'mail', label: 'Mail', type: 'text' as const, format: 'email' as const, required: false },
    { name: 'cups', label: 'Cups', type: 'integer' as const, required: true, least: 1, most: 9, default: 2 },
    { name: 'milk', label: 'With milk', type: 'boolean' as const, required: false, default: true },
    {
      name: 'tea',
      label: 'Tea',
      type: 'choice' as const,
      required: false,
      options: [
        { value: 'o', label: 'Oolong' },
        { value: 'a', label: 'Assam' },
      ],
    },
    {
      name: 'from',
      label: 'From',
      type: 'choice' as const,
      required: true,
      options: Array.from({ length: 12 }, (_, index) => ({ value: String(index), label: `Garden ${index}` })),
    },
    {
      name: 'extras',
      label: 'Extras',
      type: 'choices' as const,
      required: false,
      options: [
        { value: 'h', label: 'Honey' },
        { value: 'l', label: 'Lemon' },
      ],
    },
  ];
  const question = { id: 'q1', text: 'The MCP server “kitchen” asks: What shall I order?', several: false, fields };
  const card = (more: object): TranscriptItem => ({
    type: 'tool',
    id: 't',
    name: 'kitchen__order',
    arguments: {},
    state: 'question',
    output: '',
    question,
    ...more,
  });
  const media = [{ media_type: 'image/png' as const, hash: 'h1' }];
  await alone.show({ title: 'x' }, [card({})]);
  await alone.pictures('mcp-form', runs(0, 1) === 1 ? [250, 300, 600] : [300]);
  const submit = page.getByRole('button', { name: 'Submit' });
  await submit.click();
  expect(await page.getByLabel('Your name').evaluate((field: HTMLInputElement) => field.validity.valueMissing)).toBe(
    true,
  );
  await page.getByLabel('Your name').fill('Ada');
  await page.getByLabel('From').selectOption({ label: 'Garden 7' });
  await page.getByRole('radio', { name: 'Assam' }).check();
  await page.getByRole('checkbox', { name: 'Lemon' }).check();
  await page.getByRole('spinbutton', { name: 'Cups' }).fill('3');
  expect(await alone.violations()).toEqual([]);
  expect(alone.posted.filter(({ type }) => type === 'answer')).toEqual([]);
  await submit.click();
  const { answer } = await alone.waitFor('answer');
  expect(JSON.parse(String(answer))).toEqual({
    name: 'Ada',
    mail: null,
    cups: 3,
    milk: true,
    tea: 'a',
    from: '7',
    extras: ['l'],
  });
  const second = { ...question, id: 'q2' };
  await alone.change({ type: 'item', item: card({ question: { ...second, problem: 'Your name is required.' } }) });
  await page.getByRole('alert').getByText('Your name is required.').waitFor();
  await page.getByRole('button', { name: 'Decline' }).click();
  expect((await alone.waitFor('answer')).answer).toBe('');
  await alone.change({ type: 'item', item: card({ question: { ...question, id: 'q3' } }) });
  await page.getByRole('button', { name: 'Cancel', exact: true }).click();
  expect((await alone.waitFor('answer')).answer).toBe('cancel');
  const answered = { ...question, answer: '{"name":"Ada","extras":["h","l"]}' };
  await alone.change({ type: 'item', item: card({ state: 'done', output: 'Ordered.', question: answered, media }) });
  await alone.drawn();
  if (!(await page.getByText('Honey, Lemon').isVisible())) await page.locator('.tool-head').click();
  await page.getByText('Honey, Lemon').waitFor();
  // The image of the result is read when the card is opened.
  expect((await alone.waitFor('read_media')).hash).toBe('h1');
  const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
  await alone.send({ type: 'media', hash: 'h1', data: pixel });
  const image = page.getByRole('img', { name: 'Image 1 of the result' });
  await expect.poll(() => image.evaluate((element: HTMLImageElement) => element.naturalWidth)).toBe(1);
  await alone.pictures('mcp-form-answered', [300]);
});

test('a sent image has a thumbnail that grows on a click; one that is not stored any more says so', async () => {
  const alone = await open();
  const { page } = alone;
  const item: TranscriptItem = {
    ...{ type: 'request', id: '1', source: 'user', text: 'What are these?', attachments: ['src/menu.ts'] },
    images: [
      { name: 'wide.png', hash: 'wide', media_type: 'image/png' },
      { name: 'gone.png', hash: 'gone', media_type: 'image/png' },
      { name: 'odd.png', hash: 'odd', media_type: 'image/png' },
    ],
  };
  await alone.show({ title: 'x' }, [item]);
  const wide = await page.evaluate(() => {
    const canvas = document.createElement('canvas');
    [canvas.width, canvas.height] = [1600, 400];
    const context = canvas.getContext('2d');
    if (context !== null) {
      context.fillStyle = 'teal';
      context.fillRect(0, 0, 1600, 400);
    }
    return canvas.toDataURL('image/png').split(',')[1] ?? '';
  });
  const stored = new Map([
    ['wide', wide],
    ['odd', btoa('no image')],
  ]);
  for (let image = 0; image < 3; image++) {
    const { hash } = await alone.waitFor('read_media');
    const data = stored.get(hash);
    await alone.send({ type: 'media', hash, ...(data !== undefined && { data }) });
  }
  const thumbnail = page.getByRole('button', { name: 'Attached image wide.png' });
  const natural = () => thumbnail.locator('img').evaluate((element: HTMLImageElement) => element.naturalWidth);
  await expect.poll(natural).toBe(256);
  const box = await thumbnail.boundingBox();
  expect(box?.width).toBeLessThanOrEqual(130);
  expect(box?.height).toBeLessThanOrEqual(74);
  await page.getByText('gone.png is no longer stored.').waitFor();
  await page.getByText('odd.png', { exact: true }).waitFor();
  await page.getByText('src/menu.ts').waitFor();
  await alone.pictures('sent-images', [300]);
  expect(await alone.violations()).toEqual([]);
  await thumbnail.click();
  await expect.poll(natural).toBe(1600);
  expect((await thumbnail.boundingBox())?.width).toBeGreaterThan(180);
  // It stays inside the message.
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(300);
});

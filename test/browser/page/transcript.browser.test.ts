// The transcript and the composer, on the page alone: actions, groups, links, diffs in a narrow panel, pickers, keys, hostile content.
import { expect, test } from 'vitest';
import { type TranscriptItem } from '../../../src/protocol/transcript.ts';
import { answer, request, tool } from '../../support/page/items.ts';
import { usePages } from '../../support/page/pageAlone.ts';

const open = usePages();

test('many calls are one row, a failure is collapsed to its first line, a stopped call is shown as not run', async () => {
  const alone = await open();
  const { page } = alone;
  const many = Array.from({ length: 12 }, (_, index) => tool(`f${index}`, index > 9 ? { state: 'failed' } : {}));
  const failed = tool('e', {
    name: 'run_command',
    arguments: { command: 'npm test' },
    state: 'failed',
    output: 'exit code 1\nlong text',
    milliseconds: 65_000,
  });
  await alone.show({ title: 'x' }, [
    request('1', 'Go'),
    ...many,
    failed,
    tool('n', { name: 'delete_file', state: 'not_run' }),
  ]);
  await page.getByRole('button', { name: 'Read 12 files, 2 failed' }).click();
  expect(await page.locator('.tool-group-items .tool').count()).toBe(12);
  await page.getByRole('button', { name: 'Read 12 files, 2 failed' }).click();
  const card = page.getByRole('region', { name: 'Run npm test' });
  expect(await card.innerText()).toMatch(/1 min 5 s[\s\S]*Failed[\s\S]*exit code 1/);
  expect(await page.getByText('long text').isVisible()).toBe(false);
  await page.getByText('Not run').waitFor();
  await alone.pictures('cards');
  expect(await alone.violations()).toEqual([]);
});

test('a call of a followed conversation is shown as open in the other window, and is not moved to the background', async () => {
  const alone = await open();
  const { page } = alone;
  const running = tool('r', { name: 'run_command', arguments: { command: 'npm test' }, state: 'running', output: '' });
  await alone.show({ title: 'x', running: true }, [request('1', 'Go'), running]);
  const card = page.getByRole('region', { name: 'Run npm test' });
  await card.getByText('Running', { exact: true }).waitFor();
  await card.getByRole('button', { name: 'Move to background' }).waitFor();
  await alone.show({ title: 'x', canSend: false, followed: true }, [request('1', 'Go'), running]);
  await card.getByText('Open in the other window').waitFor();
  await card.getByText('It runs in the other window, or waits there for approval.').waitFor();
  expect(await card.getByRole('button', { name: 'Move to background' }).count()).toBe(0);
  await alone.pictures('followed-call');
});

test('a subagent that needs the user says so on its card and in the list, with a title for its last call', async () => {
  const alone = await open();
  const { page } = alone;
  const agent = {
    call: 's',
    name: 'tester',
    command: 'Run the tests.',
    state: 'waiting',
    detail: 'running for 48 s; it waits for the user’s approval',
    output: '| I run them.\n> run_command {"command":"npm test"}\n',
    agent: { conversation: 'k', tokens: 1200 },
  } as const;
  const build = { call: 'b', name: 'build', command: 'make', state: 'running', detail: 'running', output: '' } as const;
  const input = { ...build, call: 'i', name: 'init', state: 'waiting' } as const;
  await alone.show({ title: 'x', handles: [build, input, agent] }, [
    request('1', 'Go'),
    tool('s', { name: 'start_agent', arguments: { task: 'Run the tests.', name: 'tester' }, agent: 'k' }),
  ]);
  const card = page.getByRole('region', { name: 'Start subagent tester' });
  expect(await card.innerText()).toMatch(/Waiting for you · 1,200 tokens\s+Run npm test\s+Open/);
  await page.getByRole('button', { name: 'Background 3' }).click();
  const summary = page.locator('.handles-count');
  expect(await summary.innerText()).toBe('1 running · 1 may be waiting for input · 1 waiting for you');
  expect(await summary.evaluate((element) => element.scrollWidth <= element.clientWidth)).toBe(true);
  await page.getByRole('button', { name: /^Waiting for you: tester/ }).click();
  expect(await page.getByRole('group', { name: /tester/ }).innerText()).toBe('I run them.\nRun npm test\n');
  expect(await page.locator('.handle', { hasText: 'tester' }).innerText()).toContain('Waiting for you · 1,200 tokens');
});

test('the card of a call that started a subagent or a background command shows its state, not the end of the call', async () => {
  const alone = await open();
  const handle = { call: 's', name: 'tester', command: 'Run.', detail: '', output: '' };
  const items = [
    request('1', 'Go'),
    tool('s', { name: 'run_command', arguments: { command: 'make', background: true } }),
  ];
  const state = alone.page.getByRole('region', { name: 'Run make' }).locator('.tool-state');
  for (const [of, shown] of [
    ['running', 'Running'],
    ['waiting', 'Running'],
    ['failed', 'Failed'],
    ['stopped', 'Done'],
  ] as const) {
    await alone.show({ title: 'x', handles: [{ ...handle, state: of }] }, items);
    await expect.poll(() => state.innerText()).toBe(shown);
  }
});

test('answers have their own height as soon as they are scrolled into view, so that the transcript stays where the reader scrolled', async () => {
  const alone = await open();
  const { page } = alone;
  const answers = Array.from({ length: 40 }, (_, index) => answer(`a${index}`, `Answer ${index}.`));
  await alone.show({ title: 'x' }, [request('1', 'Go'), ...answers]);
  const heights = await page.evaluateHandle(() => {
    const seen: number[] = [];
    const observer = new ResizeObserver((entries) =>
      seen.push(...entries.map(({ target }) => target.getBoundingClientRect().height)),
    );
    for (const item of document.querySelectorAll('.item')) observer.observe(item);
    return seen;
  });
  const scroller = page.getByRole('log');
  await scroller.hover();
  await page.mouse.wheel(0, -20_000);
  await expect.poll(() => scroller.evaluate(({ scrollTop }) => scrollTop)).toBe(0);
  await alone.drawn();
  expect(await scroller.evaluate(({ scrollTop }) => scrollTop)).toBe(0);
  expect(Math.max(...(await heights.jsonValue()))).toBeLessThan(100);
});

test('small steps of a touchpad stop the following of growing text, and reaching the end starts it again', async () => {
  const alone = await open();
  const { page } = alone;
  const grown = (lines: number) =>
    answer('a', Array.from({ length: lines }, (_, index) => `Line ${index}.`).join('\n\n'));
  await alone.show({ title: 'x', running: true }, [request('1', 'Go'), grown(60)]);
  const scroller = page.getByRole('log');
  const place = () =>
    scroller.evaluate(({ scrollTop, scrollHeight, clientHeight }) => ({
      top: scrollTop,
      left: scrollHeight - clientHeight - scrollTop,
    }));
  await expect.poll(async () => (await place()).left).toBeLessThan(2);
  const { top } = await place();
  await scroller.hover();
  for (let step = 1; step <= 5; step += 1) {
    await page.mouse.wheel(0, -4);
    await expect.poll(async () => (await place()).top).toBeLessThan(top - 4 * step + 2);
    await alone.change({ type: 'item', item: grown(60 + step) });
    await alone.drawn();
  }
  await page.getByRole('button', { name: 'Scroll to bottom' }).waitFor();
  expect((await place()).top).toBeLessThan(top - 10);
  await page.mouse.wheel(0, 20_000);
  await page.getByRole('button', { name: 'Scroll to bottom' }).waitFor({ state: 'detached' });
  await alone.change({ type: 'item', item: grown(90) });
  await expect.poll(async () => (await place()).left).toBeLessThan(2);
});

test('a message is edited and sent again; paths open the editor; code blocks act on the editor', async () => {
  const alone = await open();
  const { page } = alone;
  const text =
    'See src/menu.ts:12:3, `src/order.ts`, [the menu](src/menu.ts#L4) and https://example.com/a/b.ts.\n\n```ts\nconst a = 1;\n```\n\n```sh\nnpm test\n```';
  await alone.show({ title: 'x' }, [
    request('r1', 'Read the menu.'),
    answer('a1', text),
    tool('o', {
      name: 'run_command',
      arguments: { command: 'tsc' },
      output: 'src/menu.ts(3,1): error\nlib/a.ts:4: bad',
    }),
    tool('p', { arguments: { path: 'src/tea.ts' } }),
  ]);
  const block = await page.locator('.answer .code').last().boundingBox();
  const copy = await page.getByRole('button', { name: 'Copy answer' }).boundingBox();
  expect(copy?.y).toBeGreaterThan((block?.y ?? 0) + (block?.height ?? 0));
  await page.getByRole('button', { name: 'src/menu.ts:12:3' }).click();
  expect(await alone.waitFor('open_file')).toMatchObject({ path: 'src/menu.ts', line: 12, column: 3 });
  await page.getByRole('button', { name: 'src/order.ts' }).click();
  expect(await alone.waitFor('open_file')).toMatchObject({ path: 'src/order.ts' });
  expect(await page.getByRole('button', { name: 'example.com' }).count()).toBe(0);
  await page.getByRole('button', { name: 'Run tsc' }).click();
  await page.getByRole('button', { name: 'lib/a.ts:4' }).click();
  expect(await alone.waitFor('open_file')).toMatchObject({ path: 'lib/a.ts', line: 4 });
  await page.locator('.output').getByRole('button', { name: 'src/menu.ts' }).click();
  expect(await alone.waitFor('open_file')).toMatchObject({ path: 'src/menu.ts', line: 3, column: 1 });
  const read = page.getByRole('region', { name: 'Read src/tea.ts' });
  await read.locator('.title-path').click();
  expect(await alone.waitFor('open_file')).toEqual({ type: 'open_file', path: 'src/tea.ts' });
  expect(await read.getByRole('button').getAttribute('aria-expanded')).toBe('false');
  await page.getByRole('button', { name: 'Insert at cursor' }).first().click();
  expect(await alone.waitFor('insert_code')).toMatchObject({ text: 'const a = 1;' });
  await page.getByRole('button', { name: 'Apply to the open file, with preview' }).click();
  await alone.waitFor('apply_code');
  await page.getByRole('button', { name: 'Run in terminal' }).click();
  expect(await alone.waitFor('run_in_terminal')).toMatchObject({ text: 'npm test' });
  await page.locator('.request').hover();
  await alone.pictures('answer');
  expect(await alone.violations()).toEqual([]);
  await page.getByRole('button', { name: 'Edit and resend' }).click();
  const field = page.getByRole('textbox', { name: 'Edited message' });
  // The buttons of the message leave their room to the field.
  const width = async (one: typeof field) => (await one.boundingBox())?.width ?? 0;
  expect(await width(field)).toBeGreaterThan((await width(page.locator('.request').first())) * 0.9);
  await field.fill('Read the order.');
  await field.press('Enter');
  expect(await alone.waitFor('resend')).toEqual({ type: 'resend', instead_of: 'r1', content: 'Read the order.' });
  await page.getByRole('button', { name: 'Send again' }).click();
  expect(await alone.waitFor('resend')).toEqual({ type: 'resend', instead_of: 'r1' });
});

test('a diff at 300 px has one number and at least 28 characters in a row', async () => {
  const alone = await open();
  const { page } = alone;
  const code = `const long = ${'x'.repeat(120)};`;
  const lines = [' first', `-${code}`, `+${code}y`, ' last'];
  const changes = [{ path: 'src/menu.ts', before: 'a', after: 'b' }];
  await alone.show({ title: 'x' }, [
    request('1', 'Go'),
    tool('w', { name: 'edit_file', arguments: { path: 'src/menu.ts' }, changes }),
  ]);
  expect(await alone.waitFor('read_diff')).toMatchObject({ tool_call_id: 'w' });
  const file = {
    path: 'src/menu.ts',
    kind: 'changed',
    added: 1,
    removed: 1,
    hunks: [{ oldStart: 118, newStart: 118, lines }],
  } as const;
  await alone.send({ type: 'diff', call: 'w', files: [file] });
  await page.locator('.tool-head').click({ position: { x: 8, y: 8 } });
  await page.locator('.diff-line').first().waitFor();
  const shown = await page
    .locator('.diff-line')
    .evaluateAll((rows) =>
      rows.map(
        (row) =>
          [...row.querySelectorAll<HTMLElement>('.diff-number')].filter((one) => one.offsetParent !== null).length,
      ),
    );
  expect(shown).toEqual([1, 1, 1, 1]);
  const characters = await page
    .locator('.diff-line code')
    .nth(1)
    .evaluate((element) => {
      const probe = document.createElement('span');
      probe.textContent = 'x'.repeat(100);
      probe.style.whiteSpace = 'pre';
      element.appendChild(probe);
      const one = probe.getBoundingClientRect().width / 100;
      probe.remove();
      const style = getComputedStyle(element);
      return (element.clientWidth - Number.parseFloat(style.paddingLeft) - Number.parseFloat(style.paddingRight)) / one;
    });
  expect(characters).toBeGreaterThanOrEqual(28);
  expect(
    await page.locator('.diff-lines').evaluate((element) => element.scrollWidth - element.clientWidth),
  ).toBeLessThanOrEqual(0);
  await page.getByRole('button', { name: 'Open diff: src/menu.ts' }).click();
  expect(await alone.waitFor('open_diff')).toMatchObject({ call: 'w', path: 'src/menu.ts' });
  await alone.pictures('diff');
});

test('find jumps between matches, and an error has a button for the next step', async () => {
  const alone = await open();
  const { page } = alone;
  const items = Array.from({ length: 300 }, (_, index) =>
    answer(`a${index}`, index === 5 ? 'oolong here' : `line ${index}`),
  );
  const notice: TranscriptItem = {
    type: 'notice',
    id: 'n',
    level: 'error',
    text: 'The key is missing.',
    action: { label: 'Set API Key', message: { type: 'set_api_key' } },
  };
  await alone.show({ title: 'x' }, [request('1', 'Go'), ...items, notice]);
  await page.getByRole('button', { name: 'Set API Key' }).click();
  await alone.waitFor('set_api_key');
  await page.keyboard.press('Control+f');
  await page.getByRole('searchbox', { name: 'Find in conversation' }).fill('oolong');
  await page.getByText('1 of 1').waitFor();
  await expect.poll(() => page.getByText('oolong here').isVisible()).toBe(true);
  await expect
    .poll(() => page.getByText('oolong here').evaluate((element) => element.getBoundingClientRect().top > 0))
    .toBe(true);
  await alone.pictures('find', [250, 300]);
  expect(await alone.violations()).toEqual([]);
  await page.keyboard.press('Escape');
  await page.getByRole('search').waitFor({ state: 'detached' });
});

test('hostile content is shown and harmless', async () => {
  const alone = await open();
  const { page } = alone;
  const evil =
    '<script>window.hacked=1</script><img src=x onerror="window.hacked=1"> [a](javascript:window.hacked=1) [b](command:workbench.action.quit) \u001b[31mred\u001b[0m \u202etxt.exe';
  const table = `|${'a|'.repeat(60)}\n|${'-|'.repeat(60)}\n|${'b|'.repeat(60)}`;
  const carried = {
    text: evil,
    shown: 1,
    total: 1,
    worst: 'error' as const,
    labels: [{ source: evil.slice(0, 50), name: 'x', label: evil, subject: evil }],
    reason: evil,
    tokens: 1,
    receipt: 'carried' as const,
    texts: 0,
  };
  await alone.show({ title: evil, others: [{ id: 'b', title: evil, activity: 'approval' }] }, [
    request('1', evil),
    { type: 'request', id: 's', source: 'system', text: evil, carried },
    answer('a', `${evil}\n\n${table}\n\n\`\`\`html\n${evil}\n\`\`\``),
    tool('t', {
      name: evil,
      arguments: { path: evil, command: evil },
      output: `${evil}\n${'y'.repeat(1_000_000)}`,
      carried,
    }),
    tool('q', {
      name: 'ask_user',
      state: 'question',
      question: { id: 'q', text: evil, several: false, options: [evil] },
    }),
    { type: 'notice', id: 'n', level: 'error', text: evil },
  ]);
  await page.locator('.tool-head').first().click();
  await alone.drawn();
  expect(await page.evaluate(() => (window as unknown as { hacked?: number }).hacked)).toBeUndefined();
  const links = await page.locator('a[href]').evaluateAll((all) => all.map((one) => one.getAttribute('href')));
  expect(links.filter((href) => !/^https?:/.test(href ?? ''))).toEqual([]);
  expect(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth)).toBe(true);
  await alone.pictures('hostile', [300]);
});

test('right-to-left text has the direction rtl', async () => {
  const alone = await open();
  await alone.show({ title: 'x' }, [
    request('1', 'שלום עולם'),
    answer('a', 'שלום, זה `src/menu.ts:3`.\n\n- פריט ראשון'),
  ]);
  const direction = (selector: string) =>
    alone.page
      .locator(selector)
      .first()
      .evaluate((element) => getComputedStyle(element).direction);
  expect([await direction('.request-text'), await direction('.markdown p')]).toEqual(['rtl', 'rtl']);
  await alone.pictures('hebrew', [300]);
});

// Cards of tool calls, on the page alone: open while there is something to follow, folded when done, readable while
// they are written, and with one primary button in view.
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { type TranscriptItem } from '../../../src/protocol/transcript.ts';
import { answer, request, tool, type Tool } from '../../support/page/items.ts';
import { usePages } from '../../support/page/pageAlone.ts';

const open = usePages();
const germanBundle = async () => {
  const file = resolve(import.meta.dirname, '../../../media/l10n/bundle.l10n.de.json');
  return JSON.parse(await readFile(file, 'utf8')) as Record<string, string>;
};
const times = <T>(count: number, make: (index: number) => T) =>
  Array.from({ length: count }, (_, index) => make(index));
const change = { path: 'src/menu.ts', before: 'a', after: 'b' };
const diff = {
  path: 'src/menu.ts',
  kind: 'changed' as const,
  added: 1,
  removed: 1,
  hunks: [{ oldStart: 1, newStart: 1, lines: ['-one', '+two'] }],
};

const ended: readonly Tool[] = [
  tool('edit', { name: 'edit_file', arguments: { path: 'src/menu.ts', edits: [] }, changes: [change] }),
  tool('ask', {
    name: 'ask_user',
    arguments: { question: 'Which tea?' },
    question: { id: 'q', text: 'Which tea?', options: ['Oolong', 'Assam'], several: false, answer: 'Oolong' },
  }),
  tool('run', { name: 'run_command', arguments: { command: 'npm test' }, output: 'ok\n' }),
  tool('read', { state: 'failed', output: 'list_files shows what is there.', failure: 'Not found.' }),
];

test('a card folds when its call has ended; what was decided or went wrong is in its head', async () => {
  const alone = await open();
  const { page } = alone;
  const running = ended.map((one): Tool => {
    const { changes: _changes, failure: _failure, ...rest } = one;
    if (rest.question === undefined) return { ...rest, state: 'running', output: 'working\n' };
    const { answer: _answer, ...asked } = rest.question;
    return { ...rest, state: 'running', question: asked };
  });
  await alone.show({ title: 'x', running: true }, [request('r', 'Go.'), ...running]);
  expect(await page.locator('.tool-head[aria-expanded="true"]').count()).toBe(4);
  await alone.change(...ended.map((item) => ({ type: 'item' as const, item })));
  await alone.waitFor('read_diff');
  await alone.send({ type: 'diff', call: 'edit', files: [diff] });
  await page.locator('.tool-head .diff-counts').waitFor();
  expect(await page.locator('.tool-head[aria-expanded="true"]').count()).toBe(0);
  expect(await page.locator('.tool-answer').innerText()).toBe('Oolong');
  expect(await page.locator('.tool-error').innerText()).toBe('Not found.');
  await alone.pictures('cards-folded');
  // A card that the user has opened stays open.
  await page.locator('[data-item="edit"] .tool-head').click({ position: { x: 8, y: 8 } });
  await page.locator('[data-item="edit"] .diff-added').waitFor();
});

test('the condition of a call is in words, part by part, in English and German; never as JSON', async () => {
  const when = {
    all: [
      { handle: 'build', is: 'ok' },
      {
        any: [{ port: 3000, is: 'open' }, { file: 'dist/main.js', is: 'exists' }, { at: '17:00' }],
      },
    ],
  };
  const item = (values: object): Tool =>
    tool('wake', {
      name: 'wake_when',
      arguments: { name: 'deploy', when: values, or_after: '30m' },
      state: 'approval',
      approval: { reason: 'it may start turns without you, at most 1 within 30m.', note: '“deploy”, all of (…)' },
    });
  const text = async (alone: Awaited<ReturnType<typeof open>>) =>
    (await alone.page.locator('.approval .arguments').innerText()).replace(/\s+/g, ' ');
  const english = await open();
  await english.show({ title: 'x', running: true }, [item(when)]);
  await english.page.getByText('build ends successfully').waitFor();
  expect(await text(english)).toBe(
    'Name deploy Condition All of: build ends successfully Any of: Port 3000 is open dist/main.js exists It is 17:00 or later At the latest after 30m',
  );
  // The card has the condition itself.
  expect(await english.page.locator('.approval').innerText()).not.toContain('all of (…)');
  await english.pictures('condition', [300]);
  expect(await english.violations()).toEqual([]);
  // What no condition looks like is shown as it is.
  for (const odd of [{ handle: 'build', is: 'constructor' }, { handle: { a: 1 }, is: 'ok' }, { all: [{ x: 1 }] }, {}]) {
    await english.show({ title: 'x', running: true }, [item(odd)]);
    await expect.poll(() => text(english)).toContain(JSON.stringify(odd, null, 2).replace(/\s+/g, ' '));
  }
  const german = await open({ bundle: await germanBundle() });
  await german.show({ title: 'x', running: true }, [item(when)]);
  await german.page.getByText('build endet erfolgreich').waitFor();
  const sentence = 'Grund der Frage: er kann ohne Sie Züge beginnen, höchstens 1 innerhalb von 30m.';
  await german.page.getByText(sentence).waitFor();
});

const written = (name: string, args: unknown, cut: number): TranscriptItem =>
  tool('w', { name, arguments: {}, state: 'writing', output: JSON.stringify(args).slice(0, cut) });

test('a call that is being written is shown as fields or as a growing diff, never as JSON', async () => {
  const alone = await open();
  const { page } = alone;
  const calls: readonly (readonly [string, unknown])[] = [
    [
      'todo',
      {
        items: [
          { text: 'Read the code', state: 'done' },
          { text: 'Fix "the" total', state: 'doing' },
        ],
      },
    ],
    [
      'edit_file',
      {
        path: 'src/menu.ts',
        edits: [
          { old_text: 'one', new_text: 'two\nthree' },
          { old_text: 'x', new_text: 'y' },
        ],
      },
    ],
    ['edit_file', { edits: [{ old_text: 'one', new_text: 'two' }], path: 'src/menu.ts' }],
    ['write_file', { path: 'a.txt', content: 'one\ntwo\n' }],
    ['search', { query: 'tea', include: ['src/**', 'test/**'], case_sensitive: true, context_lines: 2 }],
    [
      'kitchen__order_tea',
      { cup_size: { width: 3, unit: 'cm' }, teas: [{ name: 'Oolong', sorts: ['green', 'blue'] }] },
    ],
    ['send_message', { content: 'Hello', to: ['teal-heron'], reply_to: 'msg_01HXE000000000000000000000' }],
  ];
  for (const [name, args] of calls) {
    const whole = JSON.stringify(args).length;
    for (let cut = 1; cut <= whole; cut += 7) {
      await alone.show({ title: 'x', running: true }, [request('r', 'Go.'), written(name, args, cut)]);
      const text = await page.locator('.tool-body').innerText();
      expect(text, `${name} ${cut}`).not.toMatch(/[{}[\]]|":|_|\\n/);
    }
    await alone.show({ title: 'x', running: true }, [request('r', 'Go.'), written(name, args, whole)]);
    await alone.picture(`cards-writing-${name}`);
    expect(await alone.violations()).toEqual([]);
  }
});

test('a long text is drawn from its newest lines, in a bounded card, as it arrives', async () => {
  const alone = await open();
  const { page } = alone;
  await alone.show({ title: 'x', running: true }, [
    request('r', 'Go.'),
    tool('w', { name: 'write_file', arguments: {}, state: 'writing', output: '{"path": "a.txt", "content": "' }),
  ]);
  for (let block = 0; block < 40; block++) {
    const text = times(250, (line) => `line ${block * 250 + line}`).join('\\n');
    await alone.change({ type: 'text', id: 'w', field: 'output', text: `${text}\\n` });
  }
  await page.getByText('line 9999', { exact: true }).waitFor();
  expect(await page.locator('.diff-line').count()).toBeLessThanOrEqual(16);
  expect(await page.locator('.tool-title').innerText()).toBe('Write a.txt');
});

test('a long card that is opened begins at its beginning, also while the end of the transcript is followed', async () => {
  const alone = await open();
  const { page } = alone;
  const long = tool('long', {
    output: times(200, (line) => `line ${line}`).join('\n'),
    arguments: {
      path: 'src/a.ts',
      ...Object.fromEntries(times(60, (index) => [`option_${index}`, `value ${index}`])),
    },
  });
  await alone.show({ title: 'x' }, [
    request('r', 'Go.'),
    ...times(8, (index) => answer(`a${index}`, 'Words.')),
    { ...long, name: 'kitchen__cook' },
  ]);
  const head = page.locator('[data-item="long"] .tool-head');
  await head.click();
  await page.getByText('line 0', { exact: false }).first().waitFor();
  await alone.drawn();
  const box = await head.boundingBox();
  const area = await page.locator('.scroller').boundingBox();
  expect(box?.y).toBeGreaterThanOrEqual(area?.y ?? 0);
  expect(box?.y).toBeLessThan((area?.y ?? 0) + 40);
  expect(await page.locator('.output').evaluate(({ scrollTop }) => scrollTop)).toBe(0);
});

const asking = (id: string): Tool =>
  tool(id, {
    name: 'run_command',
    arguments: { command: `echo ${id}` },
    state: 'approval',
    approval: { always: `echo ${id}` },
  });

/** The buttons with the background of primary ones. */
const PRIMARY = () => {
  const probe = document.createElement('button');
  probe.className = 'primary';
  document.querySelector('main')?.append(probe);
  const { backgroundColor } = getComputedStyle(probe);
  probe.remove();
  return [...document.querySelectorAll('button')]
    .filter((one) => getComputedStyle(one).backgroundColor === backgroundColor && one.checkVisibility())
    .map((one) =>
      `${one.closest('[data-item]')?.getAttribute('data-item') ?? ''} ${one.ariaLabel ?? one.textContent}`.trim(),
    );
};

test('one primary button is in view: that of the first request, else that of the message being written', async () => {
  const alone = await open();
  const { page } = alone;
  const changes = {
    files: [{ path: 'a.ts', kind: 'changed' as const, added: 1, removed: 0, version: 'v' }],
    count: 1,
    added: 1,
    removed: 0,
    meanwhile: [],
    meanwhileCount: 0,
  };
  const question = tool('q', {
    name: 'ask_user',
    arguments: { question: 'Which tea?' },
    state: 'question',
    question: { id: 'q', text: 'Which tea?', several: false },
  });
  await page.setViewportSize({ width: 300, height: 1400 });
  await alone.show({ title: 'x', running: true, changes }, [
    request('r', 'Go.'),
    asking('one'),
    asking('two'),
    question,
  ]);
  await page.getByRole('textbox', { name: 'Message to Earshot' }).fill('Wait.');
  await page.getByRole('button', { name: /^Changed files/ }).click();
  expect(await page.evaluate(PRIMARY)).toEqual(['one Approve']);
  await alone.pictures('cards-primary');
  await alone.change({ type: 'item', item: { ...asking('one'), state: 'running' } });
  await alone.change({ type: 'item', item: { ...asking('two'), state: 'running' } });
  await alone.drawn();
  expect(await page.evaluate(PRIMARY)).toEqual(['q Answer']);
  await alone.change(
    { type: 'item', item: { ...question, state: 'done' } },
    { type: 'head', head: { running: false } },
  );
  await alone.drawn();
  expect(await page.evaluate(PRIMARY)).toEqual(['Send']);
  await page.getByRole('textbox', { name: 'Message to Earshot' }).fill('');
  await alone.drawn();
  expect(await page.evaluate(PRIMARY)).toEqual(['Keep']);
  await page.getByRole('textbox', { name: 'Message to Earshot' }).fill('Go on.');
  await page.locator('.request').hover();
  await page.getByRole('button', { name: 'Edit and resend' }).click();
  expect(await page.evaluate(PRIMARY)).toEqual(['r Resend']);
});

test('after the first of several approvals is answered and its card folds, the next one is shown from its beginning', async () => {
  const alone = await open();
  const { page } = alone;
  const writing = (id: string): Tool =>
    tool(id, {
      name: 'write_file',
      arguments: { path: `${id}.txt`, content: times(40, (line) => `line ${line}`).join('\n') },
      state: 'approval',
      approval: {},
      output: '',
    });
  await alone.show({ title: 'x', running: true }, [request('r', 'Go.'), ...['one', 'two', 'three'].map(writing)]);
  const top = async (id: string) =>
    ((await page.locator(`[data-item="${id}"]`).boundingBox())?.y ?? -1) -
    ((await page.locator('.scroller').boundingBox())?.y ?? 0);
  expect(await top('one')).toBeLessThan(20);
  await page.mouse.move(150, 200);
  await page.mouse.wheel(0, 600);
  await page.locator('[data-item="one"]').getByRole('button', { name: 'Approve', exact: true }).click();
  await alone.waitFor('approve');
  await alone.change({ type: 'item', item: { ...writing('one'), state: 'done' } });
  await expect.poll(() => top('two')).toBeLessThan(20);
  expect(await top('two')).toBeGreaterThanOrEqual(0);
});

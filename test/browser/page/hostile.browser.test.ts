// Hostile content in every place of the page that shows texts of others: shown, and harmless.
import { expect, test } from 'vitest';
import { type FileDiff } from '../../../src/protocol/page/diffView.ts';
import { type TranscriptItem } from '../../../src/protocol/transcript.ts';
import { usePages } from '../../support/page/pageAlone.ts';

const open = usePages();

const EVIL =
  '<script>window.hacked=1</script><img src=x onerror="window.hacked=1"> [a](javascript:window.hacked=1) [b](command:workbench.action.quit) [c](vscode://file/etc/passwd) \u001b]8;;command:x\u0007link\u001b]8;;\u0007 \u001b[31mred \u202etxt.exe\u2066';
const NAME = `src/${EVIL.replaceAll('/', '_')}.ts`;
const LINE = 'y'.repeat(1_000_000);
const file = { path: NAME, kind: 'changed', added: 1, removed: 1, version: 'v', overwrote: true } as const;
const diff: FileDiff = {
  path: NAME,
  kind: 'changed',
  added: 1,
  removed: 1,
  hunks: [{ oldStart: 1, newStart: 1, lines: [`-${EVIL}`, `+${LINE.slice(0, 100_000)}`] }],
};
const pending = {
  source: EVIL.slice(0, 60),
  name: 'x',
  label: EVIL,
  subject: NAME,
  path: NAME,
  ids: ['n'],
  more: 0,
  level: 'error' as const,
  origin: EVIL,
  at: '2026-01-01T00:00:00Z',
  count: 1,
  message: `${EVIL}\n${LINE}`,
  tokens: 1,
};

test('names, notifications, previews, outputs and lists are shown and harmless', async () => {
  const alone = await open();
  const { page } = alone;
  const rows = Array.from({ length: 300 }, (_, row) => `|${`${row} |`.repeat(40)}`).join('\n');
  const items: TranscriptItem[] = [
    { type: 'request', id: 'r', source: 'user', text: EVIL, attachments: [NAME] },
    answer(`${EVIL}\n\n|${'a|'.repeat(40)}\n|${'-|'.repeat(40)}\n${rows}\n\n${LINE}`),
    {
      ...tool,
      id: 'e',
      name: 'edit_file',
      arguments: { path: NAME },
      state: 'approval',
      approval: { reason: EVIL, always: EVIL, note: EVIL, problem: EVIL, preview: { files: [diff], refusal: EVIL } },
    },
    { ...tool, id: 'o', output: `${EVIL}\n${LINE}`, state: 'running' },
    { type: 'notice', id: 'n', level: 'warning', text: EVIL, nextStep: EVIL },
  ];
  await alone.show(
    {
      title: EVIL,
      running: true,
      others: [{ id: 'b', title: EVIL, activity: 'approval' }],
      pending: { count: 1, worst: 'error', entries: [pending] },
      changes: { files: [file], count: 1, added: 1, removed: 1, meanwhile: [file], meanwhileCount: 1 },
      handles: [{ call: 'h', name: EVIL, command: EVIL, state: 'running', detail: EVIL, output: `${EVIL}\n${LINE}` }],
      todo: [{ text: EVIL, state: 'doing' }],
      queued: [{ id: 'q', text: EVIL, attachments: [NAME] }],
      attachments: [{ id: 'a', kind: 'file', name: NAME }],
      obstacles: [{ level: 'warning', text: EVIL, nextStep: EVIL }],
    },
    items,
  );
  const lists = page.locator('.strip-button');
  expect(await lists.count()).toBe(4);
  for (let index = 0; index < 4; index++) {
    await lists.nth(index).press('Enter');
    await page.evaluate(() => {
      for (const one of document.querySelectorAll<HTMLElement>('button[aria-expanded="false"]:not(.strip-button)'))
        one.click();
    });
    await alone.drawn();
    expect(await page.evaluate(() => (window as unknown as { hacked?: number }).hacked)).toBeUndefined();
    const schemes = await page
      .locator('[href], [src]')
      .evaluateAll((all) => all.map((one) => one.getAttribute('href') ?? one.getAttribute('src') ?? ''));
    expect(schemes.filter((to) => !/^(https?:|#|$)/.test(to))).toEqual([]);
    expect(await page.locator('main script, main img, main iframe').count()).toBe(0);
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth)).toBe(true);
    // Direction marks in names are escaped wherever a name is shown.
    const turned = await page
      .locator('button, summary, .changes-name, .attachment')
      .evaluateAll((all) =>
        all.map((one) => one.textContent).filter((text) => /[\u202a-\u202e\u2066-\u2069\u001b]/.test(text)),
      );
    expect(turned).toEqual([]);
    await alone.pictures(`hostile-list${index}`, [300]);
  }
});

const tool = {
  type: 'tool' as const,
  name: 'run_command',
  arguments: { command: EVIL },
  output: '',
};

function answer(text: string): TranscriptItem {
  return { type: 'answer', id: 'a', text, reasoning: EVIL, streaming: false, truncated: false };
}

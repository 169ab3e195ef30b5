// Every state of the page in every theme and width, in English and German: a picture of each, without violations found
// by axe.
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { type Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { type DiffHunk, type FileDiff } from '../../../src/protocol/page/diffView.ts';
import { type TranscriptItem } from '../../../src/protocol/transcript.ts';
import { type ChatState } from '../../../src/protocol/webview.ts';
import { usePages } from '../../support/page/pageAlone.ts';
import { runs } from '../../support/runs.ts';

interface State {
  readonly head?: Partial<ChatState>;
  readonly items?: readonly TranscriptItem[];
}

type Tool = Extract<TranscriptItem, { type: 'tool' }>;
const tool = (name: string, args: Record<string, unknown>, more: Partial<Tool> = {}): Tool => ({
  type: 'tool',
  id: `${name}-${JSON.stringify(args).length}`,
  name,
  arguments: args,
  state: 'done',
  output: '',
  ...more,
});
const request: TranscriptItem = { type: 'request', id: 'r', source: 'user', text: 'Add oolong to the menu.' };
const answer = (text: string, more: Partial<Extract<TranscriptItem, { type: 'answer' }>> = {}): TranscriptItem => ({
  type: 'answer',
  id: `a${text.length}`,
  text,
  reasoning: '',
  streaming: false,
  truncated: false,
  ...more,
});
const hunk: DiffHunk = {
  oldStart: 9,
  newStart: 9,
  lines: [' export const menu = {', '-  assam: 240,', '+  assam: 250,', '+  oolong: 280,', ' };'],
};
const changed: FileDiff = { path: 'src/menu.ts', kind: 'changed', added: 2, removed: 1, hunks: [hunk] };
const gone: FileDiff = { ...changed, path: 'src/old.ts', kind: 'deleted', added: 0, removed: 5 };
const file = { path: 'src/menu.ts', kind: 'changed', added: 2, removed: 1, version: 'v' } as const;
const parts = [
  { line: 10, added: 1, removed: 1, text: '  assam: 250,' },
  { line: 31, added: 1, removed: 0, text: '  oolong: 280,' },
];
const carried = {
  text: '<notification source="file" name="changed" level="warning" key="k">…</notification>',
  shown: 2,
  total: 2,
  worst: 'error' as const,
  labels: [
    { source: 'tool', name: 'failed', label: 'Background command failed', subject: 'build' },
    { source: 'file', name: 'changed', label: 'File changed', subject: 'src/a/long/path/to/menu.ts' },
  ],
  tokens: 120,
  receipt: 'accepted' as const,
  texts: 1,
};

const STATES: Readonly<Record<string, State>> = {
  subagents: {
    head: {
      running: true,
      others: [{ id: 'k1', title: 'tests: Write unit tests', activity: 'approval', subagent: 'tests' }],
      handles: [
        {
          call: 'c1',
          name: 'tests',
          command: 'Write unit tests for the menu and run them.',
          state: 'waiting',
          detail: 'running for 48 s; it waits for the user’s approval',
          output: '> run_command {"command":"npm test"}',
          agent: { conversation: 'k1', tokens: 18_423 },
        },
        {
          call: 'c2',
          name: 'docs',
          command: 'Describe the menu in README.md.',
          state: 'stopped',
          detail: 'ended after 21 s',
          output: '| README.md describes the menu now.',
          agent: { conversation: 'k2', tokens: null },
        },
      ],
    },
    items: [
      request,
      { ...tool('start_agent', { task: 'Write unit tests.', name: 'tests' }), id: 'c1', agent: 'k1' },
      { ...tool('start_agent', { task: 'Describe the menu.', name: 'docs' }), id: 'c2', agent: 'k2' },
    ],
  },
  'in a subagent': {
    head: { parent: { id: 'p', title: 'Add oolong to the menu, and to everything else that names teas' } },
    items: [
      { ...request, byAgent: true },
      tool('run_command', { command: 'npm test' }, { state: 'approval', approval: { always: 'npm test' } }),
    ],
  },
  welcome: { head: { model: { label: 'Guide', detail: 'offline, no AI' } } },
  obstacles: {
    head: {
      obstacles: [
        {
          level: 'error',
          text: 'The disk is full.',
          nextStep: 'Free some space.',
          action: { label: 'Show log', message: { type: 'show_log' } },
        },
        {
          level: 'info',
          text: 'This conversation is open in another window (tea-shop). You can follow it here.',
          action: { label: 'Continue here', message: { type: 'continue_here' } },
        },
      ],
      canSend: false,
    },
    items: [request, answer('I look at it.')],
  },
  'approve command': {
    head: { running: true },
    items: [
      request,
      tool(
        'run_command',
        { command: 'npm test -- --reporter verbose src/menu.test.ts' },
        { state: 'approval', approval: { reason: 'it writes outside the workspace', always: 'npm test' } },
      ),
    ],
  },
  'approve edit': {
    head: { running: true },
    items: [
      request,
      tool(
        'edit_file',
        { path: 'src/menu.ts', edits: [] },
        { state: 'approval', approval: { preview: { files: [changed] } } },
      ),
    ],
  },
  'approve write and delete': {
    head: { running: true },
    items: [
      request,
      tool(
        'write_file',
        { path: 'src/tea.ts', content: 'export {};' },
        { state: 'approval', approval: { preview: { files: [{ ...changed, path: 'src/tea.ts', kind: 'created' }] } } },
      ),
      tool('delete_file', { path: 'src/old.ts' }, { state: 'approval', approval: { preview: { files: [gone] } } }),
    ],
  },
  'approve patch': {
    head: { running: true },
    items: [
      request,
      tool(
        'apply_patch',
        { input: '*** Update File: src/menu.ts' },
        { state: 'approval', approval: { preview: { files: [changed, gone], more: 3 } } },
      ),
    ],
  },
  question: {
    head: { running: true },
    items: [
      request,
      tool(
        'ask_user',
        { question: 'Which teas?' },
        {
          state: 'question',
          question: {
            id: 'q',
            text: 'Which teas go on the **menu**? See `src/menu.ts`.',
            several: true,
            options: ['Oolong', 'Assam, second flush, from the small garden', 'Earl Grey'],
          },
        },
      ),
    ],
  },
  'tool states': {
    head: { running: true },
    items: [
      request,
      tool(
        'edit_file',
        { path: 'src/menu.ts' },
        { id: '1', state: 'writing', output: '{"path": "src/menu.ts", "edits": [{"old_te' },
      ),
      tool(
        'run_command',
        { command: 'npm run build' },
        { id: '2', state: 'running', output: 'building…\n\u001b[31mred\u001b[0m\n' },
      ),
      tool(
        'run_command',
        { command: 'npm test' },
        { id: '3', state: 'failed', output: 'exit code 1', milliseconds: 95_000 },
      ),
      tool('write_file', { path: 'a.ts' }, { id: '4', state: 'rejected', output: 'Rejected by the user: not now' }),
      tool('read_file', { path: 'b.ts' }, { id: '5', state: 'interrupted' }),
      tool('mcp_weather_today', { city: 'Kyoto' }, { id: '6', output: '12 °C', carried }),
    ],
  },
  answers: {
    items: [
      request,
      answer(
        '# Menu\n\nA paragraph with **bold**, `code` and src/menu.ts:12.\n\n1. one\n2. two\n\n> quoted\n\n| tea | price | origin |\n|---|---|---|\n| oolong | 280 | Taiwan |\n\n```ts\nexport const menu = { oolong: 280, assam: 250, darjeeling: 310, senchaFromUji: 420 };\n```',
        { reasoning: 'The user wants tea.' },
      ),
      { ...request, id: 'r2', meanwhile: true, text: 'And a green one.', attachments: ['src/menu.ts', 'tea.md'] },
      answer('I was cut', { truncated: true }),
      {
        type: 'notice',
        id: 'n',
        level: 'error',
        text: 'The endpoint refused the API key.',
        nextStep: 'Set another key.',
        action: { label: 'Set API Key', message: { type: 'set_api_key' } },
      },
      { type: 'notice', id: 'n2', level: 'info', text: 'Stopped.' },
    ],
  },
  review: {
    head: {
      changes: {
        files: [
          { ...file, hunks: parts },
          { ...file, path: 'src/a/very/deep/folder/for/a/file/tip.ts', kind: 'created', removed: 0 },
          { ...file, path: 'README.md', clash: true },
          { ...file, path: 'old.ts', kind: 'deleted', overwrote: true },
        ],
        count: 4,
        added: 6,
        removed: 3,
        meanwhile: [{ ...file, path: 'notes.txt' }],
        meanwhileCount: 1,
      },
    },
    items: [request, answer('Done.')],
  },
  commands: {
    head: {
      running: true,
      handles: [
        {
          call: 'h1',
          name: 'watch',
          command: 'npm run watch',
          state: 'running',
          detail: 'running for 3 min',
          output: 'Watching for file changes.',
        },
        {
          call: 'h2',
          name: 'build',
          command: 'npm run build',
          state: 'failed',
          detail: 'ended with exit code 1 after 12 s',
          output: 'error TS2304',
        },
        {
          call: 'h3',
          name: 'login',
          command: 'gh auth login',
          state: 'waiting',
          detail: 'running for 5 s; it seems to wait for input at: Password:',
          output: 'Password:',
        },
      ],
      todo: [
        { text: 'Read the menu', state: 'done' },
        { text: 'Add oolong with its price and where it comes from', state: 'doing' },
        { text: 'Run the tests', state: 'open' },
      ],
      queued: [{ id: 'q1', text: 'And a green one, please.', attachments: ['photo.png'] }],
      attachments: [
        { id: 'a', kind: 'file', name: 'src/menu.ts' },
        { id: 'b', kind: 'text', name: 'Selection: src/order.ts:1-20' },
      ],
      meter: { context: 0.92, tokens: 92_000, notificationTokens: 1200, cost: 1.5 },
      heldBack: 'stopped',
      pending: {
        count: 1,
        worst: 'warning',
        entries: [
          {
            source: 'file',
            name: 'changed',
            label: 'File changed',
            subject: 'src/menu.ts',
            path: 'src/menu.ts',
            ids: ['n'],
            more: 0,
            level: 'warning',
            origin: 'editor',
            at: '2026-01-01T00:00:00Z',
            count: 1,
            message: 'src/menu.ts changed.',
            tokens: 12,
          },
        ],
      },
    },
    items: [request, answer('I wait.', { streaming: true })],
  },
};

const ZOOMED = [
  [640, 400],
  [190, 210],
] as const;

const open = usePages();

describe.runIf(runs(0, 1) === 1)('the page in the state', () => {
  test.each(Object.entries(STATES))('%s', { timeout: 300_000 }, async (name, { head = {}, items = [] }) => {
    const alone = await open();
    await alone.show({ title: 'Tea menu', ...head }, items);
    await forEachList(alone.page, async (list) => {
      await alone.drawn();
      await alone.pictures(`state-${name}${list}`);
      expect(await alone.violations()).toEqual([]);
      for (const width of [250, 300, 600]) {
        await alone.page.setViewportSize({ width, height: 700 });
        expect(await alone.page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
        // Whatever is listed above them, the composer and the footer are visible.
        const { y = 0, height = 0 } = (await alone.page.locator('footer').boundingBox()) ?? {};
        expect(y + height).toBeLessThanOrEqual(700);
      }
      // A window at 200 %, and the view that is left in it.
      for (const [width, height] of ZOOMED) {
        await alone.page.setViewportSize({ width, height });
        await alone.drawn();
        await alone.picture(`state-${name}${list}-${width}x${height}`);
        expect(await alone.violations(), `${width} × ${height}`).toEqual([]);
      }
      await alone.page.setViewportSize({ width: 300, height: 700 });
    });
  });

  test.each(Object.entries(STATES))('%s in German', async (name, { head = {}, items = [] }) => {
    const bundle = resolve(import.meta.dirname, '../../../media/l10n/bundle.l10n.de.json');
    const alone = await open({ bundle: JSON.parse(await readFile(bundle, 'utf8')) as Record<string, string> });
    await alone.show({ title: 'Teekarte', ...head }, items);
    await alone.page.setViewportSize({ width: 300, height: 700 });
    await forEachList(alone.page, async (list) => {
      await alone.picture(`german-${name}${list}`);
      expect(await alone.page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(300);
    });
  });
});

/** Checks the page as it is, and with each list above the composer open. */
async function forEachList(page: Page, check: (list: string) => Promise<void>): Promise<void> {
  await check('');
  const buttons = page.locator('.strip-button');
  for (let index = 0; index < (await buttons.count()); index++) {
    await buttons.nth(index).click();
    await check(`-list${index}`);
  }
}

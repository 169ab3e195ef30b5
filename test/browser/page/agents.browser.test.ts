// The Agents view on its page alone: agents, threads, a thread with three agents, mentions, pending messages, and other
// machines.
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { mkdir } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { type AgentsState, fromAgentsPageSchema, type FromAgentsPage } from '../../../src/protocol/page/agentsView.ts';
import { pageHtml } from '../../../src/vscode/chat/pageHtml.ts';
import { findViolations } from '../../support/accessibility.ts';
import { useBrowserOfPages } from '../../support/page/pageAlone.ts';
import themes from '../../support/page/themes.json' with { type: 'json' };
import { UserAgent } from '../../../src/hub/agents/userAgent.ts';
import { realFileSystem } from '../../../src/node/files/fileSystem.ts';
import { realClock } from '../../../src/node/realClock.ts';
import { realIds } from '../../../src/node/realIds.ts';
import { readAgents } from '../../../src/vscode/hub/agentRows.ts';
import { until, untilConnected, withJoinedHubs } from '../../support/nats/joinedHub.ts';
import { hasNatsServer, NatsServer } from '../../support/nats/natsServer.ts';
import { isFull } from '../../support/runs.ts';

const root = resolve(import.meta.dirname, '../../..');
const pictures = join(root, '.build', 'screenshots', 'agents');
const origin = 'http://agents.test';
const browserOfPages = useBrowserOfPages();

const at = new Date(Date.now() - 120_000).toISOString();
const agent = { role: '', display: '', live: true, lastSeen: at };
const message = {
  own: false,
  format: 'markdown',
  deleted: false,
  edited: false,
  at,
  mentions: [],
  scopes: [],
  pendingIn: [],
};
const state: AgentsState = {
  hub: 'connected',
  me: 'anna',
  agents: [
    { ...agent, name: 'anna', role: 'user', kind: 'me' },
    {
      ...agent,
      name: 'amber-finch',
      display: 'Rework the menu',
      kind: 'here',
      conversation: 'c1',
      activity: 'running',
      unread: 1,
    },
    { ...agent, name: 'teal-heron', display: 'Fix the build', role: 'reviewer', kind: 'other' },
    { ...agent, name: 'old-crow', kind: 'other', live: false },
    { ...agent, name: 'far-owl', kind: 'remote', machine: 'beta', unread: 2 },
    { ...agent, name: 'lost-wren', kind: 'remote', machine: 'gamma', live: false },
  ],
  threads: [
    {
      id: 't1',
      title: 'The menu',
      messages: 4,
      unread: 2,
      lastSender: 'teal-heron',
      preview: 'Not me: I only read it.',
      at,
    },
    { id: 't2', title: 'Release', messages: 1, unread: 0, lastSender: 'anna', preview: 'When?', at },
  ],
  thread: null,
  machines: { state: 'connecting', error: 'The server cannot be reached.', notSent: 3, full: false },
};
const thread: AgentsState['thread'] = {
  id: 't1',
  messages: [
    {
      ...message,
      id: 'm1',
      author: 'anna',
      own: true,
      text: 'Who changes **the menu**? @amber-finch',
      mentions: ['amber-finch'],
      scopes: ['file:src/menu.ts'],
      pendingIn: ['Rework the menu'],
    },
    { ...message, id: 'm2', author: 'amber-finch', text: 'I do:\n\n```ts\nconst tea = 1;\n```', mentions: ['anna'] },
    { ...message, id: 'm3', author: 'teal-heron', text: 'Not me: I only read `src/menu.ts`.', edited: true },
    { ...message, id: 'm4', author: 'far-owl', machine: 'beta', text: '', deleted: true },
  ],
};

async function openAgentsPage() {
  const page = await browserOfPages().newPage({ viewport: { width: 360, height: 740 }, locale: 'en-US' });
  const posted: FromAgentsPage[] = [];
  const problems: string[] = [];
  page.on('pageerror', (error) => problems.push(error.message));
  page.on('console', (line) => line.type() === 'error' && problems.push(line.text()));
  await page.exposeFunction('postToHost', (sent: unknown) => void posted.push(fromAgentsPageSchema.parse(sent)));
  await page.addInitScript(() => {
    const { postToHost } = window as unknown as { postToHost(sent: unknown): void };
    Object.assign(window, { acquireVsCodeApi: () => ({ postMessage: (sent: unknown) => postToHost(sent) }) });
  });
  const html = pageHtml({
    page: 'agents',
    source: origin,
    nonce: 'dGVzdA==',
    language: 'en',
    bundle: {},
    uri: (...path) => `${origin}/${path.join('/')}`,
  });
  await page.route(`${origin}/**`, async (route) => {
    const path = new URL(route.request().url()).pathname;
    if (path === '/') return route.fulfill({ contentType: 'text/html', body: html });
    const type = path.endsWith('.css') ? 'text/css' : 'text/javascript';
    return route.fulfill({ contentType: type, body: await readFile(join(root, path), 'utf8') });
  });
  const theme = (name: keyof typeof themes) =>
    page.evaluate(({ body, variables }) => {
      document.body.className = body;
      const { style } = document.documentElement;
      style.cssText = '';
      for (const [variable, value] of Object.entries(variables)) style.setProperty(variable, value);
      style.background = 'var(--vscode-sideBar-background)';
    }, themes[name]);
  const picture = async (name: string) => {
    if (!isFull) return;
    await mkdir(pictures, { recursive: true });
    for (const one of ['light', 'dark', 'high-contrast'] as const) {
      await theme(one);
      for (const width of [360, 1200]) {
        await page.setViewportSize({ width, height: 740 });
        await page.screenshot({ path: join(pictures, `${name}-${one}-${width}.png`) });
      }
      expect((await findViolations(page.mainFrame())).map((line) => `${name} ${one}: ${line}`)).toEqual([]);
    }
  };
  const show = (next: AgentsState) =>
    page.evaluate((data) => window.postMessage({ type: 'agents', state: data }, '*'), next);
  await page.goto(`${origin}/`);
  await theme('dark');
  await expect.poll(() => posted).toEqual([{ type: 'ready' }]);
  return { page, posted, problems, picture, show };
}

test('the user sees all agents, opens a thread, and writes to an agent with completed mentions', async () => {
  const { page, posted, problems, picture, show } = await openAgentsPage();
  await show(state);
  await page.getByText('Rework the menu').waitFor();
  await page.getByText('3 messages have not reached other machines yet.').waitFor();
  expect(await page.getByRole('heading', { level: 3 }).allInnerTexts()).toEqual([
    'This window',
    'This machine',
    'Machine beta',
    'Not connected',
  ]);
  // Connected agents of other machines come before those of this one that are not connected.
  expect(await page.locator('.agent-name').allInnerTexts()).toEqual([
    ...['anna', 'amber-finch', 'teal-heron', 'far-owl'],
    ...['old-crow', 'lost-wren'],
  ]);
  await page.getByText(/Agent · on gamma · Last seen 2/).waitFor();
  await picture('list');
  await page.getByRole('button', { name: 'Open Conversation: Rework the menu' }).click();
  await page.getByRole('button', { name: /The menu/ }).click();
  await expect.poll(() => posted.at(-1)).toEqual({ type: 'open_thread', thread: 't1' });
  expect(posted).toContainEqual({ type: 'open_conversation', id: 'c1' });
  await show({ ...state, thread });
  await page.getByText('Pending: the model of Rework the menu has not received it yet').waitFor();
  await page.getByText('This message was deleted.').waitFor();
  const field = page.getByRole('textbox', { name: 'Message' });
  await field.fill('Thanks @te');
  await page.getByRole('option', { name: /teal-heron/ }).waitFor();
  await picture('thread');
  await field.press('Enter');
  expect(await field.inputValue()).toBe('Thanks @teal-heron ');
  await page.getByRole('textbox', { name: 'Files it is about' }).fill('src/menu.ts, src/tea.ts');
  await field.press('Enter');
  await expect
    .poll(() => posted.at(-1))
    .toMatchObject({
      type: 'send',
      thread: 't1',
      mentions: ['teal-heron'],
      files: ['src/menu.ts', 'src/tea.ts'],
    });
  await page.getByRole('button', { name: 'Back to all threads' }).click();
  await show(state);
  await page.getByRole('button', { name: 'Write to far-owl' }).click();
  expect(await field.inputValue()).toBe('@far-owl ');
  await page.keyboard.type('hello');
  await page.keyboard.press('Enter');
  await expect.poll(() => posted.at(-1)).toMatchObject({ type: 'send', thread: null, mentions: ['far-owl'] });
  await page.close();
  expect(problems).toEqual([]);
});

test.runIf(isFull && hasNatsServer)(
  'a thread of three agents on two joined machines is shown as the hub lists it',
  async () => {
    const server = await NatsServer.start(['alpha', 'beta']);
    const { page, problems, picture, show } = await openAgentsPage();
    await withJoinedHubs([server.options('alpha'), server.options('beta')], async (alpha, beta) => {
      const finch = await alpha.agent('amber-finch', { role: 'reviewer' });
      const heron = await alpha.agent('teal-heron');
      const owl = await beta.agent('far-owl');
      await Promise.all([finch, heron, owl].map((one) => untilConnected(one)));
      await owl.call('subscribe', { mention_role: 'far-owl' });
      const user = new UserAgent({
        files: realFileSystem,
        folder: alpha.folder,
        clock: realClock,
        userName: 'Anna Lind',
        ulid: () => realIds.ulid(),
        report: (problem) => problems.push(problem),
        onAbsent: () => undefined,
      });
      await until(async () => user.isConnected);
      const nobody = () => new Map();
      const id = await user.send({
        content: 'Who changes **the menu**? @amber-finch @far-owl',
        mentions: ['amber-finch', 'far-owl'],
        scopes: [{ type: 'file', value: 'src/menu.ts' }],
        title: 'The menu',
      });
      await owl.pushed('notification.message');
      await finch.call('message.send', { content: 'I do, in `src/menu.ts`.', thread_id: id, mentions: ['user'] });
      await heron.call('message.send', { content: 'Not me.', thread_id: id });
      await owl.call('message.send', { content: 'Nor I, over here.', thread_id: id });
      const listed = await until(async () => {
        const now = await readAgents(user, null, nobody);
        return now.threads[0]?.messages === 4 && now.agents.some(({ machine }) => machine === 'beta') ? now : undefined;
      });
      await show(listed);
      await page.getByRole('heading', { name: 'Machine beta' }).waitFor();
      await picture('live-list');
      await show(await readAgents(user, id, nobody));
      await page.getByText('Nor I, over here.').waitFor();
      await picture('live-thread');
      await server.kill();
      await user.send({ content: 'Still there?', mentions: ['far-owl'], scopes: [], thread: id });
      const waiting = await until(async () => {
        const now = await readAgents(user, null, nobody);
        return (now.machines?.notSent ?? 0) > 0 && now.machines?.state !== 'connected' ? now : undefined;
      });
      await show(waiting);
      await page.getByText('1 message has not reached other machines yet.').waitFor();
      await picture('live-cut');
      user.dispose();
    });
    await server.stop();
    await page.close();
    expect(problems).toEqual([]);
  },
);

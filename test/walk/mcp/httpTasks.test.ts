// Tasks of a server of revision 2026-07-28 over streamable HTTP: calls and tasks behave alike, and tasks survive
// reloads and lost connections.
import { expect, test } from 'vitest';
import { startHttpTasks, type HttpTaskServer } from '../../support/mcp/httpTaskServer.ts';
import {
  beginMcpWalk,
  call,
  createTestMemory,
  type McpWalked,
  type McpWalkOptions,
  reloadMcp,
} from '../../support/mcp/mcpWalk.ts';
import { begin } from '../../support/walk/deliveryWalks.ts';

const done = { text: ['Done.'] };
const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const handle = (action: string, more: object = {}) => call('handle', { action, name: 'kitchen-brew', ...more }, action);

async function start(server: HttpTaskServer, tool: string, options: McpWalkOptions = {}): Promise<McpWalked> {
  const walk = await beginMcpWalk({ kitchen: { url: server.url } }, [call(`kitchen__${tool}`), done], {
    settings: { 'notifications.activation': 'passive' },
    ...options,
  });
  expect(walk.mcp.get('kitchen')).toMatchObject({ state: 'ready', era: 'modern' });
  return walk;
}

/** Resolves once the task is in the log. */
async function started({ log }: McpWalked): Promise<void> {
  await expect.poll(() => log.state.handles.all.length).toBe(1);
}

async function reported({ log }: McpWalked, kind: string): Promise<void> {
  await expect
    .poll(() => log.state.pending.notifications.map(({ kind: { source, name } }) => `${source}.${name}`))
    .toContain(kind);
}

function texts({ log }: McpWalked): string {
  return log.state.messages.all.map((message) => JSON.stringify(message)).join('\n');
}

/** Starts the server again and skips the back-off until it is connected. */
async function back(walk: McpWalked, server: HttpTaskServer): Promise<void> {
  await server.up();
  walk.mcpClock.advance(1000);
  await walk.until('kitchen', 'ready');
}

test('a call that does not become a task, on a server with tasks, shows its progress on the card', async () => {
  const server = await startHttpTasks();
  const walk = await start(server, 'slow');
  const drawn = walk.headless.frontend.nextDrawn('tool_output');
  await begin(walk);
  await expect.poll(() => server.requests).toContain('tools/call');
  await server.progress('Boiling');
  expect(await drawn).toMatchObject({ text: '1 of 9: Boiling\n' });
  server.finish('Tea.');
  await walk.headless.earshot.settled(walk.id);
  expect(walk.results()).toEqual(['Tea.']);
  expect(walk.log.state.handles.all).toEqual([]);
});

test('a call on a server with tasks whose answer is lost is repeated if its tool only reads', async () => {
  const server = await startHttpTasks();
  const walk = await start(server, 'slow', { limits: { kitchen: { probe: 500 } } });
  await begin(walk);
  await expect.poll(() => server.requests).toContain('tools/call');
  const lost = walk.until('kitchen', 'lost');
  await server.down();
  await lost;
  await back(walk, server);
  await expect.poll(() => server.requests.filter((method) => method === 'tools/call')).toHaveLength(2);
  server.finish('Tea.');
  await walk.headless.earshot.settled(walk.id);
  expect(walk.results()).toEqual(['Tea.']);
});

test('a task that ends while its call waits is the result of the call, with its status and pictures on the card', async () => {
  const server = await startHttpTasks();
  const walk = await start(server, 'brew');
  const drawn = walk.headless.frontend.nextDrawn('tool_output');
  await begin(walk);
  expect(await drawn).toMatchObject({ text: 'Brewing\n' });
  server.complete({ type: 'text', text: 'Tea is ready.' }, { type: 'image', data: PIXEL, mimeType: 'image/png' });
  await walk.headless.earshot.settled(walk.id);
  expect(walk.results()[0]).toMatch(/^Tea is ready\.\n\(an image, image\/png/);
  const media = walk.log.state.transcript.items.flatMap((item) => (item.type === 'tool' ? (item.media ?? []) : []));
  expect(media).toHaveLength(1);
});

test('changes of a task are announced if the server supports it; otherwise the task is polled, without another subscription', async () => {
  const announcing = await startHttpTasks({ announces: true, pollIntervalMs: 600_000 });
  const walk = await start(announcing, 'brew');
  await begin(walk);
  await started(walk);
  await expect.poll(() => announcing.requests).toContain('subscriptions/listen to tasks');
  // The stream may open shortly after the state was read for the first time.
  await expect
    .poll(() => {
      announcing.complete({ type: 'text', text: 'Tea is ready.' });
      return walk.results()[0] ?? '';
    })
    .toContain('Tea is ready.');
  expect(announcing.requests.filter((method) => method === 'tasks/get')).toHaveLength(1);

  const silent = await startHttpTasks();
  const other = await start(silent, 'brew');
  other.server.restart(call('kitchen__brew'), call('kitchen__brew', {}, 'second'), done);
  await begin(other);
  for (const count of [1, 2]) {
    await expect.poll(() => other.log.state.handles.all.length).toBe(count);
    silent.complete({ type: 'text', text: 'Tea.' });
    await expect.poll(() => other.results().length).toBe(count);
  }
  expect(silent.requests.filter((method) => method === 'subscriptions/listen to tasks')).toHaveLength(1);
});

test('a task started before a reload, and ended meanwhile, is reported once, and its result can be fetched', async () => {
  const server = await startHttpTasks();
  const walk = await start(server, 'brew');
  await begin(walk);
  await started(walk);
  const again = await reloadMcp(walk, () => server.complete({ type: 'text', text: 'Tea is ready.' }));
  walk.server.restart(handle('fetch'), done, done);
  await reported(again, 'tool.stopped');
  await again.go('What came of it?');
  await again.go('Anything else?');
  expect(texts(again).split('The background command “kitchen-brew” (kitchen__brew) ended').length).toBe(2);
  expect(texts(again)).toContain('Tea is ready.');
  expect(server.requests.filter((method) => method === 'tools/call')).toHaveLength(1);
});

test('a task survives the loss of its server, and is followed again when the server is back', async () => {
  const server = await startHttpTasks();
  const walk = await start(server, 'brew', { limits: { kitchen: { probe: 300 } } });
  await begin(walk);
  await started(walk);
  const lost = walk.until('kitchen', 'lost');
  await server.down();
  await lost;
  expect(walk.log.state.handles.all[0]?.ended).toBe(false);
  server.complete({ type: 'text', text: 'Tea is ready.' });
  await back(walk, server);
  await walk.headless.earshot.settled(walk.id);
  expect(walk.results()[0]).toBe('Tea is ready.');
});

test('a task that its server reports as failed fails its call', async () => {
  const server = await startHttpTasks();
  const walk = await start(server, 'brew');
  await begin(walk);
  await started(walk);
  server.become({ status: 'failed', error: { code: -32000, message: 'No water.' } });
  await walk.headless.earshot.settled(walk.id);
  expect(walk.results()[0]).toContain('No water.');
  expect(walk.log.state.transcript.items.find((item) => item.type === 'tool')).toMatchObject({ state: 'failed' });
});

test('stopping the turn cancels the task on its server', async () => {
  const server = await startHttpTasks();
  const walk = await start(server, 'brew');
  await begin(walk);
  await started(walk);
  await walk.headless.earshot.stop(walk.id);
  expect(walk.results()).toEqual(['Cancelled by the user.']);
  expect(server.requests).toContain('tasks/cancel');
});

test.each(['again', 'after a reload'])(
  'a task that was stopped while its server was away is cancelled once it is connected %s',
  async (when) => {
    const server = await startHttpTasks();
    const memory = createTestMemory();
    const walk = await start(server, 'brew', { limits: { kitchen: { probe: 300 } }, host: { memory } });
    await begin(walk);
    await started(walk);
    const lost = walk.until('kitchen', 'lost');
    await server.down();
    await lost;
    await walk.headless.earshot.stop(walk.id);
    expect(walk.results()).toEqual(['Cancelled by the user.']);
    expect(server.requests).not.toContain('tasks/cancel');
    if (when === 'again') await back(walk, server);
    else {
      await server.up();
      await reloadMcp(walk, () => undefined);
    }
    await expect.poll(() => server.requests).toContain('tasks/cancel');
    await expect.poll(() => memory.keys('cancel:')).toEqual([]);
  },
);

test('the user answers the questions of a task: a form, and a page that is opened', async () => {
  const server = await startHttpTasks();
  const opened: string[] = [];
  const openExternal = async (url: string) => opened.push(url) > 0;
  const walk = await start(server, 'ask', { host: { openExternal } });
  walk.server.restart(call('kitchen__ask'), call('kitchen__page'), done);
  walk.headless.frontend.answerQuestion = async ({ fields }) => ({
    answer: fields === undefined ? 'Open in browser' : JSON.stringify({ tea: 'Oolong' }),
    by: 'user',
  });
  await walk.go();
  expect(walk.results()).toEqual(['Served.', 'Served.']);
  expect(server.answers).toEqual([
    { it: { action: 'accept', content: { tea: 'Oolong' } } },
    { it: { action: 'accept' } },
  ]);
  expect(opened).toEqual(['https://tea.example/pay']);
});

/**
 * Advances the clock until the state is reported: a question counts as waiting after some silence, and states that
 * follow soon are throttled.
 */
async function reportedLater({ log, clock }: McpWalked, name: 'waiting' | 'stopped'): Promise<void> {
  await expect
    .poll(() => {
      clock.advance(1000);
      return log.state.pending.notifications.map(({ kind }) => kind.name);
    })
    .toContain(name);
}

test.each([
  ['ask', 'Assam', { action: 'accept', content: { tea: 'Assam' } }, []],
  ['page', 'open', { action: 'accept' }, ['https://tea.example/pay']],
  ['page', 'no', { action: 'decline' }, []],
])(
  'the question of a task after a reload (%s) is reported as waiting, and answered “%s” by the model',
  async (...row) => {
    const [tool, input, answer, pages] = row;
    const server = await startHttpTasks();
    const opened: string[] = [];
    const walk = await start(server, tool, { host: { openExternal: async (url) => opened.push(url) > 0 } });
    // The user does not answer before the reload.
    walk.headless.frontend.answerQuestion = () => new Promise(() => undefined);
    await begin(walk);
    await started(walk);
    const again = await reloadMcp(walk, () => undefined);
    await reportedLater(again, 'waiting');
    const apply = call('handle', { action: 'apply', name: `kitchen-${tool}`, text: input }, 'apply');
    walk.server.restart(apply, done, done);
    await again.go('Answer it.');
    await expect.poll(() => server.answers).toEqual([{ it: answer }]);
    expect(opened).toEqual(pages);
  },
);

test('a task that ends while its question is open is reported as ended', async () => {
  const server = await startHttpTasks();
  const walk = await start(server, 'ask');
  walk.headless.frontend.answerQuestion = () => new Promise(() => undefined);
  await begin(walk);
  await started(walk);
  const again = await reloadMcp(walk, () => undefined);
  await reportedLater(again, 'waiting');
  server.complete({ type: 'text', text: 'Tea without a question.' });
  await reportedLater(again, 'stopped');
});

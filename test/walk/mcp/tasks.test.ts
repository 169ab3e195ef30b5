// Tasks of MCP servers as handles: awaited, stopped, and found again after a reload.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type ObservedProcess, type ProcessWatch } from '../../../src/core/ports/processes.ts';
import { processObserver } from '../../../src/node/processActivity.ts';
import { atTestEnd } from '../../support/endings.ts';
import {
  beginMcpWalk,
  call,
  type McpWalked,
  type McpWalkOptions,
  reloadMcp,
  servers,
} from '../../support/mcp/mcpWalk.ts';
import { startEverything } from '../../support/mcp/httpServers.ts';
import { startTaskServer } from '../../support/mcp/taskServer.ts';
import { firstUnlessFull } from '../../support/runs.ts';
import { begin } from '../../support/walk/deliveryWalks.ts';
import { deliveredBlocks } from '../../support/walk/handleWalks.ts';

const done = { text: ['Done.'] };

/** Resolves once the task has a name and therefore is in the log. */
async function handleStarted({ log }: McpWalked): Promise<void> {
  await expect.poll(() => log.state.handles.all.map(({ name }) => name)).toEqual(['kitchen-brew']);
}

test('a task that ends while its call waits is the result of the call', async () => {
  const server = await startTaskServer();
  const walk = await beginMcpWalk({ kitchen: { url: server.url } }, [call('kitchen__brew'), done]);
  await begin(walk);
  await handleStarted(walk);
  server.complete('Tea is ready.');
  await walk.headless.earshot.settled(walk.id);
  expect(walk.results()[0]).toContain('Tea is ready.');
  expect(await deliveredBlocks(walk)).not.toContain('tool');
});

test('a task started before a reload, and ended meanwhile, is reported once, and its result can be fetched', async () => {
  const server = await startTaskServer();
  const walk = await beginMcpWalk({ kitchen: { url: server.url } }, [call('kitchen__brew'), done], {
    settings: { 'notifications.activation': 'passive' },
  });
  await begin(walk);
  await handleStarted(walk);
  const again = await reloadMcp(walk, () => server.complete('Tea is ready.'));
  walk.server.restart(
    { calls: [{ id: 'f', name: 'handle', arguments: { action: 'fetch', name: 'kitchen-brew' } }] },
    done,
    done,
  );
  await expect
    .poll(() => again.log.state.pending.notifications.map(({ kind }) => `${kind.source}.${kind.name}`))
    .toContain('tool.stopped');
  await again.go('What came of it?');
  await again.go('Anything else?');
  const texts = again.log.state.messages.all.map((message) => JSON.stringify(message)).join('\n');
  expect(texts.split('The background command “kitchen-brew” (kitchen__brew) ended').length).toBe(2);
  expect(texts).toContain('Tea is ready.');
  expect(server.requests.filter((method) => method === 'tools/call')).toHaveLength(1);
});

test.each(['failed', 'sign_in'] as const)(
  'a task whose server is not connected after a reload (%s) is neither ended nor lost, and is resumed later',
  async (state) => {
    const server = await startTaskServer();
    const kept = new Map([['key', 'tea']]);
    const walk = await beginMcpWalk(
      { kitchen: { url: server.url, headers: { 'x-key': '${input:key}' } } },
      [call('kitchen__brew'), done],
      {
        settings: { 'notifications.activation': 'passive' },
        inputs: [{ type: 'promptString', id: 'key', password: true }],
        host: {
          variables: () => ({
            folder: undefined,
            folders: [],
            environment: {},
            input: async (id) => kept.get(id),
            setting: () => undefined,
          }),
        },
      },
    );
    await begin(walk);
    await handleStarted(walk);
    const again = await reloadMcp(walk, () => {
      if (state === 'failed') kept.clear();
      else server.lock(true);
      server.complete('Tea is ready.');
    });
    await again.until('kitchen', state);
    walk.server.restart({ calls: [{ id: 'l', name: 'handle', arguments: { action: 'list' } }] }, done, done);
    await again.go('What runs?');
    const texts = () => again.log.state.messages.all.map((message) => JSON.stringify(message)).join('\n');
    expect(texts()).toMatch(/kitchen-brew: was started .* ago; its present state is unknown: the MCP server “kitchen”/);
    expect(texts()).not.toContain('cannot be followed');
    kept.set('key', 'tea');
    server.lock(false);
    await again.mcp.get('kitchen')?.restart();
    await expect
      .poll(() => again.log.state.pending.notifications.map(({ kind }) => `${kind.source}.${kind.name}`))
      .toContain('tool.stopped');
    await again.go('And now?');
    expect(texts().split('The background command “kitchen-brew” (kitchen__brew) ended').length).toBe(2);
    expect(server.requests.filter((method) => method === 'tools/call')).toHaveLength(1);
  },
);

test('a task whose server is removed from the configuration cannot be followed any more', async () => {
  const server = await startTaskServer();
  const walk = await beginMcpWalk({ kitchen: { url: server.url } }, [call('kitchen__brew'), done], {
    settings: { 'notifications.activation': 'passive' },
  });
  await begin(walk);
  await handleStarted(walk);
  const again = await reloadMcp(walk, () => server.lock(true));
  await again.mcp.configure([]);
  await expect
    .poll(() => again.log.state.pending.notifications.map(({ kind }) => `${kind.source}.${kind.name}`))
    .toContain('tool.lost');
});

test('stopping the turn cancels the task on its server', async () => {
  const server = await startTaskServer();
  const walk = await beginMcpWalk({ kitchen: { url: server.url } }, [call('kitchen__brew'), done]);
  await begin(walk);
  await handleStarted(walk);
  await walk.headless.earshot.stop(walk.id);
  expect(walk.results()).toEqual(['Cancelled by the user.']);
  await expect.poll(() => server.requests).toContain('tasks/cancel');
});

test.each(firstUnlessFull(['streamable HTTP', 'stdio']))(
  'the official everything server over %s: a task shows its stages, and the user answers its question',
  async (kind) => {
    const config = kind === 'stdio' ? servers.everything() : { url: (await startEverything('streamableHttp')).url };
    const research = call('everything__simulate-research-query', { topic: 'python', ambiguous: true });
    const walk = await beginMcpWalk({ everything: config }, [research, done]);
    const drawn = walk.headless.frontend.nextDrawn('tool_output');
    walk.headless.frontend.answerQuestion = async () => ({ answer: '{"interpretation":"snake"}', by: 'user' });
    await walk.go();
    // A slow machine may be shown a later stage first.
    const stage = /^(?:Gathering sources|Analyzing content|Synthesizing findings|Generating report)/;
    expect(await drawn).toMatchObject({ text: expect.stringMatching(stage) as string });
    expect(walk.headless.frontend.questions).toHaveLength(1);
    expect(walk.results()[0]).toContain('# Research Report: python (snake)');
  },
);

/** A server of revision 2026-07-28 decides on its own which calls become tasks. */
async function beginModern(
  tool: string,
  options: McpWalkOptions = {},
): Promise<{ readonly walk: McpWalked; readonly folder: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'earshot-tasks-'));
  atTestEnd(() => rm(folder, { recursive: true, force: true }));
  const walk = await beginMcpWalk({ kitchen: servers.modernTasks(folder) }, [call(`kitchen__${tool}`), done], {
    settings: { 'notifications.activation': 'passive' },
    ...options,
  });
  expect(walk.mcp.get('kitchen')?.session?.era).toBe('modern');
  return { walk, folder };
}

async function requestsOf(folder: string): Promise<readonly string[]> {
  return (await readFile(join(folder, 'requests'), 'utf8')).trim().split('\n');
}

test('2026-07-28: a task that ends while its call waits is the result of the call', async () => {
  const { walk, folder } = await beginModern('brew');
  await begin(walk);
  await handleStarted(walk);
  await writeFile(join(folder, 'done'), 'Tea is ready.');
  await walk.headless.earshot.settled(walk.id);
  expect(walk.results()[0]).toContain('Tea is ready.');
  expect(await requestsOf(folder)).toContain('tasks/get');
});

test('2026-07-28: a call that the server answers at once is not a task', async () => {
  const { walk } = await beginModern('now');
  await walk.go();
  expect(walk.results()).toEqual(['At once.']);
  expect(walk.log.state.handles.all).toEqual([]);
});

test('2026-07-28: a task is found again by its id after a reload, by a new process of the server', async () => {
  const { walk, folder } = await beginModern('brew');
  await begin(walk);
  await handleStarted(walk);
  const again = await reloadMcp(walk, () => undefined);
  await writeFile(join(folder, 'done'), 'Tea is ready.');
  walk.server.restart(
    { calls: [{ id: 'f', name: 'handle', arguments: { action: 'fetch', name: 'kitchen-brew' } }] },
    done,
    done,
  );
  await expect
    .poll(() => again.log.state.pending.notifications.map(({ kind }) => `${kind.source}.${kind.name}`))
    .toContain('tool.stopped');
  await again.go('What came of it?');
  const texts = again.log.state.messages.all.map((message) => JSON.stringify(message)).join('\n');
  expect(texts).toContain('Tea is ready.');
  expect((await requestsOf(folder)).filter((method) => method === 'tools/call')).toHaveLength(1);
});

test('2026-07-28: stopping the turn cancels the task on its server', async () => {
  const { walk, folder } = await beginModern('brew');
  await begin(walk);
  await handleStarted(walk);
  await walk.headless.earshot.stop(walk.id);
  expect(walk.results()).toEqual(['Cancelled by the user.']);
  await expect.poll(() => requestsOf(folder)).toContain('tasks/cancel');
});

test('2026-07-28: a call that becomes a task after it was stopped is cancelled on its server', async () => {
  const { walk, folder } = await beginModern('late');
  await begin(walk);
  await expect.poll(() => requestsOf(folder)).toContain('tools/call');
  await walk.headless.earshot.stop(walk.id);
  expect(walk.results()).toEqual(['Cancelled by the user.']);
  await writeFile(join(folder, 'release'), '');
  await expect.poll(() => requestsOf(folder)).toContain('tasks/cancel');
  expect(walk.log.state.handles.all).toEqual([]);
});

test('2026-07-28: the user is asked the question of a task, and the task gets the answer', async () => {
  const { walk, folder } = await beginModern('ask');
  walk.headless.frontend.answerQuestion = async () => ({ answer: JSON.stringify({ tea: 'Oolong' }), by: 'user' });
  await walk.go();
  expect(walk.headless.frontend.questions[0]?.text).toContain('Which tea?');
  expect(walk.results()[0]).toContain('Answers: {"tea":{"action":"accept","content":{"tea":"Oolong"}}}');
  expect((await requestsOf(folder)).filter((method) => method === 'tasks/update')).toHaveLength(1);
});

test('2026-07-28: changes of files are attributed to the process of the server until its task has ended', async () => {
  const observed: ObservedProcess[] = [];
  const processes = {
    watch: () => {
      const real = processObserver.watch();
      const add = (process: ObservedProcess) => {
        observed.push(process);
        real.add(process);
      };
      return { ...bound(real), add };
    },
  };
  const { walk, folder } = await beginModern('brew', { checkpoints: true, ports: { processes } });
  const pid = walk.mcp.get('kitchen')?.session?.pid;
  await begin(walk);
  await handleStarted(walk);
  await expect.poll(() => observed.filter((one) => one.pid === pid && one.ended() === undefined).length).toBe(2);
  const [ofCall, ofTask] = observed.filter((one) => one.pid === pid);
  walk.headless.handles.moveToBackground(walk.id, 'ckitchen__brew');
  await walk.headless.earshot.settled(walk.id);
  expect([typeof ofCall?.ended(), ofTask?.ended()]).toEqual(['number', undefined]);
  await writeFile(join(folder, 'done'), 'Tea is ready.');
  await expect.poll(() => ofTask?.ended()).toBeTypeOf('number');
});

function bound(watch: ProcessWatch): ProcessWatch {
  return {
    isObserving: watch.isObserving,
    add: (process) => watch.add(process),
    settled: (at) => watch.settled(at),
    mayHaveRun: (at) => watch.mayHaveRun(at),
    heldByOthers: (absolute) => watch.heldByOthers(absolute),
    dispose: () => watch.dispose(),
  };
}

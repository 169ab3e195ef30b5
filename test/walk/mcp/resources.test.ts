// Resources and prompts of MCP servers: listed for the pickers, attached, read, and reported to the model once when they change.
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { describeFailure } from '../../../src/base/errors.ts';
import { type ToolContext } from '../../../src/core/ports/ports.ts';
import { type ReadResource } from '../../../src/mcp/resources/readResource.ts';
import { type AskedValue, serverSources } from '../../../src/vscode/mcp/serverCompletions.ts';
import { beginMcpWalk, call, type McpWalked, servers } from '../../support/mcp/mcpWalk.ts';
import { deliveredBlocks, eventsOf } from '../../support/walk/handleWalks.ts';

const done = { text: ['Done.'] };
const kitchen = (more: object = {}) =>
  servers.scripted({
    tools: [{ name: 'touch' }],
    resources: { 'tea://menu': 'Oolong', 'tea://list/': 'Assam' },
    ...more,
  });

async function tempFile(): Promise<string> {
  return join(await mkdtemp(join(tmpdir(), 'earshot-mcp-')), 'update');
}

/** The pickers of the chat, with a record of what they attached, inserted and asked. */
function pickers(walk: McpWalked, answer: (value: AskedValue) => string | undefined = () => undefined) {
  const attached: ReadResource[] = [];
  const inserted: string[] = [];
  const notices: string[] = [];
  const asked: AskedValue[] = [];
  const [resources, prompts] = serverSources({
    resources: () => walk.mcp.resources,
    attachResource: async (resource) => void attached.push(resource),
    insert: async (text) => void inserted.push(text),
    showFailure: (failure) => void notices.push(describeFailure(failure)),
    ask: async (value) => {
      asked.push(value);
      return answer(value);
    },
  });
  if (resources === undefined || prompts === undefined) throw new Error('a picker is missing');
  return { resources, prompts, attached, inserted, notices, asked };
}

test('a resource attached with the picker is in the request and watched on its server, and its change is reported once', async () => {
  const walk = await beginMcpWalk({ kitchen: kitchen() }, [
    done,
    call('kitchen__touch', { uri: 'tea://menu', times: 5 }),
    done,
    done,
  ]);
  const { resources, attached } = pickers(walk);
  const [entry] = await resources.list('menu');
  expect(entry).toMatchObject({ label: 'tea://menu', detail: 'kitchen · tea://menu' });
  await resources.choose?.(entry?.id ?? '');
  const sent = await walk.headless.earshot.send(walk.id, 'What is there?', {
    attachments: attached.map((one) => ({ type: 'resource' as const, ...one })),
  });
  expect(sent.ok).toBe(true);
  await walk.headless.earshot.settled(walk.id);
  const [first] = walk.server.requests;
  expect(first?.body).toContain('the resource tea://menu of the MCP server “kitchen”');
  expect(first?.body).toContain('Oolong');
  await walk.go('Change it.');
  await walk.go('Anything new?');
  expect(walk.results()[0]).toContain('subscribed to tea://menu');
  const blocks = await deliveredBlocks(walk);
  expect(blocks).toContain('The resource tea://menu of the MCP server “kitchen” has changed since it was read.');
  expect(blocks.split('resource_updated').length).toBe(2);
  expect(walk.headless.errors).toEqual([]);
});

test('the model lists resources, reads one with approval, and is notified of its change', async () => {
  const walk = await beginMcpWalk(
    { kitchen: kitchen() },
    [
      call('read_resource', { server: 'kitchen' }, 'list'),
      call('read_resource', { server: 'kitchen', uri: 'tea://menu' }, 'read'),
      call('kitchen__touch', { uri: 'tea://menu' }, 'change'),
      call('read_resource', { server: 'kitchen', uri: 'tea://none' }, 'none'),
      call('read_resource', { server: 'pantry', uri: 'tea://menu' }, 'pantry'),
      done,
    ],
    { settings: { 'approvals.mode': 'reads' } },
  );
  await walk.go();
  const [list, read, , none, pantry] = walk.results();
  expect(list).toContain('tea://menu (tea://menu)');
  expect(read).toContain('Oolong');
  expect(none).toContain('could not provide it: Resource not found');
  expect(pantry).toContain('“pantry” is not connected. Servers with resources: kitchen.');
  expect(walk.headless.frontend.asked.map(({ call: { id } }) => id)).toEqual(['read', 'change', 'none']);
  expect((await deliveredBlocks(walk)).split('resource_updated').length).toBe(2);
});

test('a resource that changes all the time is reported again only after it was read again', async () => {
  const path = await tempFile();
  const walk = await beginMcpWalk({ kitchen: kitchen({ updatesWith: path }) }, [
    call('read_resource', { server: 'kitchen', uri: 'tea://menu' }),
    done,
    done,
    done,
    call('read_resource', { server: 'kitchen', uri: 'tea://menu' }),
    done,
    done,
  ]);
  const update = async () => {
    const announced = new Promise<void>((resolve) => {
      const listening = walk.mcp.onDidChange(({ type }) => {
        if (type !== 'resource') return;
        listening.dispose();
        resolve();
      });
    });
    await writeFile(path, '');
    await announced;
    walk.clock.advance(2000);
  };
  await walk.go();
  for (const text of ['One.', 'Two.']) {
    await update();
    await walk.go(text);
  }
  await walk.go('Three.');
  await update();
  const pending = () => walk.log.state.pending.notifications.map(({ kind }) => kind.name);
  await expect.poll(pending).toEqual(['resource_updated']);
  const reading = walk.headless.earshot.tools.get('read_resource');
  await reading?.run({ server: 'kitchen', uri: 'tea://menu' }, { conversation: walk.id } as ToolContext);
  await expect.poll(pending).toEqual([]);
  await update();
  await walk.go('Four.');
  const requests = await eventsOf(walk, 'chat_request');
  expect(requests.map(({ notifications }) => notifications?.text.includes('resource_updated') === true)).toEqual([
    false,
    true,
    false,
    false,
    true,
  ]);
});

test('a change of a part of a watched resource is reported as a change of that resource; other changes are not', async () => {
  const walk = await beginMcpWalk({ kitchen: kitchen() }, []);
  walk.mcp.watch(new Set(['kitchen tea://list/', 'kitchen tea://menu']));
  expect(walk.mcp.resources.watchedFor('kitchen', 'tea://list/assam')).toBe('tea://list/');
  expect(walk.mcp.resources.watchedFor('kitchen', 'tea://menu2')).toBe('tea://menu2');
});

test('prompts are slash commands: their arguments are asked for, and the text goes into the composer', async () => {
  const prompts = [
    {
      name: 'order',
      description: 'Orders tea',
      arguments: [{ name: 'tea', description: 'Which', required: true }, { name: 'milk' }],
    },
  ];
  const walk = await beginMcpWalk({ kitchen: kitchen({ prompts }) }, []);
  const { prompts: picker, inserted, asked } = pickers(walk, ({ name }) => (name === 'tea' ? 'Oolong' : ''));
  const [entry] = await picker.list('ord');
  expect(entry).toMatchObject({ label: '/kitchen:order', detail: 'kitchen · Orders tea' });
  expect(await picker.list('kitchen:')).toHaveLength(1);
  expect(await picker.list('x')).toEqual([]);
  await picker.choose?.(entry?.id ?? '');
  expect(asked).toEqual([
    { title: '/kitchen:order', name: 'tea', about: 'Which', required: true },
    { title: '/kitchen:order', name: 'milk', about: '', required: false },
  ]);
  expect(inserted).toEqual(['order {"tea":"Oolong"}']);
  const cancelled = pickers(walk);
  await cancelled.prompts.choose?.(entry?.id ?? '');
  expect(cancelled.inserted).toEqual([]);
});

test('resources, templates and prompts of the official everything server are listed and read', async () => {
  const walk = await beginMcpWalk({ e: servers.everything() }, []);
  const { resources, prompts, attached, inserted, notices } = pickers(walk, () => '1');
  const listed = await walk.mcp.resources.listResources();
  const template = listed.find(({ item }) => item.variables !== undefined);
  expect(template?.item.uri).toContain('{');
  for (const { server, item } of [listed[0], template].flatMap((one) => one ?? []))
    await resources.choose?.(JSON.stringify([server, item.uri]));
  expect(attached.map(({ content }) => content.length > 0)).toEqual([true, true]);
  expect(attached[1]?.uri).not.toContain('{');
  const all = await prompts.list('');
  for (const { id } of all.slice(0, 2)) await prompts.choose?.(id);
  expect(inserted.filter((text) => text.length > 0)).toHaveLength(2);
  expect(notices).toEqual([]);
});

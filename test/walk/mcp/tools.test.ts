// Tools of real MCP servers in both eras: offered, approved, called, cancelled, bounded.
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { beginMcpWalk, call, servers } from '../../support/mcp/mcpWalk.ts';
import { begin } from '../../support/walk/deliveryWalks.ts';
import { createMemoryPermissions } from '../../support/tools/memoryPermissions.ts';

const done = { text: ['Done.'] };

test('the official everything server over stdio: its tools are offered with their schemas, called, and their results reach the model', async () => {
  const walk = await beginMcpWalk({ everything: servers.everything() }, [
    {
      calls: [
        { id: 'c1', name: 'everything__echo', arguments: { message: 'hello' } },
        { id: 'c2', name: 'everything__get-sum', arguments: { a: 2, b: 40 } },
        { id: 'c3', name: 'everything__get-tiny-image', arguments: {} },
        { id: 'c4', name: 'everything__get-structured-content', arguments: { location: 'Chicago' } },
        { id: 'c5', name: 'everything__get-resource-links', arguments: { count: 1 } },
      ],
    },
    done,
  ]);
  expect(walk.mcp.get('everything')).toMatchObject({ state: 'ready', era: 'legacy' });
  await walk.go();
  expect(walk.offered(0)).toContain('everything__echo');
  const texts = walk.results().join('\n---\n');
  expect(texts).toContain('hello');
  expect(texts).toContain('42');
  expect(texts).toMatch(/\(Image 1: PNG, \d+ × \d+ pixels, [\d,]+ bytes\)/);
  // The image is stored for the card.
  const media = walk.log.state.transcript.items.flatMap((item) => (item.type === 'tool' ? (item.media ?? []) : []));
  expect(media.map(({ media_type: type, hash }) => [type, hash.length])).toEqual([['image/png', 64]]);
  expect(texts).toContain('temperature');
  expect(texts).toMatch(/\[.+\]\(demo:\/\/resource/);
  expect(walk.server.requests[1]?.body).toContain('hello');
  expect(walk.headless.errors).toEqual([]);
});

test('the official filesystem server reads a file of its folder', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'earshot-mcp-'));
  await writeFile(join(folder, 'tea.txt'), 'Oolong');
  const walk = await beginMcpWalk({ files: servers.filesystem(folder) }, [
    call('files__read_text_file', { path: join(folder, 'tea.txt') }),
    done,
  ]);
  await walk.go();
  expect(walk.results()).toEqual(['Oolong']);
});

test('a server of 2026-07-28 over stdio: its era is detected without starting it twice, and its structured result is shown once', async () => {
  const walk = await beginMcpWalk({ modern: servers.modern() }, [call('modern__add', { a: 1, b: 2 }), done]);
  expect(walk.mcp.get('modern')).toMatchObject({ state: 'ready', era: 'modern' });
  await walk.go();
  expect(walk.results()).toEqual(['3\nStructured result:\n{"sum":3}']);
});

test('an approval shows what the server says of the tool; always for the server covers all but its destructive tools', async () => {
  const tools = [
    { name: 'echo', annotations: { readOnlyHint: true } },
    { name: 'other' },
    { name: 'wipe', annotations: { destructiveHint: true } },
  ];
  const permissions = createMemoryPermissions();
  const walk = await beginMcpWalk(
    { s: servers.scripted({ tools }) },
    [call('s__echo', { message: 'a' }), call('s__other', {}), call('s__wipe', {}), done],
    { settings: { 'approvals.mode': 'reads' }, ports: { permissions } },
  );
  const { frontend } = walk.headless;
  frontend.answer = async () => ({ action: 'approve', always: { scope: 'folder', server: true }, by: 'user' });
  await walk.go();
  expect(frontend.asked.map(({ call: { name }, note, alwaysServer }) => ({ name, note, alwaysServer }))).toEqual([
    { name: 's__echo', note: 'A tool of the MCP server “s”. It says that the tool only reads.', alwaysServer: 's' },
    {
      name: 's__wipe',
      note: 'A tool of the MCP server “s”. It says that the tool may destroy something.',
      alwaysServer: undefined,
    },
  ]);
  expect(permissions.rules).toMatchObject([
    { rule: expect.stringMatching(/^mcp:[0-9a-f]{32}$/) as string, label: 's' },
  ]);
});

test('read-only tools follow the rules for reading only if the user trusts the server', async () => {
  const tools = [{ name: 'echo', annotations: { readOnlyHint: true } }];
  const walk = await beginMcpWalk({ s: servers.scripted({ tools }) }, [call('s__echo', { message: 'a' }), done], {
    settings: { 'approvals.mode': 'reads' },
    host: { trustsHints: (server) => server === 's' },
  });
  await walk.go();
  expect(walk.headless.frontend.asked).toEqual([]);
  expect(walk.results()).toEqual(['a']);
});

test('stopping the turn cancels a running call; the server stays connected', async () => {
  const walk = await beginMcpWalk({ s: servers.scripted({ tools: [{ name: 'never' }] }) }, [call('s__never'), done]);
  const running = walk.headless.frontend.nextDrawn('tool_started');
  await begin(walk);
  await running;
  await walk.headless.earshot.stop(walk.id);
  expect(walk.results()).toEqual(['Cancelled by the user.']);
  expect(walk.mcp.get('s')?.state).toBe('ready');
});

test('a result of 200,000 characters is bounded', async () => {
  const walk = await beginMcpWalk({ s: servers.scripted({ tools: [{ name: 'huge' }], oversized: 200_000 }) }, [
    call('s__huge'),
    done,
  ]);
  await walk.go();
  const [result = ''] = walk.results();
  expect(result.length).toBeLessThan(31_000);
  expect(result).toContain('left out');
});

test('tools of the same name are distinguished, also if their servers’ names differ only in special characters', async () => {
  const scripted = servers.scripted({ tools: [{ name: 'echo' }] });
  const walk = await beginMcpWalk({ 'my server': scripted, 'my.server': scripted, other: scripted }, [
    call('my_server_2__echo', { message: 'second' }),
    done,
  ]);
  await walk.go();
  const names = walk.offered(0).filter((name) => name.includes('echo'));
  expect(names.sort()).toEqual(['my_server_2__echo', 'my_server__echo', 'other__echo']);
  expect(walk.results()).toEqual(['second']);
});

test('with more than 30 tools the model gets find_tools; the tools it finds are offered for the rest of the conversation', async () => {
  const walk = await beginMcpWalk({ big: servers.scripted({ manyTools: 500, tools: [{ name: 'echo' }] }) }, [
    call('find_tools', { query: 'echo' }),
    call('big__echo', { message: 'found' }),
    done,
  ]);
  await walk.go();
  const ofServer = (request: number) => walk.offered(request).filter((name) => name.startsWith('big__'));
  expect(walk.offered(0)).toContain('find_tools');
  expect(ofServer(0)).toEqual([]);
  expect(ofServer(1)).toEqual(['big__echo']);
  expect(ofServer(2)).toEqual(['big__echo']);
  expect(walk.results()[1]).toBe('found');
  expect(JSON.stringify(walk.server.requests[2]?.body)).not.toContain('tools added');
});

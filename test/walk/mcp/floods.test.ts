// MCP servers that send too much: how long they occupy the event loop, what is cut, and where the user sees it.
import { expect, test } from 'vitest';
import { startMisbehaving } from '../../support/mcp/httpServers.ts';
import { beginMcpWalk, call, servers } from '../../support/mcp/mcpWalk.ts';
import { runs } from '../../support/runs.ts';

const done = { text: ['Done.'] };

/**
 * Counts how many messages of a server are handled in one turn of the event loop; unlike a time, this does not depend
 * on the machine. `handled` is to be called for each message.
 */
function countTurns() {
  let [now, most, counting] = [0, 0, true];
  const turn = () => {
    most = Math.max(most, now);
    now = 0;
    if (counting) setImmediate(turn);
  };
  setImmediate(turn);
  return {
    handled: () => {
      now += 1;
    },
    end: () => {
      counting = false;
      return Math.max(most, now);
    },
  };
}

const ENDED = 'it sent more than 10,000 messages or 256 MiB in 10 s';

test.each(['notifications', 'garbage', 'progress'])(
  'a server that floods its standard output with %s is ended, and the row says so',
  async (flood) => {
    const walk = await beginMcpWalk({ s: servers.scripted({ tools: [{ name: 'flood_output' }] }) }, [
      call('s__flood_output', { flood }),
      done,
    ]);
    const going = walk.go();
    await walk.until('s', 'lost');
    expect(walk.mcp.get('s')?.problem).toContain(ENDED);
    await going;
    expect(walk.results()[0]).toMatch(/^Interrupted; may have run\./);
  },
);

test('messages of a flood are handled in small parts, between which everything else runs', async () => {
  const turns = countTurns();
  const walk = await beginMcpWalk({ s: servers.scripted({ tools: [{ name: 'flood_output' }] }) }, [
    call('s__flood_output', { flood: 'channel' }),
    done,
  ]);
  const following = walk.mcp.onDidChange(({ type }) => type === 'event' && turns.handled());
  const going = walk.go();
  await walk.until('s', 'lost');
  await going;
  following.dispose();
  const most = turns.end();
  expect(most).toBeGreaterThan(0);
  expect(most).toBeLessThan(200);
});

test('a server that floods standard error is not ended; its log says that lines were left out', async () => {
  const log: string[] = [];
  const walk = await beginMcpWalk(
    { s: servers.scripted({ tools: [{ name: 'flood_output' }, { name: 'echo' }] }) },
    [call('s__flood_output', { flood: 'stderr' }), call('s__echo', { message: 'alive' }), done],
    { host: { log: (_server, line) => log.push(line) } },
  );
  await walk.go();
  expect(walk.results()).toEqual(['flooded', 'alive']);
  expect(log.join('\n')).toContain('It prints too much: further lines are left out');
  expect(log.length).toBeLessThan(2000);
});

test('a server that floods an event stream over HTTP is cut off, and other work runs in between', async () => {
  let sent = 0;
  const server = await startMisbehaving((_name, id, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const message = { jsonrpc: '2.0', method: 'notifications/claude/channel', params: { content: 'x' } };
    const event = `data: ${JSON.stringify(message)}\n\n`.repeat(1000);
    const more = (): void => {
      while (sent < 1000 && !response.destroyed) {
        sent += 1;
        if (!response.write(event)) return void response.once('drain', more);
      }
      response.end(`data: ${JSON.stringify({ jsonrpc: '2.0', id, result: { content: [] } })}\n\n`);
    };
    more();
  });
  const turns = countTurns();
  const walk = await beginMcpWalk({ s: { url: server.url } }, [call('s__one'), done]);
  const following = walk.mcp.onDidChange(({ type }) => type === 'event' && turns.handled());
  await walk.go();
  following.dispose();
  expect(walk.results()[0]).toMatch(/^Interrupted; may have run\./);
  expect(walk.serverLog.join('\n')).toContain(ENDED);
  expect(sent).toBeLessThan(1000);
  expect(turns.end()).toBeLessThan(200);
});

const nobody = { signal: new AbortController().signal, progress: () => undefined, ask: async () => undefined };

/** The attack had 400,000, which costs the test seconds. */
const PARTS = runs(40_000, 400_000);

test.each(['stdio', 'HTTP'])('of very many parts of a result over %s, 999 and a note are handled', async (kind) => {
  const server = await startMisbehaving((_name, id, response) => {
    const content = Array.from({ length: PARTS }, (_, index) => ({ type: 'text', text: `${index}` }));
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ jsonrpc: '2.0', id, result: { content } }));
  });
  const config = kind === 'stdio' ? servers.scripted({ tools: [{ name: 'blocks' }] }) : { url: server.url };
  const name = kind === 'stdio' ? 'blocks' : 'one';
  const walk = await beginMcpWalk({ s: config }, [call(`s__${name}`, { count: PARTS }), done]);
  const end = await walk.mcp.get('s')?.call(name, { count: PARTS }, nobody);
  const blocks = end?.type === 'result' ? end.content.blocks : [];
  expect(blocks).toHaveLength(1000);
  expect(blocks.at(-1)).toEqual({ type: 'text', text: `(${PARTS - 999} more parts were left out)` });
  await walk.go();
  expect(walk.results()[0]).toContain(`(${PARTS - 999} more parts were left out)`);
  expect(walk.serverLog.join('\n')).toContain(`It sent ${PARTS} parts in one answer, of which 999 are used.`);
});

test('lists and resources with too many entries are cut, and the log says so', async () => {
  const walk = await beginMcpWalk({ s: servers.scripted({ manyTools: 3000, resources: { 'tea:list': 5000 } }) }, []);
  expect(walk.mcp.get('s')?.tools).toHaveLength(2000);
  const read = await walk.mcp.resources.read('s', 'tea:list');
  expect(read.ok && read.value.content).toContain('(4001 more parts were left out)');
  expect(walk.serverLog).toContain('s: It lists 3000 tools, of which 2000 are used.');
});

test('the tools of a server are listed again also after the time of day was set back', async () => {
  const walk = await beginMcpWalk({ s: servers.scripted({ changing: 20 }) }, []);
  const names = () =>
    walk.mcp
      .get('s')
      ?.tools.map(({ name }) => name)
      .join();
  /** A second is enough, as often as the server has announced a change that an earlier answer already had. */
  const listedAgain = async () => {
    const before = names();
    while (names() === before) {
      if (walk.mcpClock.waiting > 0) {
        walk.mcpClock.advance(1000);
        expect(walk.mcpClock.waiting).toBe(0);
      }
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  await listedAgain();
  walk.mcpClock.setBack(3_600_000);
  await listedAgain();
});

test('thirty large tools are found by search instead of being in each request, and log and row say so', async () => {
  const tools = Array.from({ length: 30 }, (_, index) => ({ name: `large_${index}` }));
  const config = servers.scripted({ tools, schemaSize: 15_000 });
  const walk = await beginMcpWalk({ s: config }, [
    call('find_tools', { query: 'large' }, 'first'),
    ...Array.from({ length: 10 }, (_, index) => call('find_tools', { query: `large_${index + 10}` }, `c${index}`)),
    call('s__large_0'),
    done,
  ]);
  await walk.go();
  const sizes = walk.server.requests.map(
    ({ body }) => JSON.stringify((JSON.parse(body) as { tools: object }).tools).length,
  );
  expect(walk.offered(0)).toContain('find_tools');
  expect(Math.max(...sizes.map((size) => size - (sizes[0] ?? 0)))).toBeLessThan(64_000);
  // The first found stay offered, the others can be called without being described.
  expect(walk.offered(11)).toEqual(walk.offered(3));
  expect(walk.results()[3]).toMatch(/Not added, because found tools already take 60,000 characters: s__large_12\./);
  expect(walk.results()[0]).toMatch(/\(2\d more match: search with more words\.\)/);
  expect(walk.results().at(-1)).toBe('(The tool returned nothing.)');
  expect(walk.mcp.searched).toMatchObject({ tools: 30 });
  expect(walk.serverLog.join('\n')).toMatch(
    /The 30 tools of all servers have 4\d\d KB: the model finds them with find_tools\./,
  );
});

test('a schema or a description that is too long is left out, and log and model are told', async () => {
  const config = servers.scripted({ tools: [{ name: 'long' }, { name: 'echo' }], schemaSize: 20_000 });
  const walk = await beginMcpWalk({ s: config }, [done]);
  await walk.go();
  expect(walk.serverLog).toContain('s: Too long for each request, and so cut: long (schema), echo (schema).');
  expect(walk.server.requests[0]?.body).toContain('Its schema is too long to be shown');
});

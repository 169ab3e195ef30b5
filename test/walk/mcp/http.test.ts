// MCP servers over HTTP: both eras, the older event stream, Unix sockets, lost connections, oversized answers.
import { createServer, request as httpRequest } from 'node:http';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { atTestEnd } from '../../support/endings.ts';
import { startEverything, startMisbehaving, startModernHttp } from '../../support/mcp/httpServers.ts';
import { beginMcpWalk, call } from '../../support/mcp/mcpWalk.ts';
import { deliveredBlocks } from '../../support/walk/handleWalks.ts';

const done = { text: ['Done.'] };

test.each(['streamableHttp', 'sse'] as const)('the official everything server over %s', async (kind) => {
  const { url } = await startEverything(kind);
  const walk = await beginMcpWalk({ everything: { url } }, [call('everything__echo', { message: kind }), done]);
  expect(walk.mcp.get('everything')).toMatchObject({ state: 'ready', era: 'legacy' });
  await walk.go();
  expect(walk.results()).toEqual([`Echo: ${kind}`]);
});

test('a server of 2026-07-28 over HTTP: used, lost while idle because its event stream breaks, and used again', async () => {
  const server = await startModernHttp();
  const walk = await beginMcpWalk(
    { modern: { url: server.url } },
    [call('modern__add', { a: 20, b: 22 }), done, call('modern__add', { a: 1, b: 1 }, 'second'), done],
    { limits: { probe: 300 } },
  );
  expect(walk.mcp.get('modern')).toMatchObject({ state: 'ready', era: 'modern' });
  await walk.go();
  expect(walk.results()[0]).toContain('42');
  server.kill();
  await walk.until('modern', 'lost');
  await walk.go('Again.');
  expect(walk.results()[1]).toMatch(/^modern__add was not run: the MCP server “modern” is not connected/);
  expect(await deliveredBlocks(walk)).toContain('The MCP server “modern” is not connected any more');
  await startModernHttp(Number(new URL(server.url).port));
  walk.mcpClock.advance(1000);
  await walk.until('modern', 'ready');
});

test('a stream that ends after the tool ran and before its answer: interrupted, not repeated, and the server stays', async () => {
  const server = await startMisbehaving((_name, _id, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(': working\n\n');
    setImmediate(() => response.end());
  });
  const walk = await beginMcpWalk({ s: { url: server.url } }, [call('s__one'), done]);
  await walk.go();
  expect(walk.results()[0]).toMatch(/^Interrupted; may have run\. The answer of s__one was lost: the connection ended/);
  expect(server.calls).toEqual(['one']);
  expect(walk.mcp.get('s')?.state).toBe('ready');
});

test('a connection that breaks during a call is not used to send the call again', async () => {
  const server = await startMisbehaving((_name, _id, response) => response.destroy());
  const walk = await beginMcpWalk({ s: { url: server.url } }, [call('s__one'), done]);
  await walk.go();
  expect(walk.results()[0]).toMatch(/^Interrupted; may have run\./);
  expect(server.calls).toEqual(['one']);
});

test.each(['application/json', 'text/event-stream'])('50 MB as %s are not read to their end', async (type) => {
  let sent = 0;
  const server = await startMisbehaving((_name, id, response) => {
    response.writeHead(200, { 'content-type': type });
    response.write(
      `${type === 'application/json' ? '' : 'data: '}{"jsonrpc":"2.0","id":${id},"result":{"content":[{"type":"text","text":"`,
    );
    const piece = 'x'.repeat(1_000_000);
    const more = (): void => {
      while (sent < 50 && !response.destroyed) {
        sent += 1;
        if (!response.write(piece)) return void response.once('drain', more);
      }
      response.end('"}]}}\n\n');
    };
    more();
  });
  const walk = await beginMcpWalk({ s: { url: server.url } }, [call('s__one'), done]);
  await walk.go();
  expect(walk.results()[0]).toMatch(/^(Interrupted; may have run|s__one failed)/);
  expect(walk.results()[0]?.length).toBeLessThan(1000);
  expect(sent).toBeLessThan(50);
});

test('a server on a Unix socket, with headers', async () => {
  const { url } = await startModernHttp();
  const socket = join(await mkdtemp(join(tmpdir(), 'earshot-mcp-')), 's.sock');
  const seen: unknown[] = [];
  const forward = createServer((incoming, response) => {
    seen.push(incoming.headers['x-team']);
    const onward = httpRequest(
      new URL(incoming.url ?? '/', url),
      { method: incoming.method ?? 'GET', headers: { ...incoming.headers, host: new URL(url).host } },
      (received) => {
        response.writeHead(received.statusCode ?? 500, received.headers);
        received.pipe(response);
      },
    );
    onward.on('error', () => response.destroy());
    response.on('close', () => onward.destroy());
    incoming.pipe(onward);
  });
  await new Promise<void>((ready) => forward.listen(socket, ready));
  atTestEnd(async () => {
    forward.closeAllConnections();
    forward.close();
  });
  const walk = await beginMcpWalk({ s: { url: `unix:${socket}#/mcp`, headers: { 'x-team': 'tea' } } }, [
    call('s__add', { a: 2, b: 3 }),
    done,
  ]);
  await walk.go();
  expect(walk.results()[0]).toContain('5');
  expect(new Set(seen)).toEqual(new Set(['tea']));
});

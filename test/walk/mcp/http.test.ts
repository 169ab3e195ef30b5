// MCP servers over HTTP: both eras, the older event stream, Unix sockets, lost connections, oversized answers.
import { createServer, request as httpRequest, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { atTestEnd } from '../../support/endings.ts';
import { startEverything, startMisbehaving, startModernHttp } from '../../support/mcp/httpServers.ts';
import { beginMcpWalk, call } from '../../support/mcp/mcpWalk.ts';
import { deliveredBlocks } from '../../support/walk/handleWalks.ts';

const done = { text: ['Done.'] };

test.each(['streamableHttp', 'sse'] as const)(
  'a tool of the official everything server is called over %s',
  async (kind) => {
    const { url } = await startEverything(kind);
    const walk = await beginMcpWalk({ everything: { url } }, [call('everything__echo', { message: kind }), done]);
    expect(walk.mcp.get('everything')).toMatchObject({ state: 'ready', era: 'legacy' });
    await walk.go();
    expect(walk.results()).toEqual([`Echo: ${kind}`]);
  },
);

test('a server of 2026-07-28 over HTTP: used, lost while idle because its event stream breaks, and used again', async () => {
  const server = await startModernHttp();
  const walk = await beginMcpWalk(
    { modern: { url: server.url } },
    [call('modern__add', { a: 20, b: 22 }), done, call('modern__add', { a: 1, b: 1 }, 'second'), done],
    { limits: { modern: { probe: 300 } } },
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

test('if a stream ends before the answer of a tool that ran, the call is interrupted, not repeated, and the server stays', async () => {
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

test('a call is not sent again after its connection breaks', async () => {
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

/** Answers every request with a redirect. */
async function startRedirecting(to: () => string, status: number): Promise<{ readonly server: Server; at(): string }> {
  const server = createServer((_request, response) => void response.writeHead(status, { location: to() }).end());
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  atTestEnd(async () => void server.close());
  return { server, at: () => `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

test.each([302, 307])(
  'a redirect (%i) to another server is not followed: it gets neither headers nor arguments',
  async (status) => {
    const seen: string[] = [];
    const other = createServer((request, response) => {
      seen.push(request.url ?? '');
      response.end();
    });
    await new Promise<void>((ready) => other.listen(0, '127.0.0.1', ready));
    atTestEnd(async () => void other.close());
    const target = `http://127.0.0.1:${(other.address() as AddressInfo).port}/steal`;
    const { at } = await startRedirecting(() => target, status);
    const walk = await beginMcpWalk({ s: { url: `${at()}/mcp`, headers: { 'x-key': 'secret' } } }, []);
    expect(walk.mcp.get('s')).toMatchObject({ state: 'failed' });
    expect(walk.mcp.get('s')?.problem).toContain(`it redirects to ${target}, which is not followed`);
    expect(seen).toEqual([]);
  },
);

test('a redirect on the same server is followed, but not endlessly', async () => {
  const { url } = await startModernHttp();
  const within = createServer((incoming, response) => {
    const isMoved = incoming.url === '/old';
    if (isMoved) return void response.writeHead(307, { location: '/mcp' }).end();
    const onward = httpRequest(url, { method: incoming.method ?? 'GET', headers: incoming.headers }, (received) => {
      response.writeHead(received.statusCode ?? 500, received.headers);
      received.pipe(response);
    });
    onward.on('error', () => response.destroy());
    response.on('close', () => onward.destroy());
    incoming.pipe(onward);
  });
  await new Promise<void>((ready) => within.listen(0, '127.0.0.1', ready));
  atTestEnd(async () => {
    within.closeAllConnections();
    within.close();
  });
  const endless = await startRedirecting(() => '/again', 307);
  const walk = await beginMcpWalk(
    {
      s: { url: `http://127.0.0.1:${(within.address() as AddressInfo).port}/old` },
      endless: { url: `${endless.at()}/mcp` },
    },
    [call('s__add', { a: 2, b: 3 }), done],
  );
  await walk.go();
  expect(walk.results()[0]).toContain('5');
  expect(walk.mcp.get('endless')?.problem).toContain('it redirects again and again');
});

test('a server on a Unix socket that redirects to the network is not followed', async () => {
  const socket = join(await mkdtemp(join(tmpdir(), 'earshot-mcp-')), 's.sock');
  const server = createServer((_request, response) => {
    response.writeHead(307, { location: 'http://169.254.169.254/latest' }).end();
  });
  await new Promise<void>((ready) => server.listen(socket, ready));
  atTestEnd(async () => void server.close());
  const walk = await beginMcpWalk({ s: { url: `unix:${socket}#/mcp`, headers: { 'x-key': 'secret' } } }, []);
  expect(walk.mcp.get('s')?.problem).toContain('it redirects to http://169.254.169.254/latest, which is not followed');
});

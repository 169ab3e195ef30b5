// fetch_url against real servers: refusals, redirects, limits, and pages as text.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { isLocalAddress, isLocalHost } from '../../../src/core/consent/addresses.ts';
import { judge } from '../../../src/core/consent/approvalPolicy.ts';
import { type ToolContext } from '../../../src/core/ports/ports.ts';
import { readSettings } from '../../../src/protocol/settings.ts';
import { htmlToText } from '../../../src/tools/fetching/htmlText.ts';
import { createFetchUrlTool } from '../../../src/tools/fetchUrl.ts';
import { createFolderWorkspace } from '../../support/workspace/folderWorkspace.ts';
import { createMemoryPermissions } from '../../support/tools/memoryPermissions.ts';

let server: Server;
let base: string;
let handle: (request: IncomingMessage, response: ServerResponse) => void;
let names: Record<string, string>;

beforeEach(async () => {
  server = createServer((request, response) => handle(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  names = {};
});
afterEach(
  () =>
    new Promise((resolve) => {
      server.closeAllConnections();
      server.close(resolve);
    }),
);

const tool = createFetchUrlTool({
  lookup: async (name) => [{ address: names[name] ?? name, family: (names[name] ?? name).includes(':') ? 6 : 4 }],
});

async function fetched(url: string, more: object = {}, signal = new AbortController().signal) {
  const parsed = tool.parse({ url, ...more });
  if (!parsed.ok) throw new Error(parsed.failure.message);
  return tool.run(parsed.value, { signal, progress: () => undefined } as unknown as ToolContext);
}

const send = (type: string, body: string | Buffer, headers: object = {}) => {
  handle = (_request, response) => {
    response.writeHead(200, { 'content-type': type, ...headers });
    response.end(body);
  };
};

test('text, JSON and pages are read, also compressed and in other charsets', async () => {
  send('application/json', '{"tea": 1}');
  expect(await fetched(`${base}/a`)).toEqual({
    content: `${base}/a (200, application/json):\n{"tea": 1}`,
    isError: false,
  });
  send('text/html; charset=utf-8', gzipSync('<title>Tea</title><h1>Green</h1><script>x()</script>'), {
    'content-encoding': 'gzip',
  });
  expect((await fetched(`${base}/`)).content).toBe(`${base}/ (200, text/html):\nTea\n\n# Green`);
  send('text/plain; charset=iso-8859-1', Buffer.from([0x74, 0xe9]));
  expect((await fetched(`${base}/`)).content).toContain('té');
});

test('a long text comes in parts; one too long to fetch is cut with a note; binary data is refused', async () => {
  const text = Array.from({ length: 30_000 }, (_, index) => String.fromCharCode(97 + (index % 26))).join('');
  send('text/plain', text);
  const first = await fetched(base);
  expect(first.content).toMatch(/\(It goes on: start 20000 of 30000\.\)$/);
  const second = await fetched(base, { start: 20_000 });
  expect(second.content.split('\n')[1]).toBe(text.slice(20_000));
  send('text/plain', gzipSync('a'.repeat(50_000_000)), { 'content-encoding': 'gzip' });
  expect((await fetched(base, { start: 1_999_000 })).content).toMatch(/\(The rest was too long to fetch\.\)$/);
  send('image/png', Buffer.from([0x89, 0x50]));
  expect(await fetched(base)).toEqual({
    content: `${base}/ is not text (image/png, 2 bytes).`,
    isError: true,
    failure: 'not_text',
  });
});

test('a broken response is reported as such, not as unreachable', async () => {
  handle = (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/plain', 'content-length': '100' });
    response.write('half of it', () => response.destroy());
  };
  const { content, isError } = await fetched(`${base}/`);
  expect(isError).toBe(true);
  expect(content).toMatch(/was not fetched: the connection broke after 10 bytes of the answer \(.+\)\. Try again\.$/);
});

test('redirects are followed a few times, checked each time, and not to another local address', async () => {
  handle = (request, response) => {
    const number = Number(request.url?.slice(1) ?? 0);
    response.writeHead(number < 3 ? 302 : 200, { 'content-type': 'text/plain', location: `/${number + 1}` });
    response.end('there');
  };
  expect((await fetched(`${base}/0`)).content).toBe(`${base}/3 (200, text/plain):\nthere`);
  const to = (location: string) => {
    handle = (_request, response) => {
      response.writeHead(302, { location });
      response.end();
    };
  };
  for (const target of [
    'http://127.0.0.1:1/x',
    'http://169.254.169.254/latest/meta-data',
    'http://[::1]/',
    'http://inner.example/',
  ]) {
    names = { 'inner.example': '10.0.0.7' };
    to(target);
    const { content, isError } = await fetched(base);
    expect([target, isError, content]).toEqual([
      target,
      true,
      expect.stringContaining('of this machine or the network around it'),
    ]);
  }
  to('file:///etc/passwd');
  expect((await fetched(base)).content).toContain('only http and https can be fetched, not file:');
  to(`${base}/again`);
  expect((await fetched(base)).content).toContain('led on more than 5 times');
});

test('a name that resolves to a local address is refused; the address itself needs approval in every mode', async () => {
  names = { 'rebound.example': '127.0.0.1', 'mapped.example': '::ffff:10.1.2.3' };
  for (const name of Object.keys(names))
    expect((await fetched(`http://${name}/`)).content).toContain('resolves to an address');
  const { settings } = readSettings((name) => (name === 'approvals.mode' ? 'all' : undefined));
  const deps = {
    conversation: 'c',
    settings,
    workspace: createFolderWorkspace('/nowhere'),
    hidden: { hides: () => false },
    permissions: createMemoryPermissions(),
    shell: 'sh' as const,
  };
  const verdict = (url: string) => judge(deps, tool, { url });
  expect(await verdict('http://localhost:3000/')).toEqual({
    type: 'ask',
    reason: 'localhost is this machine or the network around it.',
    letIn: [],
  });
  expect(await verdict('https://example.com/')).toEqual({ type: 'allowed' });
  const asking = { ...deps, settings: { ...settings, 'approvals.mode': 'reads' as const } };
  expect(await judge(asking, tool, { url: 'https://example.com/a?b' })).toMatchObject({
    type: 'ask',
    always: { rule: 'url:https://example.com', label: 'https://example.com' },
  });
});

test('invalid URLs, passwords, failures and timeouts are reported; cancelling ends the request', async () => {
  expect((await fetched('tea')).content).toBe('url: tea is no address. Begin it with https://.');
  expect((await fetched('ftp://example.com')).content).toBe('url: only http and https can be fetched, not ftp:');
  expect((await fetched('https://me:word@example.com')).content).toContain('a name or a password');
  handle = (_request, response) => {
    response.writeHead(404, { 'content-type': 'text/plain' });
    response.end('no such tea');
  };
  expect(await fetched(base)).toEqual({
    content: `${base}/ (404, text/plain):\nno such tea`,
    isError: true,
    failure: 'http_error',
  });
  handle = (_request, response) => response.destroy();
  expect((await fetched(base)).content).toMatch(/cannot be reached: /);
  const stop = new AbortController();
  handle = () => stop.abort();
  expect((await fetched(base, {}, stop.signal)).content).toBe('Cancelled by the user.');
});

describe('local addresses', () => {
  const local =
    '127.0.0.1 10.1.1.1 172.16.0.1 172.31.9.9 192.168.1.1 169.254.169.254 100.64.0.1 0.0.0.0 224.0.0.1 ::1 :: fe80::1 fc00::1 ::ffff:127.0.0.1 ::ffff:7f00:1 64:ff9b::a00:1 2002:7f00:1:: 2001:db8::1 nonsense::x';
  const open = '8.8.8.8 172.32.0.1 100.128.0.1 193.168.1.1 2606:4700::1111 ::ffff:8.8.8.8 2001:4860:4860::8888';
  test.each(local.split(' '))('%s is local', (address) => expect(isLocalAddress(address)).toBe(true));
  test.each(open.split(' '))('%s is not local', (address) => expect(isLocalAddress(address)).toBe(false));
  test.each(['localhost', 'LOCALHOST.', 'a.localhost', 'printer', 'nas.local', '[::1]', '127.1.2.3'])(
    '%s is local',
    (host) => expect(isLocalHost(host)).toBe(true),
  );
  test('URL parsing normalizes other spellings of 127.0.0.1', () => {
    for (const host of ['2130706433', '0x7f.1', '0177.0.0.1', '127.1']) {
      expect([host, isLocalHost(new URL(`http://${host}/`).hostname)]).toEqual([host, true]);
    }
    expect(isLocalHost('example.com')).toBe(false);
  });
});

describe('a page as text', () => {
  test('headings, lists, links, code, tables and entities are converted', () => {
    const page = `<!doctype html><html><head><title>Tea &amp; more</title><style>p{}</style></head><body>
      <nav><a href="/local">Home</a></nav><!-- <p>hidden</p> --><h2>Kinds</h2><p>Green   and
      <a href="https://example.com/b?x=1&amp;y=2">black</a>.<br>Hot&nbsp;&#8364;&#x41;&bogus;&toString;</p>
      <ul><li>one<li>two</ul><pre>  keep
    this</pre><table><tr><td>a</td><td>b</td></tr></table><img alt="a cup"><p data-x="a > b">end</p></body></html>`;
    expect(htmlToText(page)).toBe(
      '# Tea & more\n\nHome\n\n## Kinds\n\nGreen and black (https://example.com/b?x=1&y=2).\nHot €A&bogus;&toString;\n\n- one\n- two\n\n```\n  keep\n    this\n\n```\n\na | b |\n\na cup\n\nend',
    );
  });

  test('broken and malicious pages are read quickly', () => {
    for (const evil of [
      '<'.repeat(300_000),
      '<a "'.repeat(60_000),
      '<!--'.repeat(60_000),
      '<div>'.repeat(60_000),
      '&#'.repeat(100_000),
    ]) {
      const begun = performance.now();
      htmlToText(evil);
      expect(performance.now() - begun).toBeLessThan(5000);
    }
  });
});

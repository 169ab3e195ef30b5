// Addresses under which a browser may reach the web chat: under a forwarded path, under another host, and addresses
// that lead elsewhere.
import { createServer } from 'node:http';
import { type AddressInfo } from 'node:net';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { probeWebChat, untilServed } from '../../../src/vscode/plugins/webChatAddress.ts';
import { createPageFiles } from '../../../src/webchat/pageFiles.ts';
import { WebServer } from '../../../src/webchat/webServer.ts';
import { startPathProxy } from '../../host/editor/pathProxy.ts';
import { atTestEnd } from '../../support/endings.ts';
import { createManualClock } from '../../support/manualClock.ts';
import { sendRaw } from '../../support/webchat/rawRequest.ts';
import { freePort, KEY, TOKEN } from '../../support/webchat/webChatWorld.ts';

interface Served {
  readonly port: number;
  /** The hosts that the user allows; applied when a request is refused. */
  readonly settings: { hosts: string[] };
}

async function serve(): Promise<Served> {
  const settings = { hosts: [] as string[] };
  const rules = { hosts: [] as readonly string[] };
  const port = await freePort();
  const server = new WebServer({
    key: KEY,
    now: () => 0,
    warn: (text) => expect.fail(text),
    rules,
    refreshRules: async () => {
      rules.hosts = [...settings.hosts];
    },
    file: createPageFiles({ root: resolve(import.meta.dirname, '../../..'), language: 'en' }),
    openStream: () => ({ dispose: () => undefined }),
    receive: async () => undefined,
    posting: () => undefined,
    report: (error) => {
      throw error;
    },
  });
  await server.listen(port);
  atTestEnd(() => server.close());
  return { port, settings };
}

test('an address that leads to this web chat is distinguished from one that leads elsewhere', async () => {
  const { port } = await serve();
  const proxy = await startPathProxy();
  atTestEnd(() => proxy.close());
  const reach = async (address: string, key = KEY) => (await probeWebChat(address, key)).reach;
  expect(await reach(`http://127.0.0.1:${port}/`)).toBe('reached');
  expect(await reach(proxy.address(port))).toBe('reached');
  // The web chat of another window has another key.
  expect(await reach(`http://127.0.0.1:${port}/`, `${KEY}-other`)).toBe('unknown');
  // The server of `npm start` without its front end serves other things at that address.
  expect(await reach(`http://127.0.0.1:${proxy.port}/nothing/${port}/`)).toBe('missing');
  expect(await reach(`http://127.0.0.1:${await freePort()}/`)).toBe('unknown');
});

test('the target of a proxy that requires a sign-in is unknown, since a browser may still reach it', async () => {
  const signIn = createServer((_, response) => void response.writeHead(302, { location: '/login' }).end());
  await new Promise<void>((done) => signIn.listen(0, '127.0.0.1', done));
  atTestEnd(async () => void signIn.close());
  const { port } = signIn.address() as AddressInfo;
  expect(await probeWebChat(`http://127.0.0.1:${port}/proxy/1/`, KEY)).toMatchObject({ reach: 'unknown' });
});

test('behind a proxy with its own host, origin and path everything works once the user allows that host, without a restart', async () => {
  const { port, settings } = await serve();
  const proxy = await startPathProxy();
  atTestEnd(() => proxy.close());
  const host = `code.example.test:${proxy.port}`;
  const at = (path: string, headers: Readonly<Record<string, string>> = {}, post?: string) =>
    sendRaw(
      proxy.port,
      `/proxy/${port}/${path}`,
      { host, ...headers },
      post === undefined ? {} : { method: 'POST', body: post },
    );
  const own = { origin: `http://${host}`, 'sec-fetch-site': 'same-origin', authorization: `Bearer ${TOKEN}` };
  expect((await at('')).status).toBe(403);
  const probed = await at('probe?text=abc');
  expect([probed.status, probed.headers['x-earshot']]).toEqual([403, expect.any(String)]);
  settings.hosts.push('code.example.test');
  const page = await at('');
  expect(page.status).toBe(200);
  // A path that begins with a slash would leave the path of the proxy.
  const addresses = [...page.body.matchAll(/(?:href|src)="([^"]*)"/g)].map(([, address]) => address);
  expect(addresses.length).toBeGreaterThan(5);
  expect(addresses.filter((address) => !/^(media|webview)\//.test(address ?? ''))).toEqual([]);
  expect((await at('media/chat.css')).status).toBe(200);
  expect((await at('stream?page=page-0001&since=0&conversation=', own)).status).toBe(200);
  const json = { ...own, 'content-type': 'application/json' };
  expect((await at('messages?page=page-0001', json, '{"type":"stop"}')).status).toBe(204);
  const foreign = { ...json, origin: 'https://evil.test', 'sec-fetch-site': 'cross-site' };
  expect((await at('messages?page=page-0001', foreign, '{"type":"stop"}')).status).toBe(403);
  settings.hosts.length = 0;
});

test('the time that answers take counts to the time limit of the start', async () => {
  const clock = createManualClock();
  const begun = clock.now();
  const hurried = {
    ...clock,
    after: (milliseconds: number, run: () => void) => {
      const timer = clock.after(milliseconds, run);
      queueMicrotask(() => clock.advance(milliseconds));
      return timer;
    },
  };
  const isServed = async () => {
    clock.advance(3000);
    return false;
  };
  expect(await untilServed(hurried, { isServed, hasFailed: () => false })).toBe('late');
  expect(clock.now() - begun).toBeLessThanOrEqual(23_000);
  expect(await untilServed(hurried, { isServed, hasFailed: () => true })).toBe('failed');
  expect(await untilServed(hurried, { isServed: async () => true, hasFailed: () => false })).toBe('served');
});

// Requests to the web chat that must be refused or accepted: foreign origins, rebound names, forms, wrong tokens.
import { resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createPageFiles } from '../../../src/webchat/pageFiles.ts';
import { WebServer } from '../../../src/webchat/webServer.ts';
import { fromPageSchema } from '../../../src/protocol/webview.ts';
import { sendRaw } from '../../support/webchat/rawRequest.ts';
import { freePort, TOKEN } from '../../support/webchat/webChatWorld.ts';

const world = { port: 0 };
let server: WebServer;
beforeAll(async () => {
  world.port = await freePort();
  server = new WebServer({
    rules: { token: TOKEN, hosts: ['chat.example.test', 'tunnel.test:8443'] },
    refreshRules: async () => undefined,
    file: createPageFiles({ root: resolve(import.meta.dirname, '../../..'), language: 'en' }),
    openStream: () => ({ dispose: () => undefined }),
    receive: async (_page, message) => (fromPageSchema.safeParse(message).success ? undefined : 'no message'),
    report: (error) => {
      throw error;
    },
  });
  await server.listen(world.port);
});
afterAll(() => server.close());

const send = (...sent: Parameters<typeof sendRaw> extends [number, ...infer Rest] ? Rest : never) =>
  sendRaw(world.port, ...sent);

const token = { authorization: `Bearer ${TOKEN}` };
const stream = '/stream?page=page-0001&since=0&conversation=';
const messages = '/messages?page=page-0001';
const json = { 'content-type': 'application/json' };

test('the page and the stream are served under the names of this machine and the allowed hosts, with any forwarded port', async () => {
  const own = `127.0.0.1:${world.port}`;
  for (const host of [
    own,
    `localhost:${world.port}`,
    'localhost:8080',
    '[::1]:9',
    'chat.example.test',
    'chat.example.test:444',
    'tunnel.test:8443',
  ]) {
    expect([host, (await send('/', { host })).status]).toEqual([host, 200]);
    expect([
      host,
      (await send(stream, { host, ...token, origin: `http://${host}`, 'sec-fetch-site': 'same-origin' })).status,
    ]).toEqual([host, 200]);
  }
  // A tunnel that changes Host and keeps Origin.
  expect((await send(stream, { host: own, ...token, origin: 'https://chat.example.test' })).status).toBe(200);
});

test('a foreign name that resolves to this machine is refused, even with the token', async () => {
  for (const host of [
    'evil.test',
    `evil.test:${world.port}`,
    '127.0.0.1.evil.test',
    'localhost.evil.test',
    'xlocalhost',
    'tunnel.test:1',
    'a b',
    'localhost:80:80',
    'localhost@evil.test',
  ]) {
    expect([host, (await send('/', { host })).status]).toEqual([host, 403]);
    expect([host, (await send(stream, { host, ...token })).status]).toEqual([host, 403]);
  }
});

test('requests of other pages are refused, even with the token', async () => {
  const host = `127.0.0.1:${world.port}`;
  for (const origin of [
    'https://evil.test',
    'null',
    'http://localhost:3000',
    `https://127.0.0.1:${world.port}.evil.test`,
    'file://',
    `http://${host}/x`,
  ]) {
    expect([origin, (await send(stream, { host, ...token, origin })).status]).toEqual([origin, 403]);
    expect([
      origin,
      (await send(messages, { host, ...token, ...json, origin }, { method: 'POST', body: '{"type":"stop"}' })).status,
    ]).toEqual([origin, 403]);
  }
  for (const site of ['cross-site', 'same-site', 'none']) {
    expect([site, (await send(stream, { host, ...token, 'sec-fetch-site': site })).status]).toEqual([site, 403]);
    expect([site, (await send('/webview/web.js', { host, 'sec-fetch-site': site })).status]).toEqual([site, 403]);
  }
  // A link may open the page, but a frame may not contain it.
  expect(
    (
      await send('/', {
        host,
        'sec-fetch-site': 'cross-site',
        'sec-fetch-mode': 'navigate',
        'sec-fetch-dest': 'document',
      })
    ).status,
  ).toBe(200);
  expect(
    (
      await send('/', {
        host,
        'sec-fetch-site': 'cross-site',
        'sec-fetch-mode': 'navigate',
        'sec-fetch-dest': 'iframe',
      })
    ).status,
  ).toBe(403);
  expect((await send('/', { host, 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' })).status).toBe(403);
});

test('a missing or wrong token is refused, wherever it is sent', async () => {
  const host = `127.0.0.1:${world.port}`;
  for (const headers of [
    {},
    { authorization: 'Bearer ' },
    { authorization: `Bearer ${TOKEN}x` },
    { authorization: `Basic ${TOKEN}` },
    { cookie: `token=${TOKEN}` },
  ]) {
    expect((await send(stream, { host, ...headers })).status).toBe(401);
    expect((await send(`${stream}&token=${TOKEN}`, { host, ...headers })).status).toBe(401);
    expect(
      (await send(messages, { host, ...json, ...headers }, { method: 'POST', body: '{"type":"stop"}' })).status,
    ).toBe(401);
  }
});

test('forms, other methods, unknown paths and malformed messages are refused', async () => {
  const host = `127.0.0.1:${world.port}`;
  const post = { method: 'POST', body: '{"type":"stop"}' };
  for (const type of ['application/x-www-form-urlencoded', 'multipart/form-data', 'text/plain', '']) {
    expect([type, (await send(messages, { host, ...token, 'content-type': type }, post)).status]).toEqual([type, 415]);
  }
  expect((await send(messages, { host, ...token }, { method: 'GET' })).status).toBe(405);
  expect((await send(stream, { host, ...token, ...json }, post)).status).toBe(405);
  expect((await send(stream, { host, ...token }, { method: 'OPTIONS' })).status).toBe(405);
  for (const path of [
    '/media/../package.json',
    '/media/%2e%2e/package.json',
    '/webview/..%2fextension.js',
    '/media/l10n/x.json',
    '/etc/passwd',
    '//evil.test/',
    '/stream/',
  ]) {
    expect([path, (await send(path, { host })).status]).toEqual([path, 404]);
  }
  expect((await send('/messages?page=x', { host, ...token, ...json }, post)).status).toBe(400);
  for (const body of ['', '{', '[]', 'null', '{"type":"send"}', `{"type":"send","text":"${'x'.repeat(1_000_001)}"}`]) {
    expect([
      body.slice(0, 30),
      (await send(messages, { host, ...token, ...json }, { method: 'POST', body })).status,
    ]).toEqual([body.slice(0, 30), 400]);
  }
  const huge = send(messages, { host, ...token, ...json }, { method: 'POST', body: 'x'.repeat(9 * 1024 * 1024) });
  expect((await huge.catch(() => ({ status: 413 }))).status).toBe(413);
});

test('no answer can be framed, cached or sniffed, or can run a script from elsewhere', async () => {
  const host = `127.0.0.1:${world.port}`;
  for (const path of ['/', '/nothing', stream]) {
    const { headers } = await send(path, { host, ...token });
    expect(headers).toMatchObject({
      'x-frame-options': 'DENY',
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'cross-origin-resource-policy': 'same-origin',
    });
    expect(headers['content-security-policy']).toContain(`default-src 'none'; script-src 'self'`);
    expect(headers).not.toHaveProperty('access-control-allow-origin');
  }
  expect((await send('/', { host })).body).not.toContain(TOKEN);
});

// Requests to the web chat that must be refused or accepted: foreign origins, rebound names, forms, wrong tokens.
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createPageFiles } from '../../../src/webchat/pageFiles.ts';
import { PostedLines } from '../../../src/webchat/postedLines.ts';
import { WebServer } from '../../../src/webchat/webServer.ts';
import { fromPageSchema } from '../../../src/protocol/webview.ts';
import { notifyToken, spoolFolder } from '../../../src/node/scripts/scriptSpool.ts';
import { sendRaw } from '../../support/webchat/rawRequest.ts';
import { freePort, KEY, TOKEN } from '../../support/webchat/webChatWorld.ts';

const world = { port: 0, home: '', time: 0, on: true, warnings: [] as string[] };
let posted: PostedLines;
let server: WebServer;
beforeAll(async () => {
  world.port = await freePort();
  world.home = await mkdtemp(join(tmpdir(), 'earshot-post-'));
  posted = new PostedLines({ folder: world.home, home: world.home, now: () => world.time });
  server = new WebServer({
    key: KEY,
    now: () => world.time,
    warn: (text) => world.warnings.push(text),
    rules: { hosts: ['chat.example.test', 'tunnel.test:8443'] },
    refreshRules: async () => undefined,
    file: createPageFiles({ root: resolve(import.meta.dirname, '../../..'), language: 'en' }),
    openStream: () => ({ dispose: () => undefined }),
    receive: async (_page, message) => (fromPageSchema.safeParse(message).success ? undefined : 'no message'),
    posting: () => (world.on ? posted : undefined),
    report: (error) => {
      throw error;
    },
  });
  await server.listen(world.port);
});
afterAll(async () => {
  await server.close();
  await rm(world.home, { recursive: true, force: true });
});

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

const entries = async () => {
  const folder = spoolFolder(world.home);
  const names = (await readdir(folder).catch((): string[] => [])).filter((name) => name.endsWith('.json')).sort();
  return Promise.all(names.map(async (name) => JSON.parse(await readFile(join(folder, name), 'utf8')) as unknown));
};

test('a line is accepted only with its own token, which opens nothing else, and only if the user allows it', async () => {
  const host = `127.0.0.1:${world.port}`;
  const own = { authorization: `Bearer ${await notifyToken(world.home)}` };
  const body = 'deployed';
  const posting = (headers: Record<string, string>, more: { readonly body?: string; readonly method?: string } = {}) =>
    send('/notify', { host, ...headers }, { method: 'POST', body, ...more });
  world.on = false;
  expect((await posting(own)).status).toBe(404);
  world.on = true;
  expect((await posting({})).status).toBe(401);
  expect((await posting(token)).status).toBe(401);
  expect((await send('/notify?token=x', { host }, { method: 'POST', body })).status).toBe(401);
  expect((await posting({ ...own, origin: 'https://evil.test' })).status).toBe(403);
  expect((await posting({ ...own, 'sec-fetch-site': 'cross-site' })).status).toBe(403);
  expect((await posting({ ...own, host: 'evil.test' })).status).toBe(403);
  expect((await send('/notify', { host, ...own })).status).toBe(405);
  expect((await send(stream, { host, ...own })).status).toBe(401);
  expect(await entries()).toEqual([]);
  expect(await posting({ ...own, title: 'prod', priority: '5' })).toMatchObject({ status: 202, body: '{"queued":0}' });
  const asJson = { ...own, ...json };
  const forged = { text: 'x', wake: true, grant: 'forged', dir: '/', data: { wake: true } };
  expect((await posting(asJson, { body: JSON.stringify(forged) })).status).toBe(202);
  expect(await entries()).toEqual([
    expect.objectContaining({ text: 'deployed', name: 'post', level: 'error', subject: 'prod' }),
    { at: expect.any(String) as string, dir: world.home, text: 'x', name: 'post', level: 'info', wake: true },
  ]);
  const wrong = [
    ['{', 'the body is no JSON object.'],
    ['{"text":""}', 'text: 1 to 2000 characters.'],
    ['{"text":"x","level":"critical"}', 'level: info, warning, error.'],
    ['{"text":"x","name":"tool.failed"}', 'name: 1 to 40 of a-z, 0-9, _ and -.'],
  ] as const;
  for (const [text, reason] of wrong) {
    expect(await posting(asJson, { body: text })).toMatchObject({ status: 400, body: `${reason}\n` });
  }
  const huge = posting(own, { body: 'x'.repeat(70_000) });
  expect((await huge.catch(() => ({ status: 413 }))).status).toBe(413);
  for (let count = 0; count < 30; count += 1) await posting(own);
  expect((await posting(own)).status).toBe(429);
  world.time += 60_000;
  expect((await posting(own)).status).toBe(202);
  expect((await stat(join(world.home, '.earshot', 'notify-token'))).mode & 0o777).toBe(0o600);
});

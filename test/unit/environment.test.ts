// Which parts of the environment reach the network: none. Every variable that a bundled library reads gets a canary, and
// a server of the test records every byte that Earshot sends.
import { spawn } from 'node:child_process';
import { createServer as createHttpServer } from 'node:http';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import * as esbuild from 'esbuild';
import { afterEach, expect, test } from 'vitest';
import { host, nodePrograms } from '../../esbuild.mjs';
import { builtProgram } from '../support/builtProgram.ts';
import { atTestEnd, endAll } from '../support/endings.ts';

const root = resolve(import.meta.dirname, '../..');
const CANARY = 'canary';

afterEach(endAll);

/** What names a variable that the text may read. */
const NAMES: readonly RegExp[] = [
  /\benv(?:\??\.|\??\.?\[\s*['"`])([A-Za-z_]\w*)/g,
  // Libraries read the environment through functions of their own, too.
  /['"`]([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*)['"`]/g,
  /['"`]([a-z]+_proxy)['"`]/g,
];
/** `const { NAME, other: local } = process.env`. */
const TAKEN = /\{([^{}]*)\}\s*=\s*[\w.]*\benv\b/g;

function namesIn(text: string): readonly string[] {
  if (!/env/i.test(text)) return [];
  const taken = [...text.matchAll(TAKEN)].flatMap(([, list = '']) => list.split(','));
  const names = taken.map((one) => /^\s*(\w+)/.exec(one)?.[1] ?? '');
  return [...names, ...NAMES.flatMap((pattern) => [...text.matchAll(pattern)].map(([, name = '']) => name))];
}

test.each([
  ['process.env.https_proxy', 'https_proxy'],
  ['env?.DEBUG', 'DEBUG'],
  ["env['DEBUG']", 'DEBUG'],
  ['process.env["no_proxy"]', 'no_proxy'],
  ['env?.[`Token`]', 'Token'],
  ["readEnv('DEBUG')", 'DEBUG'],
  ["['http', 'https'].map((one) => env[one]); readEnv('all_proxy')", 'all_proxy'],
  ['const { DEBUG, token: mine = "" } = process.env;', 'token'],
  ["const OPENAI = 'OPENAI_API_KEY'; read(env, OPENAI)", 'OPENAI_API_KEY'],
])('in %s the variable %s is found', (text, name) => {
  expect(namesIn(text)).toContain(name);
});

/** All names that libraries in the bundles may read. Too many names do no harm. */
async function findVariables(): Promise<readonly string[]> {
  // Only its types are used; its variables are tested nevertheless.
  const typed = 'node_modules/@anthropic-ai/sdk/client.js';
  const builds = [host, nodePrograms].map((options) =>
    esbuild.build({ ...options, absWorkingDir: root, write: false, metafile: true, logLevel: 'silent' }),
  );
  const inputs = (await Promise.all(builds)).flatMap(({ metafile }) => Object.keys(metafile.inputs));
  expect(inputs.filter((input) => input.includes('@anthropic-ai'))).toEqual([]);
  // Clients of HTTP read these by names that they compute.
  const names = new Set(['http', 'https', 'all', 'no'].map((one) => `${one}_proxy`));
  for (const input of new Set([...inputs, typed])) {
    if (!input.includes('node_modules/')) continue;
    const text = readFileSync(join(root, input), 'utf8');
    for (const name of namesIn(text)) names.add(name);
  }
  return [...names].filter((name) => name !== '' && !name.startsWith('NODE_'));
}

let found: Promise<readonly string[]> | undefined;
const variables = () => (found ??= findVariables());

async function listen(server: Server): Promise<number> {
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  atTestEnd(async () => void server.close());
  return (server.address() as AddressInfo).port;
}

interface Received {
  readonly url: string;
  readonly headers: Readonly<Record<string, unknown>>;
}

/** Answers as an endpoint, as an MCP server and as a page. */
async function startWeb(bytes: string[]): Promise<{ readonly address: string; readonly requests: Received[] }> {
  const requests: Received[] = [];
  const mcp: Readonly<Record<string, object>> = {
    initialize: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 's', version: '1' } },
    'tools/list': { tools: [{ name: 'one', inputSchema: { type: 'object' } }] },
  };
  const server = createHttpServer((request, response) => {
    const body: Buffer[] = [];
    request.on('data', (piece: Buffer) => body.push(piece));
    request.on('end', () => {
      const { url = '', headers, method = '', rawHeaders } = request;
      const text = Buffer.concat(body).toString();
      requests.push({ url, headers });
      bytes.push(method, url, ...rawHeaders, text);
      const json = (value: object) =>
        response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));
      if (url === '/v1/models') return json({ data: [{ id: 'm' }] });
      if (url === '/page') return response.writeHead(200, { 'content-type': 'text/plain' }).end('A page.');
      if (url === '/v1/chat/completions') {
        const choice = { index: 0, message: { role: 'assistant', content: 'Hi.' }, finish_reason: 'stop' };
        return json({ choices: [choice] });
      }
      if (url === '/v1/responses') {
        const item = { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hi.' }] };
        return json({ object: 'response', status: 'completed', output: [item] });
      }
      if (url === '/v1/messages') return json({ type: 'message', content: [{ type: 'text', text: 'Hi.' }] });
      if (method !== 'POST') return response.writeHead(405).end();
      const { id, method: called } = JSON.parse(text) as { id?: number; method: string };
      return id === undefined ? response.writeHead(202).end() : json({ jsonrpc: '2.0', id, result: mcp[called] ?? {} });
    });
  });
  return { address: `http://127.0.0.1:${await listen(server)}`, requests };
}

async function startNats(bytes: string[]): Promise<string> {
  const info = { server_id: 'x', version: '2.12.0', proto: 1, headers: true, max_payload: 1024 };
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy());
    socket.write(`INFO ${JSON.stringify(info)}\r\n`);
    socket.on('data', (piece) => {
      bytes.push(piece.toString());
      if (piece.includes('PING')) socket.write('PONG\r\n');
    });
  });
  return `127.0.0.1:${await listen(server)}`;
}

/** The forms of values that a library could use: a name or key, lines of headers, an address. */
const forms: Readonly<Record<string, (name: string, elsewhere: string) => string>> = {
  'a key': (name) => `${CANARY}-${name}`,
  headers: (name) =>
    ['Authorization', 'Accept', 'Content-Type', 'User-Agent', 'Cookie', `x-${name.toLowerCase()}`]
      .map((header) => `${header}: ${CANARY}/${name}`)
      .join('\n'),
  'an address': (_name, elsewhere) => `${elsewhere}/${CANARY}`,
};

test.each(Object.keys(forms))(
  'no variable that a library reads reaches a server if each of them holds %s',
  async (form) => {
    const names = await variables();
    expect(names).toEqual(expect.arrayContaining(['OPENAI_ORG_ID', 'OPENAI_CUSTOM_HEADERS', 'OPENAI_BASE_URL']));
    expect(names).toEqual(expect.arrayContaining(['ANTHROPIC_API_KEY', 'ANTHROPIC_CUSTOM_HEADERS']));
    const [bytes, elsewhere]: [string[], string[]] = [[], []];
    const web = await startWeb(bytes);
    const nats = await startNats(bytes);
    const other = await startWeb(elsewhere);
    const canaries = Object.fromEntries(names.map((name) => [name, forms[form]?.(name, other.address)]));
    const program = await builtProgram('test/support/models/sendEverything.ts');
    const child = spawn(process.execPath, ['--no-warnings', program, web.address, nats], {
      env: { ...process.env, ...canaries },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const output: Buffer[] = [];
    child.stdout.on('data', (piece: Buffer) => output.push(piece));
    await new Promise((ended) => child.once('close', ended));
    expect(JSON.parse(Buffer.concat(output).toString())).toEqual({
      chat: ['text', 'finished'],
      responses: ['text', 'finished'],
      messages: ['text', 'finished'],
      models: 1,
      tools: 1,
      page: expect.stringContaining('A page.') as string,
    });
    expect(bytes.filter((text) => text.includes(CANARY))).toEqual([]);
    expect(elsewhere).toEqual([]);
    expect(bytes.join('\n')).toContain('CONNECT {');
    const chat = web.requests.find(({ url }) => url === '/v1/chat/completions');
    expect(chat?.headers['authorization']).toBe('Bearer configured');
    const messages = web.requests.find(({ url }) => url === '/v1/messages');
    expect(messages?.headers['x-api-key']).toBe('configured');
    expect(web.requests.filter(({ url }) => url === '/mcp').every(({ headers }) => headers['x-team'] === 'tea')).toBe(
      true,
    );
  },
  60_000,
);

test.each([
  ['chat', ['authorization']],
  ['responses', ['authorization']],
  ['messages', ['authorization', 'x-api-key', 'anthropic-version', 'anthropic-beta']],
] as const)(
  'a request of %s has only the headers of an allow-list, and none that describes this machine',
  async (api, own) => {
    const web = await startWeb([]);
    const { createModel } = await import('../../src/models/model.ts');
    const given = { api, baseUrl: `${web.address}/v1`, model: 'claude-opus-5-5', apiKey: async () => 'k' };
    const request = { system: '', messages: [], tools: [] };
    await Array.fromAsync(createModel(given).stream(request, new AbortController().signal));
    // The last six are added by fetch itself.
    expect(Object.keys(web.requests[0]?.headers ?? {}).sort()).toEqual(
      [
        ...['accept', 'content-type', 'user-agent', ...own],
        ...['accept-encoding', 'accept-language', 'connection', 'content-length', 'host', 'sec-fetch-mode'],
      ].sort(),
    );
    expect(web.requests[0]?.headers['user-agent']).toBe('Earshot (VS Code extension)');
  },
);

// Questions of MCP servers to the user, approval of a workspace's servers, inputs, and instructions.
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { exportJson, exportMarkdown } from '../../../src/core/conversation/export.ts';
import { type Question } from '../../../src/core/ports/ports.ts';
import { readConfigValue } from '../../../src/mcp/config/configuration.ts';
import { type LaunchProof } from '../../../src/mcp/config/launch.ts';
import { elicit } from '../../../src/mcp/elicitation.ts';
import { type LogEvent } from '../../../src/protocol/event.ts';
import { atTestEnd } from '../../support/endings.ts';
import { beginMcpWalk, call, createTestMemory, servers } from '../../support/mcp/mcpWalk.ts';
import { eventsOf } from '../../support/walk/handleWalks.ts';

const done = { text: ['Done.'] };

test('an elicitation of the official everything server is one form, which is shown again after an answer that does not fit', async () => {
  const walk = await beginMcpWalk({ e: servers.everything() }, [call('e__trigger-elicitation-request'), done]);
  const answers = [JSON.stringify({}), JSON.stringify({ name: 'Ada', check: true, integer: 42 })];
  walk.headless.frontend.answerQuestion = async () => ({ answer: answers.shift() ?? '', by: 'user' });
  await walk.go();
  const { questions } = walk.headless.frontend;
  expect(questions).toHaveLength(2);
  expect(questions[0]?.text).toContain('The MCP server “e” asks: ');
  expect(questions[0]?.fields?.length).toBeGreaterThan(5);
  expect(questions[1]?.problem).toContain('is required.');
  const [result] = walk.results();
  expect(result).toContain('Ada');
  expect(result).toContain('42');
  const asked = await eventsOf(walk, 'inquiry_request');
  expect(asked.map(({ fields }) => fields?.length)).toEqual([questions[0]?.fields?.length]);
});

test('a server of the workspace needs approval of its command and hashes, and another one after a file has changed', async () => {
  const asked: { proof: LaunchProof; changed: boolean }[] = [];
  const memory = createTestMemory();
  let answer = false;
  const host = {
    memory,
    approve: async (_server: unknown, proof: LaunchProof, changed: boolean) => {
      asked.push({ proof, changed });
      return answer;
    },
  };
  const walk = await beginMcpWalk({}, [], { host, ofWorkspace: true });
  const script = join(walk.headless.folder, 'server.mjs');
  await writeFile(script, 'process.exit(1)');
  const begin = () =>
    beginMcpWalk({ s: { command: process.execPath, args: [script] } }, [], { host, ofWorkspace: true });
  const refused = await begin();
  expect(refused.mcp.get('s')?.state).toBe('approval');
  expect(asked[0]?.proof.files.map(({ path }) => path)).toEqual([process.execPath, script]);
  expect(asked[0]?.proof.files[1]?.sha256).toMatch(/^[0-9a-f]{64}$/);
  answer = true;
  await begin();
  await begin();
  expect(asked).toHaveLength(2);
  await writeFile(script, 'process.exit(2)');
  await begin();
  expect(asked).toHaveLength(3);
  expect(asked[2]?.changed).toBe(true);
});

test.each([{ inputs: [] }, { inputs: [{ type: 'promptString', id: 'k' }] }])(
  'if a file changes while the user is asked ($inputs.length inputs), the approval is asked for again before anything starts',
  async ({ inputs }) => {
    const walk = await beginMcpWalk({}, []);
    const [script, ran] = [join(walk.headless.folder, 'server.mjs'), join(walk.headless.folder, 'ran')];
    const write = (text: string) =>
      writeFile(script, `import { appendFileSync } from 'node:fs'; appendFileSync(${JSON.stringify(ran)}, '${text}');`);
    await write('approved');
    let asked = 0;
    const askedAgain = Promise.withResolvers<void>();
    const changeOnce = async () => {
      if (asked === 1) await write('changed');
      return '';
    };
    const host = {
      approve: async () => {
        asked += 1;
        if (asked === 2) askedAgain.resolve();
        if (inputs.length === 0) await changeOnce();
        return asked === 1;
      },
      variables: () => ({ ...noVariables, input: changeOnce }),
    };
    const config = { command: process.execPath, args: [script, ...inputs.map(({ id }) => `\${input:${id}}`)] };
    await beginMcpWalk({ s: config }, [], { host, ofWorkspace: true, inputs });
    await askedAgain.promise;
    await expect(readFile(ran, 'utf8')).rejects.toThrow('ENOENT');
  },
);

const noVariables = { folder: undefined, folders: [], environment: process.env, setting: () => undefined };

test('in an untrusted workspace no server starts, and no input is asked for', async () => {
  const asked: string[] = [];
  const host = {
    isTrusted: () => false,
    variables: () => ({
      folder: undefined,
      folders: [],
      environment: process.env,
      input: async (id: string) => {
        asked.push(id);
        return 'value';
      },
      setting: () => undefined,
    }),
  };
  const config = { ...servers.scripted({ tools: [{ name: 'echo' }] }), env: { KEY: '${input:key}' } };
  const inputs = [{ type: 'command', id: 'key', command: 'workbench.action.terminal.sendSequence' }];
  const walk = await beginMcpWalk({}, [done], { host });
  const { servers: configured } = readConfigValue({ servers: { s: config }, inputs }, { label: 'x', workspace: false });
  await walk.mcp.configure(configured);
  await walk.go();
  expect(walk.mcp.get('s')).toMatchObject({ state: 'off', problem: 'the workspace is not trusted' });
  expect([asked, walk.serverLog, walk.offered(0).filter((name) => name.startsWith('s__'))]).toEqual([[], [], []]);
});

test('no request, no file of the conversation and no export contains values of inputs', async () => {
  const secret = 'canary-input-77ab02c1';
  const variables = () => ({
    folder: undefined,
    folders: [],
    environment: process.env,
    input: async () => secret,
    setting: () => undefined,
  });
  const headers: unknown[] = [];
  const http = createServer((request, response) => {
    headers.push(request.headers['x-key']);
    response.writeHead(500).end();
  });
  await new Promise<void>((ready) => http.listen(0, '127.0.0.1', ready));
  atTestEnd(async () => void http.close());
  const walk = await beginMcpWalk(
    {
      s: { ...servers.scripted({ tools: [{ name: 'environment' }] }), env: { KEY: '${input:key}' } },
      h: { url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`, headers: { 'x-key': '${input:key}' } },
    },
    [call('s__environment', { name: 'KEY' }), done],
    { host: { variables }, inputs: [{ type: 'promptString', id: 'key', password: true }] },
  );
  await walk.go();
  expect(walk.results()).toEqual(['set']);
  expect(headers).toContain(secret);
  const { headless, id, server } = walk;
  const lines = (await headless.events(id)).trim().split('\n');
  const exported = { id, events: lines.map((line) => JSON.parse(line) as LogEvent) };
  const files = await readdir(headless.storage, { recursive: true, withFileTypes: true });
  // A file that is written whole has another name until then.
  const stored = files
    .filter((file) => file.isFile() && !file.name.endsWith('.tmp'))
    .map((file) => readFile(join(file.parentPath, file.name), 'utf8'));
  const written = [...(await Promise.all(stored)), ...server.requests.map(({ body }) => body)];
  expect(written.length).toBeGreaterThan(2);
  for (const text of [...written, exportMarkdown(exported), exportJson(exported)]) expect(text).not.toContain(secret);
  expect(exportMarkdown(exported)).toContain('s: environment');
});

test('every primitive type and enum of the protocol is a field of the form; accept, decline and cancel are passed on', async () => {
  const requestedSchema = {
    type: 'object',
    properties: {
      name: { type: 'string', title: 'Your name', description: 'As on the bill', minLength: 1, maxLength: 9 },
      mail: { type: 'string', format: 'email' },
      cups: { type: 'integer', minimum: 1, maximum: 9, default: 2 },
      share: { type: 'number', default: 'half' },
      milk: { type: 'boolean', default: true },
      tea: { type: 'string', enum: ['o', 'a'], enumNames: ['Oolong', 'Assam'], default: 'o' },
      size: { type: 'string', oneOf: [{ const: 's', title: 'Small' }, { const: 'l' }] },
      extras: { type: 'array', minItems: 1, items: { anyOf: [{ const: 'h', title: 'Honey' }] }, default: ['h'] },
      tags: { type: 'array', maxItems: 2, items: { type: 'string', enum: ['x', 'y'] } },
    },
    required: ['name', 'cups'],
  };
  const asked: Question[] = [];
  const answering = (answer: string | undefined) => ({
    ask: async (question: Question) => {
      asked.push(question);
      return answer;
    },
  });
  const elicited = (answer: string | undefined, schema: object = requestedSchema) =>
    elicit('s', { message: 'Tea?', requestedSchema: schema }, answering(answer), async () => true);
  expect(await elicited('{"name":"Ada","tags":["y"]}')).toEqual({
    action: 'accept',
    content: { name: 'Ada', cups: 2, milk: true, tea: 'o', extras: ['h'], tags: ['y'] },
  });
  expect(asked[0]?.fields).toEqual([
    { name: 'name', label: 'Your name', about: 'As on the bill', type: 'text', required: true, least: 1, most: 9 },
    { name: 'mail', label: 'mail', type: 'text', format: 'email', required: false },
    { name: 'cups', label: 'cups', type: 'integer', required: true, least: 1, most: 9, default: 2 },
    { name: 'share', label: 'share', type: 'number', required: false },
    { name: 'milk', label: 'milk', type: 'boolean', required: false, default: true },
    {
      name: 'tea',
      label: 'tea',
      type: 'choice',
      options: [
        { value: 'o', label: 'Oolong' },
        { value: 'a', label: 'Assam' },
      ],
      required: false,
      default: 'o',
    },
    {
      name: 'size',
      label: 'size',
      type: 'choice',
      options: [
        { value: 's', label: 'Small' },
        { value: 'l', label: 'l' },
      ],
      required: false,
    },
    {
      name: 'extras',
      label: 'extras',
      type: 'choices',
      options: [{ value: 'h', label: 'Honey' }],
      required: false,
      least: 1,
      default: ['h'],
    },
    {
      name: 'tags',
      label: 'tags',
      type: 'choices',
      options: [
        { value: 'x', label: 'x' },
        { value: 'y', label: 'y' },
      ],
      required: false,
      most: 2,
    },
  ]);
  expect(await elicited('')).toEqual({ action: 'decline' });
  expect(await elicited('cancel')).toEqual({ action: 'cancel' });
  expect(await elicited(undefined)).toEqual({ action: 'cancel' });
  asked.length = 0;
  const many = Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`f${index}`, { type: 'string' }]));
  expect(await elicited('{}', { type: 'object', properties: many })).toEqual({ action: 'decline' });
  expect(await elicited('{}', { type: 'object', properties: { x: { type: 'object' } } })).toEqual({
    action: 'decline',
  });
  expect(asked).toEqual([]);
});

test('a server that asks 200 questions in a call gets 20 answers', async () => {
  const walk = await beginMcpWalk({ s: servers.scripted({ tools: [{ name: 'flood' }] }) }, [call('s__flood'), done]);
  walk.headless.frontend.answerQuestion = async () => ({ answer: '{"tea":"Oolong"}', by: 'user' });
  await walk.go();
  expect(walk.headless.frontend.questions).toHaveLength(20);
  expect(JSON.parse(walk.results()[0] ?? '')).toEqual({ decline: 180, accept: 20 });
});

test('a page is opened only if it is on the web and the user chose to', async () => {
  const opened: string[] = [];
  const open = async (url: string) => {
    opened.push(url);
    return true;
  };
  const choose = (option: string) => ({ ask: async () => option });
  const asks = (url: string) => ({ mode: 'url', message: 'Sign in', url, elicitationId: '1' });
  expect(await elicit('s', asks('https://example.com/x'), choose('Open in browser'), open)).toEqual({
    action: 'accept',
  });
  expect(await elicit('s', asks('https://example.com/y'), choose('Decline'), open)).toEqual({ action: 'decline' });
  expect(await elicit('s', asks('vscode://evil'), choose('Open in browser'), open)).toEqual({ action: 'decline' });
  expect(opened).toEqual(['https://example.com/x']);
});

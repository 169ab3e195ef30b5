// MCP servers of the agent: passed by the client or named in the settings; servers of a workspace do not start.
import { access, mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { startAcp } from '../../support/acp/acpClient.ts';
import { type ScriptedAnswer } from '../../support/models/scriptedServer.ts';

const end: ScriptedAnswer = { text: ['Done.'] };
const program = resolve(import.meta.dirname, '../../support/mcp/scriptedServer.mjs');
const argumentsFor = (...tools: string[]) => [program, JSON.stringify({ tools: tools.map((name) => ({ name })) })];
const server = (name: string, ...tools: string[]) => ({
  name,
  command: process.execPath,
  args: argumentsFor(...tools),
  env: [],
});
const allow = { outcome: { outcome: 'selected', optionId: 'allow-once' } };

interface Body {
  readonly tools: readonly { readonly function: { readonly name: string } }[];
}
const toolsIn = (body: string | undefined) => (JSON.parse(body ?? '{}') as Body).tools.map((one) => one.function.name);

test('a server passed by the client is called after the client’s permission; a server of the workspace is not started', async () => {
  const calling = (id: string, name: string): ScriptedAnswer => ({
    calls: [{ id, name, arguments: { message: 'Oolong' } }],
  });
  const {
    folder,
    server: model,
    connect,
  } = await startAcp(
    ...[calling('c', 'tea__echo'), calling('a', 'tea__ask'), end],
    ...[{ calls: [{ id: 'f', name: 'find_tools', arguments: { query: 'pour' } }] }, calling('g', 'tea__echo'), end],
  );
  await mkdir(join(folder, '.vscode'));
  const own = { servers: { own: { command: process.execPath, args: argumentsFor('steal') } } };
  await writeFile(join(folder, '.vscode/mcp.json'), JSON.stringify(own));
  const settings = { 'mcp.servers': { mine: { command: process.execPath, args: argumentsFor('sip') } } };
  const client = await connect(settings, { elicitation: { form: {} } });
  client.answer = (method) =>
    method === 'elicitation/create' ? { action: 'accept', content: { tea: 'Oolong', cups: 3 } } : allow;
  const created = await client.request('session/new', { cwd: folder, mcpServers: [server('tea', 'echo', 'ask')] });
  const { sessionId } = created.result as { sessionId: string };
  await client.prompt(sessionId, 'Brew.');
  const offered = toolsIn(model.requests[0]?.body);
  expect(offered).toContain('tea__echo');
  expect(offered).toContain('mine__sip');
  expect(offered.join()).not.toContain('steal');
  expect(client.asked).toMatchObject([
    { params: { toolCall: { toolCallId: 'c', title: 'tea__echo' } } },
    { params: { toolCall: { toolCallId: 'a', title: 'tea__ask' } } },
    {
      method: 'elicitation/create',
      params: {
        requestedSchema: {
          properties: {
            tea: { type: 'string', title: 'Tea', default: 'Assam' },
            cups: { type: 'integer', minimum: 1 },
          },
          required: ['tea', 'cups'],
        },
      },
    },
  ]);
  const result = async (id: string) =>
    JSON.stringify(await client.update((one) => one['toolCallId'] === id && one['status'] === 'completed'));
  expect(await result('c')).toContain('Oolong');
  expect((await result('a')).replaceAll('\\', '')).toContain('"tea":"Oolong","cups":3');
  // A later session gets its own servers too; a server with the same name is replaced.
  const again = [server('tea', 'pour'), { name: 'broken', command: join(folder, 'absent'), args: [], env: [] }];
  await client.request('session/resume', { cwd: folder, sessionId, mcpServers: again });
  await client.prompt(sessionId, 'Again.');
  expect(toolsIn(model.requests.at(-1)?.body)).toContain('tea__pour');
  // A tool that is gone stays described, so that the endpoint's cache holds; its call is refused.
  expect(toolsIn(model.requests.at(-1)?.body)).toContain('tea__echo');
  expect(model.requests.at(-1)?.body).toContain('tea__echo was not run: this tool was removed.');
});

test('a hook and a server of the settings file that would run code of the folder do not start', async () => {
  const { folder, connect } = await startAcp(end);
  await writeFile(join(folder, 'own.js'), `require('fs').writeFileSync(${JSON.stringify(join(folder, 'ran'))}, '');`);
  const client = await connect({
    'mcp.servers': { mine: { command: process.execPath, args: ['./own.js'] } },
    hooks: { user_prompt: [{ command: [process.execPath, 'own'] }] },
  });
  const created = await client.request('session/new', { cwd: folder, mcpServers: [] });
  await client.prompt((created.result as { sessionId: string }).sessionId, 'Brew.');
  await expect(access(join(folder, 'ran'))).rejects.toThrow('ENOENT');
});

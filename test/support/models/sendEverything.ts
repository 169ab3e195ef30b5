// A program that makes one request of each kind to a server of the test: the three APIs of models, the list of models, an
// MCP server over HTTP, fetch_url, and NATS. Its libraries get the environment that the test gave to this process.
import { createModel } from '../../../src/models/model.ts';
import { listModels } from '../../../src/models/endpoints.ts';
import { openSession } from '../../../src/mcp/session/openSession.ts';
import { LIMITS } from '../../../src/mcp/session/sessionPort.ts';
import { fetchPage } from '../../../src/tools/fetching/fetchPage.ts';
import { connectNats } from '../../../src/hub/nats/natsConnection.ts';

const [, , web = '', nats = ''] = process.argv;
const { signal } = new AbortController();
const nothing = () => undefined;

async function ask(api: 'chat' | 'responses' | 'messages') {
  const model = createModel({ api, baseUrl: `${web}/v1`, model: 'claude-opus-5-5', apiKey: async () => 'configured' });
  const parts = await Array.fromAsync(model.stream({ system: '', messages: [], tools: [] }, signal));
  return parts.map(({ type }) => type);
}

const answers = { chat: await ask('chat'), responses: await ask('responses'), messages: await ask('messages') };
const models = await listModels({ baseUrl: `${web}/v1` }, 'configured');
const session = await openSession(
  {
    server: 's',
    identity: 's',
    launch: { type: 'http', url: new URL(`${web}/mcp`), headers: { 'x-team': 'tea' }, sseOnly: false },
    client: { name: 'Earshot', version: 'test' },
    limits: LIMITS,
    knownLegacy: true,
    listener: {
      ended: nothing,
      toolsChanged: nothing,
      promptsChanged: nothing,
      resourcesChanged: nothing,
      resourceUpdated: nothing,
      event: nothing,
      eventsChanged: nothing,
    },
    log: nothing,
    openExternal: async () => false,
  },
  signal,
);
const tools = await session.listTools();
await session.close();
const lookup = async () => [{ address: '127.0.0.1', family: 4 }];
const page = await fetchPage({ lookup }, { url: `${web}/page`, start: 0, most: 1000 }, { signal, progress: nothing });
const connection = await connectNats({ servers: [nats], name: 'hub', machine: 'here', tls: false });
await connection.close();
process.stdout.write(
  JSON.stringify({
    ...answers,
    models: models.ok && models.value.length,
    tools: tools.length,
    page: page.content,
  }),
);

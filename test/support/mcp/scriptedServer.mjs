// An MCP server of revision 2025-11-25 over stdio, without a library, whose first argument says how it misbehaves:
// { tools: [{name, annotations?}], resources?: {uri: text}, prompts?, updatesWith?: file, manyTools?, silent?,
// garbage?, oversized?, endsAtDiscover?, calls?: file, changing? }
import { appendFileSync, watch } from 'node:fs';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline';

const options = JSON.parse(process.argv[2] ?? '{}');
let number = 0;
const subscribed = new Set();
let asked;
/** How often each action was chosen as the answer. */
const flooded = {};

const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const text = (value) => ({ content: [{ type: 'text', text: value }] });

function tools() {
  const many = Array.from({ length: options.manyTools ?? 0 }, (_, index) => ({ name: `tool_${index}` }));
  const round = options.changing === undefined ? [] : [{ name: `round_${number}` }];
  return [...(options.tools ?? []), ...many, ...round].map((tool) => ({
    description: `The tool ${tool.name}.`,
    inputSchema: {
      type: 'object',
      ...(options.schemaSize !== undefined && { description: 'x'.repeat(options.schemaSize) }),
    },
    ...tool,
  }));
}

if (options.changing !== undefined) {
  setInterval(() => {
    number += 1;
    send({ method: 'notifications/tools/list_changed' });
  }, options.changing);
}
if (options.updatesWith !== undefined) {
  watch(dirname(options.updatesWith), () => {
    for (const uri of subscribed) send({ method: 'notifications/resources/updated', params: { uri } });
  });
}
if (options.garbage === true) process.stdout.write('Starting…\n{"not": "a message"}\n\xff\xfe[1,2]\n');

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

/** The actions of the tools, by name. */
const acts = {
  echo: ({ id, params }) => send({ id, result: text(String(params.arguments?.message ?? '')) }),
  never: () => undefined,
  die: () => process.kill(process.pid, 'SIGKILL'),
  huge: ({ id }) => send({ id, result: text('x'.repeat(options.oversized ?? 0)) }),
  announce: ({ id, params }) => {
    send({ method: 'notifications/claude/channel', params: { content: String(params.arguments?.message) } });
    send({ id, result: text('sent') });
  },
  ask: ({ id }) => {
    asked = id;
    const properties = {
      tea: { type: 'string', title: 'Tea', enum: ['Oolong', 'Assam'], default: 'Assam' },
      cups: { type: 'integer', title: 'Cups', minimum: 1, maximum: 9, default: 2 },
      note: { type: 'string', title: 'Note', description: 'For the kitchen', maxLength: 100 },
    };
    const requestedSchema = { type: 'object', properties, required: ['tea', 'cups'] };
    send({ id: 'question', method: 'elicitation/create', params: { message: 'What shall I order?', requestedSchema } });
  },
  flood: ({ id }) => {
    asked = id;
    const requestedSchema = { type: 'object', properties: { tea: { type: 'string' } } };
    for (let number = 0; number < 200; number++) {
      send({ id: `flood-${number}`, method: 'elicitation/create', params: { message: 'Tea?', requestedSchema } });
    }
  },
  flood_output: ({ id, params }) => {
    const { flood } = params.arguments;
    const lines = {
      notifications: '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}',
      channel: '{"jsonrpc":"2.0","method":"notifications/claude/channel","params":{"content":"x"}}',
      progress: JSON.stringify({
        jsonrpc: '2.0',
        method: 'notifications/progress',
        params: { progressToken: params._meta?.progressToken, progress: 1 },
      }),
      garbage: 'x',
      stderr: 'x',
    };
    const output = flood === 'stderr' ? process.stderr : process.stdout;
    const many = `${lines[flood]}\n`.repeat(1000);
    let left = flood === 'stderr' ? 300 : Number.POSITIVE_INFINITY;
    const more = () => {
      for (; left > 0; left -= 1) if (!output.write(many)) return void output.once('drain', more);
      send({ id, result: text('flooded') });
    };
    more();
  },
  environment: ({ id, params }) => {
    const value = process.env[params.arguments?.name];
    process.stderr.write(`The key is ${value}.\n`);
    send({ id, result: text(value === undefined ? 'not set' : 'set') });
  },
  blocks: ({ id, params }) => {
    const content = Array.from({ length: params.arguments.count }, (_, index) => ({ type: 'text', text: `${index}` }));
    send({ id, result: { content } });
  },
  picture: ({ id }) =>
    send({ id, result: { content: [{ type: 'image', data: options.picture ?? PIXEL, mimeType: 'image/png' }] } }),
  touch: ({ id, params }) => {
    const { uri, times = 1 } = params.arguments;
    options.resources[uri] = 'changed';
    for (let time = 0; time < times; time++) {
      if (subscribed.has(uri)) send({ method: 'notifications/resources/updated', params: { uri } });
    }
    send({ id, result: text(`touched; subscribed to ${[...subscribed].join(' ')}`) });
  },
};

createInterface({ input: process.stdin }).on('line', (line) => {
  const message = JSON.parse(line);
  const { id, method } = message;
  if (options.silent === true && method !== 'initialize') return;
  if (id === 'question') return send({ id: asked, result: text(`Answer: ${JSON.stringify(message.result)}`) });
  if (String(id).startsWith('flood-')) {
    flooded[message.result.action] = (flooded[message.result.action] ?? 0) + 1;
    const count = Object.values(flooded).reduce((sum, one) => sum + one, 0);
    return count === 200 ? send({ id: asked, result: text(JSON.stringify(flooded)) }) : undefined;
  }
  switch (method) {
    case 'server/discover':
      if (options.endsAtDiscover === true) process.exit(3);
      return send({ id, error: { code: -32601, message: 'Method not found' } });
    case 'initialize':
      return send({
        id,
        result: {
          protocolVersion: '2025-11-25',
          capabilities: {
            tools: { listChanged: true },
            ...(options.resources !== undefined && { resources: { subscribe: true } }),
            ...(options.prompts !== undefined && { prompts: {} }),
            ...(options.channel === true && { experimental: { 'claude/channel': {} } }),
          },
          serverInfo: { name: 'scripted', version: '1' },
          ...(options.instructions !== undefined && { instructions: options.instructions }),
        },
      });
    case 'ping':
      return options.deaf === true ? undefined : send({ id, result: {} });
    case 'resources/list':
      return send({ id, result: { resources: Object.keys(options.resources).map((uri) => ({ uri, name: uri })) } });
    case 'resources/read': {
      const { uri } = message.params;
      const found = options.resources[uri];
      // A number: so many parts.
      const contents = Array.from({ length: Number.isInteger(found) ? found : 0 }, () => ({ uri, text: 'x' }));
      if (contents.length > 0) return send({ id, result: { contents } });
      if (found === undefined) return send({ id, error: { code: -32002, message: 'Resource not found' } });
      return send({ id, result: { contents: [{ uri, text: found }] } });
    }
    case 'resources/subscribe':
    case 'resources/unsubscribe':
      subscribed[method.endsWith('unsubscribe') ? 'delete' : 'add'](message.params.uri);
      return send({ id, result: {} });
    case 'prompts/list':
      return send({ id, result: { prompts: options.prompts } });
    case 'prompts/get': {
      const { name, arguments: args } = message.params;
      const said = { type: 'text', text: `${name} ${JSON.stringify(args)}` };
      return send({ id, result: { messages: [{ role: 'user', content: said }] } });
    }
    case 'tools/list':
      return send({ id, result: { tools: tools() } });
    case 'tools/call':
      if (options.calls !== undefined) appendFileSync(options.calls, `${message.params.name}\n`);
      return (acts[message.params.name] ?? acts.echo)(message);
    default:
      return id === undefined ? undefined : send({ id, result: {} });
  }
});

// An MCP server of revision 2025-11-25 over stdio, without any library, that behaves as badly as its first argument says.
// { tools: [{name, annotations?}], manyTools?, silent?, garbage?, oversized?, endsAtDiscover?, calls?: file, changing? }
import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const options = JSON.parse(process.argv[2] ?? '{}');
let number = 0;

const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const text = (value) => ({ content: [{ type: 'text', text: value }] });

function tools() {
  const many = Array.from({ length: options.manyTools ?? 0 }, (_, index) => ({ name: `tool_${index}` }));
  const round = options.changing === undefined ? [] : [{ name: `round_${number}` }];
  return [...(options.tools ?? []), ...many, ...round].map((tool) => ({
    description: `The tool ${tool.name}.`,
    inputSchema: { type: 'object' },
    ...tool,
  }));
}

if (options.changing !== undefined) {
  setInterval(() => {
    number += 1;
    send({ method: 'notifications/tools/list_changed' });
  }, options.changing);
}
if (options.garbage === true) process.stdout.write('Starting…\n{"not": "a message"}\n\xff\xfe[1,2]\n');

/** What a tool does, by its name. */
const acts = {
  echo: ({ id, params }) => send({ id, result: text(String(params.arguments?.message ?? '')) }),
  never: () => undefined,
  die: () => process.kill(process.pid, 'SIGKILL'),
  huge: ({ id }) => send({ id, result: text('x'.repeat(options.oversized ?? 0)) }),
  announce: ({ id, params }) => {
    send({ method: 'notifications/claude/channel', params: { content: String(params.arguments?.message) } });
    send({ id, result: text('sent') });
  },
  touch: ({ id }) => {
    send({ method: 'notifications/resources/updated', params: { uri: 'test://one' } });
    send({ id, result: text('touched') });
  },
};

createInterface({ input: process.stdin }).on('line', (line) => {
  const message = JSON.parse(line);
  const { id, method } = message;
  if (options.silent === true && method !== 'initialize') return;
  switch (method) {
    case 'server/discover':
      if (options.endsAtDiscover === true) process.exit(3);
      return send({ id, error: { code: -32601, message: 'Method not found' } });
    case 'initialize':
      return send({
        id,
        result: {
          protocolVersion: '2025-11-25',
          capabilities: { tools: { listChanged: true }, resources: { subscribe: true } },
          serverInfo: { name: 'scripted', version: '1' },
          ...(options.instructions !== undefined && { instructions: options.instructions }),
        },
      });
    case 'ping':
      return options.deaf === true ? undefined : send({ id, result: {} });
    case 'tools/list':
      return send({ id, result: { tools: tools() } });
    case 'tools/call':
      if (options.calls !== undefined) appendFileSync(options.calls, `${message.params.name}\n`);
      return (acts[message.params.name] ?? acts.echo)(message);
    default:
      return id === undefined ? undefined : send({ id, result: {} });
  }
});

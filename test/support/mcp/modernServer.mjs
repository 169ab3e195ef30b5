// A server of revision 2026-07-28 built on the official library: over stdio by default, over HTTP with `--http` (prints its port).
import { createServer } from 'node:http';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import * as z from 'zod';

function create() {
  const server = new McpServer({ name: 'modern', version: '1' }, { instructions: 'Add numbers with add.' });
  server.registerTool(
    'add',
    {
      description: 'Adds two numbers.',
      inputSchema: z.object({ a: z.number(), b: z.number() }),
      outputSchema: z.object({ sum: z.number() }),
      annotations: { readOnlyHint: true },
    },
    async ({ a, b }) => ({ content: [{ type: 'text', text: String(a + b) }], structuredContent: { sum: a + b } }),
  );
  server.registerTool('pid', { description: 'The process.' }, async () => ({
    content: [{ type: 'text', text: String(process.pid) }],
  }));
  return server;
}

if (process.argv.includes('--http')) {
  const handler = toNodeHandler(createMcpHandler(create, { legacy: 'reject' }));
  const server = createServer((request, response) => {
    handler(request, response).catch((error) => process.stderr.write(String(error)));
  });
  const port = Number(process.argv.at(-1)) || 0;
  server.listen(port, '127.0.0.1', () => process.stdout.write(`${server.address().port}\n`));
} else {
  serveStdio(create, { legacy: 'reject' });
}

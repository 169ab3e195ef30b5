// A server with events, built on the official library: `eventServer.mjs <folder> stdio|legacy|http [port]`. Its events are
// the lines of `events.jsonl` in the folder, and a cursor is the number of lines before it. `faults.json` there says what
// it does wrong; `requests.jsonl` gets each request for events.
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, McpServer, ProtocolError } from '@modelcontextprotocol/server';
import { serveStdio, StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import * as z from 'zod';

const [, , folder, mode, port = '0'] = process.argv;
const place = (name) => join(folder, name);
const read = (name, empty) => (existsSync(place(name)) ? readFileSync(place(name), 'utf8') : empty);
const faults = () => JSON.parse(read('faults.json', '{}') || '{}');
const lines = () => read('events.jsonl', '').split('\n').slice(0, -1);
const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));
const startedAt = lines().length;
const EXTENSION = 'io.modelcontextprotocol/events';
const LOOK_EVERY = 20;

const params = z.looseObject({
  name: z.string().optional(),
  cursor: z.string().nullish(),
  arguments: z.record(z.string(), z.unknown()).optional(),
  maxEvents: z.number().optional(),
  timeoutMs: z.number().optional(),
});

function note(method, given) {
  appendFileSync(place('requests.jsonl'), `${JSON.stringify({ method, ...given })}\n`);
}

function refuse(given) {
  const { error, noTimeout, refusedCursor } = faults();
  if (error !== undefined) throw new ProtocolError(error.code, error.message ?? 'refused', error.data);
  if (noTimeout === true && given.timeoutMs !== undefined) throw new ProtocolError(-32602, 'timeoutMs is not known');
  if (refusedCursor === true && typeof given.cursor === 'string')
    throw new ProtocolError(-32602, 'the cursor is not known');
  if (given.name !== undefined && given.name !== 'issue.updated') {
    throw new ProtocolError(-32011, `no event ${given.name}`, { kind: 'event' });
  }
}

/** The events after a cursor. With `ring`, those of before the start are forgotten. */
function after(cursor, most = 100) {
  const { ring, doubled, endless, hostileCursor, noCursor } = faults();
  const all = lines();
  const from = endless === true ? 0 : cursor === null || cursor === undefined ? all.length : Number(cursor);
  const first = ring === true ? Math.max(from, startedAt) : from;
  const events = all.slice(first, first + most).map((line, index) => {
    const { id, at = new Date().toISOString(), ...data } = JSON.parse(line);
    return { eventId: id, name: 'issue.updated', timestamp: at, data, cursor: String(first + index + 1) };
  });
  const reached = String(first + events.length);
  return {
    events: doubled === true ? events.flatMap((event) => [event, event]) : events,
    cursor: hostileCursor === true ? '\u202e'.repeat(1_000_000) : noCursor === true ? null : reached,
    reached,
    truncated: first > from,
    hasMore: endless === true || first + events.length < all.length,
  };
}

function create() {
  const { draft = false, types } = faults();
  const server = new McpServer(
    { name: 'events', version: '1' },
    { capabilities: draft ? { events: {} } : { extensions: { [EXTENSION]: {} } } },
  );
  server.registerTool('look', { description: 'Looks.' }, async () => ({ content: [{ type: 'text', text: 'seen' }] }));
  const inner = server.server;
  const issue = {
    name: 'issue.updated',
    description: 'An issue has changed.',
    delivery: ['push', 'poll'],
    inputSchema: { type: 'object', properties: { repository: { type: 'string' } } },
    payloadSchema: true,
  };
  inner.setRequestHandler('events/list', { params: z.looseObject({}).optional() }, async () => {
    note('events/list', {});
    return { events: faults().types ?? types ?? [issue, { name: 'only.webhook', delivery: ['webhook'] }] };
  });
  inner.setRequestHandler('events/poll', { params }, async (given, { mcpReq }) => {
    note('events/poll', given);
    refuse(given);
    const until = Date.now() + Math.min(given.timeoutMs ?? 0, faults().held ?? 500);
    let page = after(given.cursor, given.maxEvents);
    const cursor = given.cursor ?? page.reached;
    while (page.events.length === 0 && Date.now() < until && !mcpReq.signal.aborted) {
      await pause(LOOK_EVERY);
      page = given.cursor === null ? page : after(cursor, given.maxEvents);
    }
    return { ...page, nextPollMs: faults().nextPollMs ?? 0 };
  });
  inner.setRequestHandler('events/stream', { params }, async (given, { mcpReq }) => {
    note('events/stream', given);
    refuse(given);
    const _meta = { 'io.modelcontextprotocol/subscriptionId': mcpReq.id };
    const send = (name, more) => mcpReq.notify({ method: `notifications/events/${name}`, params: { ...more, _meta } });
    const { noCursor } = faults();
    const begin = after(given.cursor, 0);
    await send('active', { cursor: noCursor === true ? null : begin.reached, truncated: begin.truncated });
    let at = begin.reached;
    let beaten = Date.now();
    while (!mcpReq.signal.aborted) {
      const { terminated, silent, heartbeat = 1000, closes } = faults();
      if (terminated !== undefined) {
        await send('terminated', { error: terminated });
        await pause(1_000_000);
      }
      if (closes === true) return {};
      const page = silent === true ? { events: [], reached: at } : after(at);
      for (const event of page.events) await send('event', noCursor === true ? { ...event, cursor: null } : event);
      at = page.reached;
      if (silent !== true && Date.now() - beaten >= heartbeat) {
        beaten = Date.now();
        const { hostileHeartbeat } = faults();
        await send('heartbeat', {
          cursor: noCursor === true ? null : hostileHeartbeat === true ? 'x'.repeat(1_000_000) : at,
        });
      }
      await pause(LOOK_EVERY);
    }
    return {};
  });
  return server;
}

if (mode === 'http') {
  const handler = toNodeHandler(createMcpHandler(create, { legacy: 'reject' }));
  const server = createServer((request, response) => {
    const { status } = faults();
    if (status !== undefined) return response.writeHead(status, { 'www-authenticate': 'Bearer' }).end();
    handler(request, response).catch((error) => process.stderr.write(String(error)));
  });
  server.listen(Number(port), '127.0.0.1', () => process.stdout.write(`${server.address().port}\n`));
} else if (mode === 'legacy') {
  await create().connect(new StdioServerTransport());
} else {
  serveStdio(create, { legacy: 'reject' });
}

// A server of revision 2025-11-25 over HTTP whose tool runs as a task. Tasks survive closed connections, as on a real
// service.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo } from 'node:net';
import { atTestEnd } from '../endings.ts';

export interface TaskServer {
  readonly url: string;
  /** Methods that were called, oldest first. */
  readonly requests: string[];
  /** While locked, the server requires a sign-in. */
  lock(locked: boolean): void;
  /** Ends the task. */
  complete(text: string): void;
}

interface Request {
  readonly id?: number;
  readonly method: string;
}

export async function startTaskServer(): Promise<TaskServer> {
  const requests: string[] = [];
  let result: string | undefined;
  let cancelled = false;
  let isLocked = false;
  const waiting = new Set<() => void>();
  const now = new Date().toISOString();
  const task = () => ({
    taskId: 'task-1',
    status: cancelled ? 'cancelled' : result === undefined ? 'working' : 'completed',
    statusMessage: 'Brewing',
    createdAt: now,
    lastUpdatedAt: now,
    ttl: 600_000,
    pollInterval: 50,
  });
  const answer = async (method: string): Promise<object | undefined> => {
    switch (method) {
      case 'initialize':
        return {
          protocolVersion: '2025-11-25',
          capabilities: { tools: {}, tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } },
          serverInfo: { name: 'tasks', version: '1' },
        };
      case 'tools/list': {
        const brew = { name: 'brew', description: 'Brews.', inputSchema: { type: 'object' } };
        return { tools: [{ ...brew, execution: { taskSupport: 'required' } }] };
      }
      case 'tools/call':
        return { task: task() };
      case 'tasks/get':
        return task();
      case 'tasks/cancel':
        cancelled = true;
        return task();
      case 'tasks/result':
        if (result === undefined) await new Promise<void>((done) => waiting.add(done));
        return {
          content: [{ type: 'text', text: result ?? '' }],
          _meta: { 'io.modelcontextprotocol/related-task': { taskId: 'task-1' } },
        };
      case 'ping':
        return {};
      default:
        return undefined;
    }
  };
  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    if (request.method !== 'POST') {
      response.writeHead(405).end();
      return;
    }
    if (isLocked) {
      response.writeHead(401).end();
      return;
    }
    const body: Buffer[] = [];
    for await (const piece of request) body.push(piece as Buffer);
    const { id, method } = JSON.parse(Buffer.concat(body).toString()) as Request;
    requests.push(method);
    if (id === undefined) {
      response.writeHead(202).end();
      return;
    }
    const found = await answer(method);
    response.writeHead(200, { 'content-type': 'application/json' });
    const error = { code: -32601, message: 'Method not found' };
    response.end(JSON.stringify({ jsonrpc: '2.0', id, ...(found === undefined ? { error } : { result: found }) }));
  };
  const server = createServer((request, response) => {
    handle(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  atTestEnd(async () => {
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    requests,
    lock: (locked) => {
      isLocked = locked;
    },
    complete: (text) => {
      result = text;
      for (const done of waiting) done();
    },
  };
}

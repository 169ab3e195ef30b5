// A server of revision 2026-07-28 over streamable HTTP, built on the official libraries, whose calls become tasks. The
// tasks survive closed connections and restarts of its port, as on a real service.
import { createServer, type IncomingMessage, type Server as HttpServer, type ServerResponse } from 'node:http';
import { type AddressInfo } from 'node:net';
import {
  CancelTaskRequestV2Schema,
  GetTaskRequestV2Schema,
  hasTaskClientCapabilityV2,
  TASKS_EXTENSION_ID_V2,
  UpdateTaskRequestV2Schema,
} from '@modelcontextprotocol/ext-tasks/core/v2';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, McpServer, ProtocolError } from '@modelcontextprotocol/server';
import * as z from 'zod';
import { atTestEnd } from '../endings.ts';

interface TaskState {
  readonly status: 'working' | 'input_required' | 'completed' | 'failed' | 'cancelled';
  readonly statusMessage?: string;
  readonly [key: string]: unknown;
}

export interface HttpTaskServer {
  readonly url: string;
  /** Methods that were called, oldest first. */
  readonly requests: string[];
  /** Sets the state of the task that was started last. */
  become(state: TaskState): void;
  complete(...content: readonly object[]): void;
  /** The answers that tasks received. */
  readonly answers: unknown[];
  /** Breaks every connection; `up` listens on the same port. */
  down(): Promise<void>;
  up(): Promise<void>;
  /** Makes the call of `slow` report its progress. */
  progress(message: string): Promise<void>;
  /** Makes the call of `slow` return. */
  finish(text: string): void;
}

interface HttpTaskServerOptions {
  /** The poll interval that the server asks clients to use. */
  readonly pollIntervalMs?: number;
  /** Whether the server announces changes of tasks. */
  readonly announces?: boolean;
}

const SUBSCRIPTION = 'io.modelcontextprotocol/subscriptionId';
const text = (value: string) => ({ type: 'text' as const, text: value });
const form = (tea: object) => ({ type: 'object', properties: { tea }, required: ['tea'] });
/** The questions of the tools `ask` and `page`. */
const QUESTIONS: Readonly<Record<string, object>> = {
  ask: { message: 'Which tea?', requestedSchema: form({ type: 'string', title: 'Tea' }) },
  page: { mode: 'url', message: 'Pay first.', url: 'https://tea.example/pay' },
};
const listenSchema = z.object({
  id: z.string(),
  method: z.literal('subscriptions/listen'),
  params: z.object({ notifications: z.object({ taskIds: z.array(z.string()) }) }),
});
const methodSchema = z.object({ method: z.string() });

export async function startHttpTasks({
  pollIntervalMs = 20,
  announces = false,
}: HttpTaskServerOptions = {}): Promise<HttpTaskServer> {
  const now = new Date().toISOString();
  const requests: string[] = [];
  const answers: unknown[] = [];
  const tasks = new Map<string, TaskState>();
  /** Open subscription streams, with the ids of the tasks that each is about. */
  const streams = new Set<{ readonly ids: readonly string[]; send(params: object): void }>();
  let slow = Promise.withResolvers<string>();
  let report: ((message: string) => Promise<void>) | undefined;
  const detailed = (taskId: string) => {
    const state = tasks.get(taskId);
    if (state === undefined) throw new ProtocolError(-32602, `Unknown task ${taskId}`);
    return { taskId, createdAt: now, lastUpdatedAt: now, ttlMs: null, pollIntervalMs, ...state };
  };
  const become = (taskId: string, state: TaskState) => {
    tasks.set(taskId, state);
    for (const { ids, send } of streams) if (ids.includes(taskId)) send(detailed(taskId));
  };
  const start = (name: string) => {
    const taskId = `task-${tasks.size + 1}`;
    const params = QUESTIONS[name];
    const asks = { status: 'input_required' as const, inputRequests: { it: { method: 'elicitation/create', params } } };
    tasks.set(taskId, params === undefined ? { status: 'working', statusMessage: 'Brewing' } : asks);
    const { inputRequests: _asked, ...created } = detailed(taskId) as ReturnType<typeof detailed> & {
      inputRequests?: unknown;
    };
    return { resultType: 'task', ...created } as never;
  };

  const create = () => {
    const server = new McpServer(
      { name: 'http-tasks', version: '1' },
      { capabilities: { extensions: { [TASKS_EXTENSION_ID_V2]: {} } } },
    );
    for (const name of ['brew', 'ask', 'page']) {
      server.registerTool(name, { description: name }, async ({ mcpReq }) => {
        const { envelope } = mcpReq as { envelope?: object };
        if (!hasTaskClientCapabilityV2({ _meta: envelope })) throw new Error('the client has no tasks');
        return start(name);
      });
    }
    server.registerTool('slow', { description: 'slow', annotations: { readOnlyHint: true } }, async ({ mcpReq }) => {
      const progressToken = (mcpReq._meta?.progressToken ?? 0) as number;
      let progress = 0;
      report = (message) =>
        mcpReq.notify({
          method: 'notifications/progress',
          params: { progressToken, progress: ++progress, total: 9, message },
        });
      return { content: [text(await slow.promise)] };
    });
    const { server: raw } = server;
    raw.setRequestHandler('tasks/get', { params: GetTaskRequestV2Schema.shape.params }, ({ taskId }) =>
      detailed(taskId),
    );
    raw.setRequestHandler('tasks/cancel', { params: CancelTaskRequestV2Schema.shape.params }, ({ taskId }) => {
      detailed(taskId);
      become(taskId, { status: 'cancelled' });
      return {};
    });
    // The library removes the answers from the parameters.
    const update = UpdateTaskRequestV2Schema.shape.params.omit({ inputResponses: true });
    raw.setRequestHandler('tasks/update', { params: update }, ({ taskId }, { mcpReq }) => {
      answers.push(mcpReq.inputResponses);
      become(taskId, { status: 'completed', result: { resultType: 'complete', content: [text('Served.')] } });
      return {};
    });
    return server;
  };

  const handler = toNodeHandler(createMcpHandler(create, { legacy: 'reject' }));
  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const body = JSON.parse(Buffer.concat(pieces).toString() || 'null') as unknown;
    const { method } = methodSchema.catch({ method: '' }).parse(body);
    const listen = listenSchema.safeParse(body);
    if (method !== '') requests.push(listen.success ? 'subscriptions/listen to tasks' : method);
    if (announces && listen.success) announce(listen.data, response);
    else await handler(request as Parameters<typeof handler>[0], response, body);
  };
  /** The library does not support subscriptions to tasks. */
  const announce = ({ id, params }: z.infer<typeof listenSchema>, response: ServerResponse) => {
    const { taskIds } = params.notifications;
    const send = (sent: string, more: object) => {
      const message = { jsonrpc: '2.0', method: sent, params: { ...more, _meta: { [SUBSCRIPTION]: id } } };
      response.write(`event: message\ndata: ${JSON.stringify(message)}\n\n`);
    };
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    send('notifications/subscriptions/acknowledged', { notifications: { taskIds } });
    const stream = { ids: taskIds, send: (more: object) => send('notifications/tasks', more) };
    streams.add(stream);
    response.on('close', () => streams.delete(stream));
  };

  let server: HttpServer | undefined;
  let port = 0;
  const up = async () => {
    const listening = createServer(
      (request, response) => void handle(request, response).catch(() => response.destroy()),
    );
    await new Promise<void>((done) => listening.listen(port, '127.0.0.1', done));
    ({ port } = listening.address() as AddressInfo);
    server = listening;
  };
  const down = async () => {
    const closing = server;
    server = undefined;
    closing?.closeAllConnections();
    await new Promise<void>((done) => (closing === undefined ? done() : closing.close(() => done())));
  };
  await up();
  atTestEnd(down);
  const last = () => [...tasks.keys()].at(-1) ?? '';
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    requests,
    answers,
    become: (state) => become(last(), state),
    complete: (...content) => become(last(), { status: 'completed', result: { resultType: 'complete', content } }),
    down,
    up,
    progress: async (message) => report?.(message),
    finish: (value) => {
      slow.resolve(value);
      slow = Promise.withResolvers();
    },
  };
}

// A small typed client for program plugins, without dependencies: requests as promises, events as callbacks.
import { randomUUID } from 'node:crypto';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { PassThrough } from 'node:stream';
// Types only, so that nothing else is loaded.
import type { HostMessage, HostMessageOf, HostReplies, PluginRequest, RequestFields } from '../../protocol/plugin.ts';

const LONGEST_FIRST_LINE = 1000;

type Init = HostMessageOf<'init'>;
type PluginEvent = HostMessageOf<'event'>;

/** The streams that carry the lines. */
interface ClientStreams {
  readonly input: NodeJS.ReadableStream;
  readonly output: Pick<NodeJS.WritableStream, 'write'>;
}

export interface PluginHandlers {
  /** The answer to `describe`. */
  readonly describe: RequestFields<'describe'>;
  /** Called once with the first message. The plugin ends with the code that the promise resolves to. */
  run(client: PluginClient, init: Init): Promise<number>;
  event?(event: PluginEvent, client: PluginClient): void;
  /** A query created a conversation. */
  created?(conversation: string): void;
  /** The host ended a subscription, or a message without an `id`, such as `print`, failed. */
  error?(error: HostMessageOf<'error'>): void;
}

/** Earshot refused a request. */
class PluginError extends Error {
  readonly request: string;

  constructor({ request, message }: HostMessageOf<'error'>) {
    super(message);
    this.name = 'PluginError';
    this.request = request;
  }
}

interface Waiting {
  readonly type: string;
  resolve(message: HostMessage): void;
  reject(error: Error): void;
}

export class PluginClient {
  readonly #output: ClientStreams['output'];
  readonly #handlers: PluginHandlers;
  readonly #waiting = new Map<string, Waiting>();
  readonly #shutDown = Promise.withResolvers<void>();
  readonly #ended = Promise.withResolvers<number>();
  #requests = 0;
  #rest: string[] = [];

  constructor({ input, output }: ClientStreams, handlers: PluginHandlers) {
    this.#output = output;
    this.#handlers = handlers;
    input.setEncoding('utf8');
    input.on('data', (text: string | Uint8Array) => this.#receive(String(text)));
    input.on('end', () => this.#close(0));
    input.on('error', () => this.#close(1));
  }

  /** Resolves when Earshot asks the plugin to end, or is gone. */
  get shutDown(): Promise<void> {
    return this.#shutDown.promise;
  }

  /** Resolves to the exit code. */
  get ended(): Promise<number> {
    return this.#ended.promise;
  }

  /** Rejects with a PluginError if Earshot refuses it. */
  request<T extends keyof HostReplies>(type: T, fields: RequestFields<T>): Promise<HostReplies[T]> {
    const id = String(this.#requests++);
    const { promise, resolve, reject } = Promise.withResolvers<HostMessage>();
    this.#waiting.set(id, { type, resolve, reject });
    // The compiler cannot see that the fields belong to the type.
    this.#send({ ...fields, type, id } as unknown as PluginRequest);
    return promise as Promise<HostReplies[T]>;
  }

  print(text: string, channel?: string): void {
    this.#send({ type: 'print', text, ...(channel !== undefined && { channel }) });
  }

  log(level: 'error' | 'warn' | 'info' | 'debug' | 'trace', message: string): void {
    this.#send({ type: 'log', level, message });
  }

  #receive(text: string): void {
    const lines = text.split('\n');
    const last = lines.pop() ?? '';
    if (lines.length > 0) {
      this.#handle(this.#rest.join('') + (lines[0] ?? ''));
      for (const line of lines.slice(1)) this.#handle(line);
      this.#rest = [];
    }
    this.#rest.push(last);
  }

  #handle(line: string): void {
    if (line.trim() === '') return;
    const message = JSON.parse(line) as HostMessage;
    switch (message.type) {
      case 'init':
        this.#send({ type: 'ready', protocol: 1 });
        this.#run(message);
        return;
      case 'describe':
        this.#send({ type: 'describe', ...this.#handlers.describe });
        this.#close(0);
        return;
      case 'shutdown':
        this.#shutDown.resolve();
        return;
      case 'event':
        this.#handlers.event?.(message, this);
        return;
      case 'created':
        // For a query, `created` precedes the reply.
        if (this.#waiting.get(message.id ?? '')?.type === 'create') this.#reply(message);
        else this.#handlers.created?.(message.conversation);
        return;
      default:
        this.#reply(message);
    }
  }

  #reply(message: Exclude<HostMessage, { type: 'init' | 'describe' | 'shutdown' | 'event' }>): void {
    const waiting = message.id === undefined ? undefined : this.#waiting.get(message.id);
    if (message.id !== undefined) this.#waiting.delete(message.id);
    if (message.type !== 'error') waiting?.resolve(message);
    else if (waiting === undefined) this.#handlers.error?.(message);
    else waiting.reject(new PluginError(message));
  }

  #run(init: Init): void {
    this.#handlers.run(this, init).then(
      (code) => this.#exit(code),
      (error: unknown) => this.#exit(1, error instanceof Error ? error.message : String(error)),
    );
  }

  #exit(code: number, reason?: string): void {
    this.#send({ type: 'exit', code, ...(reason !== undefined && { reason }) });
    this.#close(code);
  }

  #close(code: number): void {
    this.#shutDown.resolve();
    for (const { reject } of this.#waiting.values()) reject(new Error('Earshot is gone'));
    this.#waiting.clear();
    this.#ended.resolve(code);
  }

  #send(request: PluginRequest): void {
    this.#output.write(`${JSON.stringify(request)}\n`);
  }
}

/** Runs a plugin on stdin and stdout until it ends, then ends the process. */
export async function runPlugin(handlers: PluginHandlers): Promise<void> {
  const client = new PluginClient({ input: process.stdin, output: process.stdout }, handlers);
  process.exitCode = await client.ended;
  process.stdin.destroy();
}

/**
 * Attaches to a window's socket. The user approves each `name` once, and each process that may answer approvals; `token`
 * is needed on Windows.
 */
export function attachPlugin(
  path: string,
  name: string,
  version: string,
  handlers: PluginHandlers,
  token?: string,
): PluginClient {
  const socket = connect(path);
  const input = new PassThrough();
  let carrier = socket;
  const use = (connection: Socket) => {
    carrier = connection;
    connection.pipe(input, { end: false });
    for (const event of ['end', 'close', 'error']) connection.on(event, () => carrier === connection && input.end());
  };
  use(socket);
  const attach = (callBack?: object) =>
    socket.write(`${JSON.stringify({ type: 'attach', name, version, token, call_back: callBack })}\n`);
  const secret = randomUUID();
  // The window connects back, since only so can it find out which process this is.
  const server = createServer({ noDelay: true }, (back) => {
    back.on('error', () => back.destroy());
    back.write('\n');
    readLine(back, (line) => {
      if (line !== JSON.stringify({ type: 'attached', secret })) return void back.destroy();
      use(back);
      socket.end();
      server.close();
    });
  });
  server.once('error', () => attach());
  server.listen(0, '127.0.0.1', () => attach({ port: (server.address() as AddressInfo).port, secret }));
  const client = new PluginClient({ input, output: { write: (text: string) => carrier.write(text) } }, handlers);
  const end = () => {
    server.close();
    carrier.end();
  };
  client.ended.then(end, end);
  return client;
}

/** Reads one short line; what follows stays in the socket. */
function readLine(socket: Socket, received: (line: string) => void): void {
  let text = Buffer.alloc(0);
  const read = (chunk: Buffer) => {
    text = Buffer.concat([text, chunk]);
    const end = text.indexOf('\n');
    if (end === -1 && text.length <= LONGEST_FIRST_LINE) return;
    socket.off('data', read);
    socket.pause();
    if (end !== -1) socket.unshift(text.subarray(end + 1));
    received(text.subarray(0, Math.max(0, end)).toString());
  };
  socket.on('data', read);
}

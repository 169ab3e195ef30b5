// The HTTP server of the web chat on 127.0.0.1: the page and its files, one stream of lines to each page, and its messages.
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { type Socket } from 'node:net';
import { ignore } from '../base/async.ts';
import { type Disposable } from '../base/disposable.ts';
import { describeError } from '../base/errors.ts';
import { UnprovenSockets } from '../node/unprovenSockets.ts';
import { isHeldByCommand } from '../node/peerProcess.ts';
import { keyedHash } from '../node/scripts/keyedHash.ts';
import {
  hashedTexts,
  REFUSED_COMMAND,
  WEB_CHAT_EXCHANGE,
  WEB_CHAT_PROBE,
  WEB_CHAT_REFUSED,
} from '../protocol/webChat.ts';
import { type AccessRules, bearerOf, type Refusal, refusePlace, type Wanted } from './access.ts';
import { type PageFile } from './pageFiles.ts';
import { PageTokens } from './pageTokens.ts';
import { type PostedLines } from './postedLines.ts';

/** A message may contain a text of 1,000,000 characters. */
const LONGEST_BODY = 8 * 1024 * 1024;
/** A line from a program outside. */
const LONGEST_LINE = 64 * 1024;
/** A page that has not read this much is disconnected; it reconnects and gets a new snapshot. */
const MOST_WAITING = 16 * 1024 * 1024;
/** An empty line is sent at this interval, since proxies close silent connections. */
const BEAT_MILLISECONDS = 15_000;
/** Limits how long a slowly sent request can hold a connection. A stream is a response and has no limit. */
const SENT_WITHIN = { headersTimeout: 10_000, requestTimeout: 60_000, connectionsCheckingInterval: 5000 };
const MOST_CONNECTIONS = 500;

/** The lines to one page. */
export interface LineSink {
  write(line: string): void;
  end(): void;
}

export interface StreamRequest {
  readonly page: string;
  /** The page that was loaded in this tab before; empty: none. */
  readonly previous: string;
  /** The number of the last message that the page has. */
  readonly since: number;
  /** The conversation that the page showed last; empty: a new chat. */
  readonly conversation: string;
}

export interface WebServerDeps {
  /** Links, tokens and proofs are made with it. */
  readonly key: string;
  now(): number;
  readonly rules: AccessRules;
  /**
   * Called before a host is refused, which the user may have allowed meanwhile. Resolves once `rules` is up to date.
   */
  refreshRules(): Promise<void>;
  file(path: string): Promise<PageFile | undefined>;
  /** The result is disposed when the connection is closed. */
  openStream(request: StreamRequest, sink: LineSink): Disposable;
  /** Resolves to the reason if the message is refused. */
  receive(page: string, message: unknown): Promise<string | undefined>;
  /** Lines from programs outside, with a token that allows nothing else. Undefined: the user has not allowed them. */
  posting(): PostedLines | undefined;
  warn(text: string): void;
  report(error: unknown): void;
}

/** Requests of a page with its token, or with the code of its link. */
const OWN_TO_PAGES = new Set(['stream', 'messages', WEB_CHAT_EXCHANGE]);
const POSTED = new Set(['messages', 'notify', WEB_CHAT_EXCHANGE]);

const POLICY = [
  `default-src 'none'`,
  `script-src 'self'`,
  `style-src 'self'`,
  `img-src 'self' data:`,
  `connect-src 'self'`,
  `worker-src 'none'`,
  `base-uri 'none'`,
  `form-action 'none'`,
  `frame-ancestors 'none'`,
].join('; ');

const HEADERS = {
  'content-security-policy': POLICY,
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
};

export class WebServer {
  readonly #deps: WebServerDeps;
  readonly #server: Server;
  readonly #beat: NodeJS.Timeout;
  /** By the link of their page. */
  readonly #streams = new Map<ServerResponse, string>();
  readonly #tokens: PageTokens;
  /** Whether the other end of a connection belongs to a command. */
  readonly #ofCommands = new WeakMap<Socket, Promise<boolean>>();
  /** Connections without a complete request so far. They must not keep pages out. */
  readonly #silent = new UnprovenSockets(() => 'HTTP/1.1 503 Busy\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');

  constructor(deps: WebServerDeps) {
    this.#deps = deps;
    this.#tokens = new PageTokens({ ...deps, usedTwice: (link) => this.#revoke(link) });
    this.#server = createServer(SENT_WITHIN, (request, response) => {
      this.#answer(request, response).catch((error: unknown) => {
        deps.report(error);
        if (response.headersSent) response.destroy();
        else sendRefusal(response, 500, 'An error occurred.');
      });
    });
    this.#server.maxConnections = MOST_CONNECTIONS;
    this.#server.on('connection', (socket) => this.#silent.add(socket));
    this.#beat = setInterval(() => {
      for (const response of this.#streams.keys()) response.write('\n');
    }, BEAT_MILLISECONDS);
  }

  /** Rejects if the port is in use. */
  listen(port: number): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(port, '127.0.0.1', () => {
        this.#server.off('error', reject);
        this.#server.on('error', (error) => this.#deps.report(error));
        resolve();
      });
    });
  }

  async close(): Promise<void> {
    clearInterval(this.#beat);
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.#server.closeAllConnections();
    await closed;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.#silent.proven(request.socket);
    const url = URL.parse(request.url ?? '', 'http://127.0.0.1');
    // A path that begins with two slashes would name another host.
    if (url?.host !== '127.0.0.1') return refuse(response, 404, 'There is no such file.');
    const path = url.pathname === '/' ? 'index.html' : url.pathname.slice(1);
    // Also for a refused host: the window that probes must learn that its address leads here.
    if (path === WEB_CHAT_PROBE) response.setHeader('x-earshot', this.#proof(url));
    const refusal = await this.#refusePlace(request.headers, path === 'index.html' ? 'page' : 'part');
    if (refusal !== undefined) return refuse(response, refusal.status, refusal.reason);
    const method = POSTED.has(path) ? 'POST' : 'GET';
    if (request.method !== method) return refuse(response, 405, `Only ${method} is allowed here.`, { allow: method });
    if (path === WEB_CHAT_PROBE) return void response.writeHead(204, HEADERS).end();
    if (path === 'notify') return this.#notify(request, response);
    if (!OWN_TO_PAGES.has(path)) return this.#sendFile(path, response);
    if (await this.#isOfCommand(request.socket)) {
      this.#deps.warn('A process that a command of Earshot has started tried to use the web chat.');
      return refuse(response, 403, 'A command of Earshot has started this program.', {
        [WEB_CHAT_REFUSED]: REFUSED_COMMAND,
      });
    }
    const given = bearerOf(request.headers);
    if (given === undefined) return refuse(response, 401, 'The token is missing.');
    if (path === WEB_CHAT_EXCHANGE) return this.#exchange(given, response);
    const link = this.#tokens.linkOf(given);
    if (link === undefined) return refuse(response, 401, 'The token is wrong.');
    const page = url.searchParams.get('page') ?? '';
    if (!/^[\w-]{8,100}$/.test(page)) return refuse(response, 400, 'The page has no id.');
    if (path === 'messages') return this.#receive(page, request, response);
    const since = Number(url.searchParams.get('since') ?? 0);
    const [previous = '', conversation = ''] = ['previous', 'conversation'].map(
      (name) => url.searchParams.get(name) ?? '',
    );
    this.#streams.set(response, link);
    this.#openStream({ page, previous, since: Number.isSafeInteger(since) ? since : 0, conversation }, response);
  }

  async #refusePlace(...place: [headers: IncomingHttpHeaders, wanted: Wanted]): Promise<Refusal | undefined> {
    const { rules } = this.#deps;
    if (refusePlace(...place, rules) === undefined) return undefined;
    await this.#deps.refreshRules();
    return refusePlace(...place, rules);
  }

  async #notify(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const posting = this.#deps.posting();
    if (posting === undefined) return refuse(response, 404, 'Lines are not accepted. See earshot.scripts.post.');
    const answer = await posting.receive(request.headers, () => readBody(request, LONGEST_LINE));
    if (answer.status !== 202) return refuse(response, answer.status, answer.reason);
    const body = JSON.stringify({ queued: answer.queued });
    response.writeHead(202, { ...HEADERS, 'content-type': 'application/json' }).end(body);
  }

  #isOfCommand(socket: Socket): Promise<boolean> {
    const known = this.#ofCommands.get(socket) ?? isHeldByCommand(socket);
    this.#ofCommands.set(socket, known);
    return known;
  }

  async #exchange(code: string, response: ServerResponse): Promise<void> {
    const token = this.#tokens.exchange(code);
    if (token === undefined) return refuse(response, 401, 'The link is wrong, too old or used.');
    response.writeHead(200, { ...HEADERS, 'content-type': 'text/plain; charset=utf-8' }).end(token);
  }

  #revoke(link: string): void {
    this.#deps.warn('A link to the web chat was used again. The page that was opened with it is closed.');
    for (const [response, of] of this.#streams) if (of === link) response.destroy();
  }

  #proof(url: URL): string {
    return keyedHash(this.#deps.key, hashedTexts.probe((url.searchParams.get('text') ?? '').slice(0, 100)));
  }

  async #sendFile(path: string, response: ServerResponse): Promise<void> {
    const file = await this.#deps.file(path);
    if (file === undefined) return refuse(response, 404, 'There is no such file.');
    response.writeHead(200, { ...HEADERS, 'content-type': file.type }).end(file.body);
  }

  #openStream(request: StreamRequest, response: ServerResponse): void {
    // Proxies must not buffer the stream.
    response.writeHead(200, { ...HEADERS, 'content-type': 'application/x-ndjson', 'x-accel-buffering': 'no' });
    response.flushHeaders();
    const stream = this.#deps.openStream(request, {
      write: (line) => {
        response.write(`${line}\n`);
        if (response.writableLength > MOST_WAITING) response.destroy();
      },
      end: () => response.end(),
    });
    response.on('error', ignore);
    response.once('close', () => {
      this.#streams.delete(response);
      stream.dispose();
    });
  }

  async #receive(page: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    // A form cannot send this content type.
    if (!/^application\/json(?:;|$)/.test(request.headers['content-type'] ?? '')) {
      return refuse(response, 415, 'Messages are JSON.');
    }
    const body = await readBody(request);
    if (body === undefined) return refuse(response, 413, 'The message is too large.');
    let message: unknown;
    try {
      message = JSON.parse(body);
    } catch (error) {
      return refuse(response, 400, `The message is not JSON: ${describeError(error)}`);
    }
    const reason = await this.#deps.receive(page, message);
    if (reason !== undefined) return refuse(response, 400, reason);
    response.writeHead(204, HEADERS).end();
  }
}

async function readBody(request: IncomingMessage, longest = LONGEST_BODY): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > longest) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function sendRefusal(
  response: ServerResponse,
  status: number,
  reason: string,
  more: Readonly<Record<string, string>> = {},
): void {
  // The rest of the body is not read, so the connection cannot be used again.
  const close = status === 413 ? { connection: 'close' } : {};
  response
    .writeHead(status, { ...HEADERS, ...more, ...close, 'content-type': 'text/plain; charset=utf-8' })
    .end(`${reason}\n`);
}

/** Asynchronous, so that handlers can return it. */
async function refuse(...refusal: Parameters<typeof sendRefusal>): Promise<void> {
  sendRefusal(...refusal);
}

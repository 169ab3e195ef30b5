// Listens for WebSocket clients on the loopback address. Requires the token, and refuses pages of other origins.
import { timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { type Duplex } from 'node:stream';
import { type RawData, WebSocket, WebSocketServer } from 'ws';
import { type Clock } from '../../base/clock.ts';
import { type Disposable } from '../../base/disposable.ts';
import { UnprovenSockets } from '../../node/unprovenSockets.ts';
import { type Connection, type Transport } from '../connection.ts';
import { MOST_FRAME_BYTES } from './unixListener.ts';

const HOST = '127.0.0.1';
const PATH = '/ws';
const PING_EVERY = 30_000;
/** How many ports are tried, from the wanted one on, before any free one is used. */
const NEXT_PORTS = 20;
const LAST_PORT = 65_535;
const MOST_CONNECTIONS = 1000;

export interface WebSocketListenerDeps {
  /** The first port to try; 0: any free port. */
  readonly port: number;
  readonly token: string;
  readonly allowedOrigins: readonly string[];
  readonly clock: Clock;
  connect(transport: Transport): Connection;
  report(message: string, error: unknown): void;
}

export interface WebSocketListener {
  close(): Promise<void>;
  readonly url: string;
}

export async function listenOnWebSocket(deps: WebSocketListenerDeps): Promise<WebSocketListener> {
  const sockets = new WebSocketServer({ noServer: true, maxPayload: MOST_FRAME_BYTES, perMessageDeflate: false });
  const server = createServer((_, response) => response.writeHead(404, { connection: 'close' }).end());
  const unproven = new UnprovenSockets((reason) => refusal(503, `${reason}\n`));
  server.on('connection', (socket) => unproven.add(socket));
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const status = sockets.clients.size >= MOST_CONNECTIONS ? 503 : judge(request, deps);
    if (status !== undefined) return refuseUpgrade(socket, status);
    unproven.proven(request.socket);
    sockets.handleUpgrade(request, socket, head, (client) => serve(client, deps));
  });
  const port = await listenOnFreePort(server, deps.port);
  // Failing to accept one client, for lack of file descriptors, must not end the server.
  server.on('error', (error) => deps.report('a WebSocket client could not be accepted', error));
  const pinging = keepPinging(sockets, deps.clock);
  return {
    url: `ws://${HOST}:${port}${PATH}`,
    close: async () => {
      pinging.dispose();
      for (const client of sockets.clients) client.terminate();
      sockets.close();
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

/** The HTTP status with which to refuse the request; undefined: accept it. */
function judge(request: IncomingMessage, { token, allowedOrigins }: WebSocketListenerDeps): number | undefined {
  const { origin, authorization = '' } = request.headers;
  // Null if the path is not valid, such as two slashes: any program can send that.
  const url = URL.parse(request.url ?? '/', `http://${HOST}`);
  if (url?.pathname !== PATH) return 404;
  if (origin !== undefined && !allowedOrigins.includes(origin)) return 403;
  const given = authorization.startsWith('Bearer ') ? authorization.slice(7) : (url.searchParams.get('token') ?? '');
  return isSameToken(given, token) ? undefined : 401;
}

function isSameToken(given: string, token: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(token)];
  return a.length === b.length && timingSafeEqual(a, b);
}

function refuseUpgrade(socket: Duplex, status: number): void {
  socket.on('error', () => socket.destroy());
  socket.end(refusal(status), () => socket.destroy());
}

function refusal(status: number, body = ''): string {
  const reasons: Readonly<Record<number, string>> = {
    401: 'Unauthorized',
    403: 'Forbidden',
    404: 'Not Found',
    503: 'Busy',
  };
  const length = Buffer.byteLength(body);
  return `HTTP/1.1 ${status} ${reasons[status] ?? ''}\r\nConnection: close\r\nContent-Length: ${length}\r\n\r\n${body}`;
}

/** Clients that have answered since the last ping. */
const alive = new WeakSet<WebSocket>();

function serve(client: WebSocket, deps: WebSocketListenerDeps): void {
  const connection = deps.connect(webSocketTransport(client));
  alive.add(client);
  client.on('pong', () => alive.add(client));
  client.on('message', (data: RawData, isBinary: boolean) => {
    connection.receive(isBinary ? '' : toText(data));
  });
  client.on('error', () => client.terminate());
  client.on('close', () => connection.gone());
}

function toText(data: RawData): string {
  if (Array.isArray(data)) return Buffer.concat(data).toString('utf8');
  return Buffer.isBuffer(data) ? data.toString('utf8') : Buffer.from(data).toString('utf8');
}

function webSocketTransport(client: WebSocket): Transport {
  return {
    kind: 'webSocket',
    send: (frame, accepted) => {
      if (client.readyState === WebSocket.OPEN) client.send(frame, (error) => accepted(error ?? undefined));
      else accepted(new Error('the WebSocket is closed'));
    },
    isBlocked: () => client.bufferedAmount > 0,
    pause: () => client.pause(),
    resume: () => client.resume(),
    end: () => client.close(),
    destroy: () => client.terminate(),
  };
}

/** Detects a half-open connection within two intervals. */
function keepPinging(sockets: WebSocketServer, clock: Clock): Disposable {
  let timer: Disposable;
  const ping = () => {
    for (const client of sockets.clients) {
      if (!alive.delete(client)) client.terminate();
      else client.ping();
    }
    timer = clock.after(PING_EVERY, ping);
  };
  timer = clock.after(PING_EVERY, ping);
  return { dispose: () => timer.dispose() };
}

async function listenOnFreePort(server: Server, wanted: number): Promise<number> {
  const next = Array.from({ length: NEXT_PORTS }, (_, index) => wanted + index).filter((port) => port <= LAST_PORT);
  for (const port of wanted === 0 ? [0] : [...next, 0]) {
    const error = await tryToListen(server, port);
    if (error === undefined) return (server.address() as AddressInfo).port;
    if (error.code !== 'EADDRINUSE' && error.code !== 'EACCES') throw error;
  }
  throw new Error('no port is free');
}

function tryToListen(server: Server, port: number): Promise<NodeJS.ErrnoException | undefined> {
  return new Promise((resolve) => {
    const failed = (error: NodeJS.ErrnoException) => resolve(error);
    server.once('error', failed);
    server.listen(port, HOST, () => {
      server.off('error', failed);
      resolve(undefined);
    });
  });
}

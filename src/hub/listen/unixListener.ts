// Listens on a private Unix socket (a named pipe on Windows): one JSON object a line.
import { chmod, rm } from 'node:fs/promises';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { LineSplitter } from '../../base/jsonLines.ts';
import { type Connection, type Transport } from '../connection.ts';

export const MOST_FRAME_BYTES = 1024 * 1024;
/** More clients than this are turned away. */
const MOST_CONNECTIONS = 1000;

export interface Listener {
  close(): Promise<void>;
}

export interface UnixListenerDeps {
  readonly path: string;
  connect(transport: Transport): Connection;
  /** On Windows a pipe has no mode: the first line must be this token. Absent: it is not asked for. */
  readonly token?: string | undefined;
}

/** Rejects if another program listens there. A socket that nobody listens on is removed. */
export async function listenOnUnixSocket(deps: UnixListenerDeps): Promise<Listener> {
  const { path } = deps;
  if (process.platform !== 'win32') {
    if (await isAnswered(path)) throw new Error(`another program listens on ${path}`);
    await rm(path, { force: true });
  }
  const sockets = new Set<Socket>();
  // A client may close its half and still read the answers, as `nc -N` does.
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    if (sockets.size >= MOST_CONNECTIONS) {
      socket.destroy();
      return;
    }
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    serve(socket, deps);
  });
  await listening(server, path);
  if (process.platform !== 'win32') await chmod(path, 0o600);
  return {
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

function serve(socket: Socket, deps: UnixListenerDeps): void {
  let connection: Connection | undefined;
  let authorised = deps.token === undefined;
  const open = () => (connection ??= deps.connect(socketTransport(socket)));
  const lines = new LineSplitter(MOST_FRAME_BYTES, {
    onLine: (line) => {
      if (line === '' || line === '\r') return;
      if (!authorised) {
        authorised = line?.trimEnd() === deps.token;
        if (!authorised) socket.destroy();
        return;
      }
      // What is not valid UTF-8 is not valid JSON either, and is answered so.
      open().receive(line ?? '');
    },
    onTooLong: () => socket.destroy(),
  });
  if (authorised) open();
  socket.on('data', (chunk) => lines.write(typeof chunk === 'string' ? Buffer.from(chunk) : chunk));
  socket.on('end', () => {
    if (connection === undefined) socket.destroy();
    else connection.finish();
  });
  socket.on('error', () => socket.destroy());
  socket.on('close', () => {
    lines.end();
    connection?.gone();
  });
}

function socketTransport(socket: Socket): Transport {
  return {
    kind: 'unix',
    send: (frame, accepted) => void socket.write(`${frame}\n`, (error) => accepted(error ?? undefined)),
    pause: () => void socket.pause(),
    resume: () => void socket.resume(),
    end: () => void socket.end(),
    destroy: () => void socket.destroy(),
  };
}

function listening(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    // The socket is private from its first moment; the folder is too.
    const before = process.umask(0o177);
    server.listen(path, () => {
      server.off('error', reject);
      resolve();
    });
    process.umask(before);
  });
}

function isAnswered(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    const end = (answered: boolean) => {
      socket.destroy();
      resolve(answered);
    };
    socket.once('connect', () => end(true));
    socket.once('error', () => end(false));
  });
}

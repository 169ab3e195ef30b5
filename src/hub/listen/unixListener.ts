// Listens on a private Unix socket (a named pipe on Windows). Each line is one JSON object.
import { type Socket } from 'node:net';
import { LineSplitter } from '../../base/json/jsonLines.ts';
import { SERVER_ERROR } from '../../base/json/jsonRpc.ts';
import { listenPrivately, type PrivateSocket } from '../../node/privateSocket.ts';
import { UnprovenSockets } from '../../node/unprovenSockets.ts';
import { type Connection, type Transport } from '../connection.ts';

export const MOST_FRAME_BYTES = 1024 * 1024;
/** Frames are written as soon as this many characters are buffered. */
const MOST_GATHERED = 64 * 1024;

export interface UnixListenerDeps {
  readonly path: string;
  connect(transport: Transport): Connection;
  /** The token that the first line must contain. Used on Windows, where pipes have no file permissions. */
  readonly token?: string | undefined;
}

/** Rejects if another program listens on the socket. Removes a stale socket. */
export function listenOnUnixSocket(deps: UnixListenerDeps): Promise<PrivateSocket> {
  const unproven = new UnprovenSockets((message) => `${JSON.stringify(connectionRefused(message))}\n`);
  return listenPrivately(deps.path, (socket) => serve(socket, deps, unproven));
}

function connectionRefused(message: string): object {
  return { jsonrpc: '2.0', id: null, error: { code: SERVER_ERROR, message } };
}

function serve(socket: Socket, deps: UnixListenerDeps, unproven: UnprovenSockets): void {
  let connection: Connection | undefined;
  let authorised = deps.token === undefined;
  const open = () => (connection ??= deps.connect(socketTransport(socket)));
  const lines = new LineSplitter(MOST_FRAME_BYTES, {
    onLine: (line) => {
      if (line === '' || line === '\r') return;
      if (!authorised) {
        authorised = line?.trimEnd() === deps.token;
        if (authorised) unproven.proven(socket);
        else socket.destroy();
        return;
      }
      // A line that is not valid UTF-8 is passed as an empty one, which is answered as invalid JSON.
      open().receive(line ?? '');
    },
    onTooLong: () => socket.destroy(),
  });
  if (authorised) open();
  else unproven.add(socket);
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

/** Frames of one tick are written together. */
function socketTransport(socket: Socket): Transport {
  let text = '';
  let sent: ((error?: Error) => void)[] = [];
  const flush = () => {
    if (sent.length === 0) return;
    const [frames, accepted] = [text, sent];
    text = '';
    sent = [];
    socket.write(frames, (error) => {
      for (const one of accepted) one(error ?? undefined);
    });
  };
  return {
    kind: 'unix',
    send: (frame, accepted) => {
      text += `${frame}\n`;
      // Deferred, since a group of messages is stored, answered and pushed in one tick.
      if (sent.push(accepted) === 1) process.nextTick(flush);
      if (text.length >= MOST_GATHERED) flush();
    },
    isBlocked: () => {
      flush();
      return socket.writableLength > 0;
    },
    pause: () => void socket.pause(),
    resume: () => void socket.resume(),
    end: () => {
      flush();
      socket.end();
    },
    destroy: () => void socket.destroy(),
  };
}

// Listens on a socket that only this user can open: mode 0600 from its creation; a named pipe on Windows.
import { chmod, rm } from 'node:fs/promises';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { realFileSystem } from './files/fileSystem.ts';
import { platform } from './platform/platform.ts';

/** Further clients are disconnected. */
const MOST_CONNECTIONS = 1000;

export interface PrivateSocket {
  /** Whether others can find it: the socket may have been deleted. Rejects if the disk cannot be asked. */
  isReachable(): Promise<boolean>;
  /** Makes the socket again after it was deleted. Clients stay connected. Rejects like `listenPrivately`. */
  listenAgain(): Promise<void>;
  /** Disconnects all clients and removes the socket. */
  close(): Promise<void>;
}

/** Rejects if another program listens there. A socket without a listener is removed. The folder must be private too. */
export async function listenPrivately(path: string, serve: (socket: Socket) => void): Promise<PrivateSocket> {
  const sockets = new Set<Socket>();
  let [server, own]: [Server | undefined, string | undefined] = [undefined, undefined];
  const listen = async () => {
    if (platform.sockets.areFiles) {
      if (await isAnswered(path)) throw new Error(`another program listens on ${path}`);
      // Before the new one listens: it removes the file at the path.
      server?.close();
      await rm(path, { force: true });
    }
    server = createPrivateServer(sockets, serve);
    await listening(server, path);
    if (platform.sockets.areFiles) await chmod(path, 0o600);
    own = await identityOf(path);
  };
  await listen();
  return {
    isReachable: async () => (await identityOf(path)) === own,
    listenAgain: listen,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => server?.close(() => resolve()));
    },
  };
}

function createPrivateServer(sockets: Set<Socket>, serve: (socket: Socket) => void): Server {
  // A client may close its half and still read the answers, as `nc -N` does.
  return createServer({ allowHalfOpen: true }, (socket) => {
    if (sockets.size >= MOST_CONNECTIONS) {
      socket.destroy();
      return;
    }
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    serve(socket);
  });
}

/** On Windows a pipe is no file. Undefined if the socket does not exist. */
async function identityOf(path: string): Promise<string | undefined> {
  return platform.sockets.areFiles ? (await realFileSystem.stat(path))?.identity : '';
}

/** Whether anybody listens there. */
export function isAnswered(path: string): Promise<boolean> {
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

function listening(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    // The socket is private from its creation; the folder is too.
    const before = process.umask(0o177);
    server.listen(path, () => {
      server.off('error', reject);
      // A client that cannot be accepted, for lack of file descriptors, must not end the server.
      server.on('error', () => undefined);
      resolve();
    });
    process.umask(before);
  });
}

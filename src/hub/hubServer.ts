// A hub with its listeners, in the process that holds the folder's lock.
import { createHash, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { type TryLock } from '../node/kernelLock.ts';
import { platform } from '../node/platform/platform.ts';
import { type HubAddress } from '../protocol/hub.ts';
import { Hub, type HubDeps } from './hub.ts';
import { listenOnUnixSocket } from './listen/unixListener.ts';
import { listenOnWebSocket } from './listen/webSocketListener.ts';

export const ADDRESS_FILE = 'hub.json';
const LOCK_FILE = 'lock.db';
const SOCKET_FILE = 'hub.sock';
const DEFAULT_PORT = 9999;

export interface HubServerDeps extends HubDeps {
  readonly tryLock: TryLock;
  readonly port?: number | undefined;
  readonly allowedOrigins?: readonly string[] | undefined;
}

export interface HubServer {
  readonly address: HubAddress;
  /** Whether others can find it: its folder or its socket may have been deleted, or another hub may be there. */
  isReachable(): Promise<boolean>;
  /** Resolves once everything is on disk, nothing listens any more, and the lock is released. */
  close(): Promise<void>;
}

/** Undefined: another process serves this folder. */
export async function startHubServer(deps: HubServerDeps): Promise<HubServer | undefined> {
  const { files, folder, clock } = deps;
  await files.makeFolder(folder);
  const lock = deps.tryLock(join(folder, LOCK_FILE));
  if (lock === undefined) return undefined;
  const opened: { close(): Promise<void> }[] = [];
  const close = async () => {
    for (const one of opened.toReversed()) await one.close();
    lock.release();
  };
  try {
    const hub = await Hub.open(deps);
    opened.push(hub);
    const token = randomBytes(24).toString('base64url');
    const { sockets } = platform;
    const socket = sockets.inFolder(folder, SOCKET_FILE, folderKey(folder));
    const connect = hub.connect.bind(hub);
    const unix = await listenOnUnixSocket({
      path: socket,
      connect,
      ...(!sockets.areFiles && { token }),
    });
    opened.push(unix);
    const { port = DEFAULT_PORT, allowedOrigins = [] } = deps;
    const web = await listenOnWebSocket({ port, token, allowedOrigins, clock, connect, report: deps.report });
    opened.push(web);
    const address: HubAddress = { version: 1, pid: process.pid, socket, web_socket: web.url, token };
    const addressFile = join(folder, ADDRESS_FILE);
    await files.writeWhole(addressFile, Buffer.from(`${JSON.stringify(address)}\n`));
    const isReachable = async () => (await files.stat(addressFile)) !== undefined && (await unix.isReachable());
    return { address, isReachable, close };
  } catch (error) {
    await close();
    throw error;
  }
}

function folderKey(folder: string): string {
  return createHash('sha256').update(folder).digest('hex').slice(0, 16);
}

// One connection of a client to a hub, over the Unix socket that hub.json names.
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import type * as z from 'zod';
import { LineSplitter } from '../../base/json/jsonLines.ts';
import { JsonRpcPeer } from '../../base/json/jsonRpc.ts';
import { type FileSystem } from '../../node/files/fileSystem.ts';
import { platform } from '../../node/platform/platform.ts';
import { type HubAddress, hubAddress } from '../../protocol/hub.ts';
import { HUB_METHODS, type HubCall, type HubResult } from '../../protocol/hubMethods.ts';
import { ADDRESS_FILE } from '../hubServer.ts';
import { MOST_FRAME_BYTES } from '../listen/unixListener.ts';

/** Limit of a reply: a page of messages may be longer than a request. */
const MOST_REPLY_BYTES = 128 * MOST_FRAME_BYTES;

export interface HubConnection {
  /** Rejects with a `ZodError` if the answer is not valid, and with another error if the connection ends. */
  readonly call: HubCall;
  readonly closed: Promise<void>;
  close(): void;
}

/** Undefined: no hub was ever served here, or the file is not valid. */
export async function readAddress(files: FileSystem, folder: string): Promise<HubAddress | undefined> {
  const bytes = await files.read(join(folder, ADDRESS_FILE));
  if (bytes === undefined) return undefined;
  try {
    return hubAddress.parse(JSON.parse(new TextDecoder().decode(bytes)));
  } catch {
    return undefined;
  }
}

/** Rejects if no process listens on the socket. */
export async function connectToHub(
  { socket: path, token }: HubAddress,
  onPush: (method: string, params: unknown) => void,
  report: (error: unknown) => void,
): Promise<HubConnection> {
  const socket = await open(path);
  // Pipes have no file permissions, so the first line is the token.
  if (!platform.sockets.areFiles) socket.write(`${token}\n`);
  const peer = new JsonRpcPeer({
    send: (frame) => void socket.write(`${frame}\n`),
    handle: (method, params) => onPush(method, params),
    report,
  });
  const lines = new LineSplitter(MOST_REPLY_BYTES, {
    onLine: (line) => peer.receive(line ?? ''),
    onTooLong: () => socket.destroy(),
  });
  socket.on('data', (chunk: Buffer) => lines.write(chunk));
  socket.on('error', () => socket.destroy());
  const closed = new Promise<void>((resolve) => {
    socket.on('close', () => {
      lines.end();
      peer.close('the hub is gone');
      resolve();
    });
  });
  const call: HubCall = async (method, params) => {
    const result: z.ZodType = HUB_METHODS[method].result;
    return result.parse(await peer.request(method, params)) as HubResult<typeof method>;
  };
  return { call, closed, close: () => void socket.destroy() };
}

function open(path: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(path);
    socket.once('connect', () => {
      socket.off('error', reject);
      resolve(socket);
    });
    socket.once('error', reject);
  });
}

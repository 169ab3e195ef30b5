// A hub on an in-memory disk, without sockets and with an in-memory index.
import * as sqlite from 'node:sqlite';
import { type Clock } from '../../../src/base/clock.ts';
import { JsonRpcPeer } from '../../../src/base/json/jsonRpc.ts';
import { Hub } from '../../../src/hub/hub.ts';
import { realIds } from '../../../src/node/realIds.ts';
import { type FaultyFileSystem } from '../log/faultyFileSystem.ts';
import { type Answer } from '../testHub.ts';

/** `after` calls back at once, so that waiting for another attempt takes no time. */
const impatientClock: Clock = {
  now: () => 0,
  monotonic: () => 0,
  after: (milliseconds, run) => {
    if (milliseconds < 1000) setImmediate(run);
    return { dispose: () => undefined };
  },
};

export async function openInMemory(
  files: FaultyFileSystem,
): Promise<{ hub: Hub; call(method: string, params?: object): Promise<Answer> }> {
  const hub = await Hub.open({
    files,
    folder: '/hub',
    clock: impatientClock,
    sqlite,
    version: 'test',
    ulid: () => realIds.ulid(),
    report: () => undefined,
  });
  const peer = new JsonRpcPeer({
    send: (frame) => connection.receive(frame),
    handle: () => undefined,
    report: (error) => {
      throw error;
    },
  });
  const connection = hub.connect({
    kind: 'unix',
    send: (frame, accepted) => {
      peer.receive(frame);
      accepted();
    },
    isBlocked: () => false,
    pause: () => undefined,
    resume: () => undefined,
    end: () => undefined,
    destroy: () => undefined,
  });
  return { hub, call: async (method, params) => (await peer.request(method, params)) as Answer };
}

// The two kinds of clients over one window: the same scenarios run against both.
import { type Client } from '../../../src/core/client/client.ts';
import { RemoteClient } from '../../../src/core/client/remote/remoteClient.ts';
import { realClock } from '../../../src/node/realClock.ts';
import { attachPlugin } from '../../../src/plugins/client/pluginClient.ts';
import { atTestEnd } from '../endings.ts';
import { createPluginWorld, type PluginWorld, type PluginWorldOptions } from './pluginWorld.ts';

export const KINDS = ['local', 'remote'] as const;
export type Kind = (typeof KINDS)[number];

export interface ClientWorld {
  readonly world: PluginWorld;
  readonly client: Client;
  /** What the remote client warned about. */
  readonly warnings: readonly string[];
  /** Breaks the connection of the remote client. */
  disconnect(): void;
}

export async function createClientWorld(kind: Kind, options: PluginWorldOptions = {}): Promise<ClientWorld> {
  const world = await createPluginWorld({ programs: { terminal: { approve: true } }, ...options });
  const warnings: string[] = [];
  if (kind === 'local') {
    const client = world.shared.clients.as({ by: 'user' });
    atTestEnd(async () => client.dispose());
    return { world, client, warnings, disconnect: () => undefined };
  }
  const remote = await attachRemote(world, warnings);
  return { world, warnings, ...remote };
}

/** A remote client as a program has it: attached to the window's socket, in the same process. */
export async function attachRemote(world: PluginWorld, warnings: string[] = [], asksAll = false) {
  const { promise: attached, resolve } = Promise.withResolvers<void>();
  const end = Promise.withResolvers<void>();
  const { path, token } = world.listener;
  const plugin = attachPlugin(
    path,
    'terminal',
    '1',
    {
      describe: { name: 'terminal', version: '1', description: '' },
      run: async () => {
        resolve();
        await Promise.race([end.promise, plugin.shutDown]);
        return 0;
      },
      event: (event) => client.receive(event),
      error: (error) => (error.sub_id === undefined ? warnings.push(error.message) : client.subscriptionEnded(error)),
    },
    token,
  );
  const client: RemoteClient = new RemoteClient({
    clock: realClock,
    asksAll,
    request: (type, fields) => plugin.request(type as 'subscribe', fields as never),
    warn: (message) => warnings.push(message),
  });
  const ended = plugin.ended.then(() => client.disconnected('The window is gone.'));
  atTestEnd(async () => {
    client.dispose();
    end.resolve();
    await ended;
  });
  await attached;
  const started = await client.start();
  if (!started.ok) throw new Error(started.failure.message);
  return { client, disconnect: () => end.resolve() };
}

// Attaches to a VS Code window that has the folder open: the client's sessions are conversations of that window.
import { type AcpFolder } from '../../acp/acpFolder.ts';
import { failed, type Result, succeeded } from '../../base/errors.ts';
import { RemoteClient } from '../../core/client/remote/remoteClient.ts';
import { type Logger } from '../../core/ports/ports.ts';
import { realFileSystem } from '../../node/files/fileSystem.ts';
import { realClock } from '../../node/realClock.ts';
import { attachPlugin } from '../../plugins/client/pluginClient.ts';
import { type FoundWindow } from '../../plugins/client/windowSockets.ts';
import { type HostMessageOf } from '../../protocol/plugin.ts';
import { createSnapshots } from '../../storage/snapshots.ts';
import { headlessTools } from '../headless/headlessTools.ts';

/** The name under which it attaches. The user is asked once whether a program of this name may do so. */
const NAME = 'acp';
const GONE = 'The window of VS Code was closed.';
const NEXT = 'Open it again and the session goes on, or start a new session without it.';

export interface JoinDeps {
  readonly logger: Logger;
  readonly version: string;
}

export async function joinWindow(
  { logger, version }: JoinDeps,
  window: Pick<FoundWindow, 'path' | 'token'>,
  folder: string,
): Promise<Result<AcpFolder>> {
  const attached = Promise.withResolvers<HostMessageOf<'init'>>();
  const end = Promise.withResolvers<void>();
  let refusal = 'The window of VS Code closed the connection.';
  const description = 'The agent for editors that speak the Agent Client Protocol.';
  const plugin = attachPlugin(
    window.path,
    NAME,
    version,
    {
      describe: { name: NAME, version, description },
      run: async (_plugin, init) => {
        attached.resolve(init);
        await Promise.race([plugin.shutDown, end.promise]);
        return 0;
      },
      event: (event) => client.receive(event),
      error: (error) => {
        if (error.sub_id !== undefined) return client.subscriptionEnded(error);
        refusal = error.message;
        logger.error(`the window of VS Code refuses: ${error.message}`);
      },
    },
    window.token,
  );
  const client: RemoteClient = new RemoteClient({
    clock: realClock,
    asksAll: false,
    request: (type, fields) => plugin.request(type as 'subscribe', fields as never),
    warn: (message) => logger.warn(message),
  });
  const init = await Promise.race([attached.promise, plugin.ended.then(() => undefined)]);
  if (init === undefined) return failed('plugin', refusal, 'Allow it in the window, or start acp.js with --headless.');
  const started = await client.start();
  if (!started.ok) return started;
  void plugin.ended.then(
    () => client.disconnected(`${GONE} ${NEXT}`),
    (error: unknown) => logger.error('the connection to the window failed', error),
  );
  const tools = new Map(headlessTools({}).map((tool) => [tool.description.name, tool]));
  return succeeded({
    ...{ folder, client, isWindow: true },
    // Read from the window's storage: the connection sends only hashes of changed files.
    snapshots: createSnapshots({ files: realFileSystem, folder: init.workspace.storage }),
    effectOf: (tool) => tools.get(tool)?.effect,
    traitsOf: (tool) => tools.get(tool)?.traits,
    // A window has its own servers.
    addServers: (servers) => {
      const names = servers.map(({ name }) => name).join(', ');
      if (names !== '') logger.warn(`MCP servers of the client are not used in a window of VS Code: ${names}`);
    },
    close: async () => {
      client.dispose();
      end.resolve();
    },
  });
}

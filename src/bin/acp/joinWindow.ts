// Attaches to a VS Code window that has the folder open: the client's sessions are conversations of that window.
import { JoinedFolder } from '../../acp/joinedFolder.ts';
import { type FolderListener, type SessionFolder } from '../../acp/sessionFolder.ts';
import { failed, type Result, succeeded } from '../../base/errors.ts';
import { type Logger } from '../../core/ports/ports.ts';
import { realFileSystem } from '../../node/files/fileSystem.ts';
import { attachPlugin } from '../../plugins/client/pluginClient.ts';
import { type FoundWindow } from '../../plugins/client/windowSockets.ts';
import { type HostMessageOf } from '../../protocol/plugin.ts';
import { createSnapshots } from '../../storage/snapshots.ts';
import { shippedTools } from './shippedTools.ts';

/** The name under which it attaches. The user is asked once whether a program of this name may do so. */
const NAME = 'acp';

export interface JoinDeps {
  readonly logger: Logger;
  readonly version: string;
}

export async function joinWindow(
  { logger, version }: JoinDeps,
  window: Pick<FoundWindow, 'path' | 'token'>,
  folder: string,
  listener: FolderListener,
  asks: boolean,
): Promise<Result<SessionFolder>> {
  const attached = Promise.withResolvers<HostMessageOf<'init'>>();
  const made: { folder?: JoinedFolder } = {};
  const end = Promise.withResolvers<void>();
  let refusal = 'The window of VS Code closed the connection.';
  const description = 'The agent for editors that speak the Agent Client Protocol.';
  const client = attachPlugin(
    window.path,
    NAME,
    version,
    {
      describe: { name: NAME, version, description },
      run: async (_client, init) => {
        attached.resolve(init);
        await Promise.race([client.shutDown, end.promise]);
        return 0;
      },
      event: (event) => made.folder?.receive(event),
      error: ({ message }) => {
        refusal = message;
        logger.error(`the window of VS Code refuses: ${message}`);
      },
    },
    window.token,
  );
  const init = await Promise.race([attached.promise, client.ended.then(() => undefined)]);
  if (init === undefined) return failed('plugin', refusal, 'Allow it in the window, or start acp.js with --headless.');
  const tools = new Map(shippedTools(undefined).map((tool) => [tool.description.name, tool]));
  const joined = new JoinedFolder({
    ...{ folder, listener, asks },
    window: {
      request: (type, fields) => client.request(type, fields),
      end: () => end.resolve(),
    },
    // Read from the window's storage: the connection sends only hashes of changed files.
    snapshots: createSnapshots({ files: realFileSystem, folder: init.workspace.storage }),
    effectOf: (tool) => tools.get(tool)?.effect,
    traitsOf: (tool) => tools.get(tool)?.traits,
    warn: (message) => logger.warn(message),
    report: (what, error) => logger.error(what, error),
  });
  made.folder = joined;
  client.ended.then(
    () => joined.gone(),
    (error: unknown) => logger.error('the connection to the window failed', error),
  );
  return succeeded(joined);
}

// The MCP servers of a window, as VS Code composes them from the user's settings, for a window without the editor.
import { type Disposable } from '../../../src/base/disposable.ts';
import { type Logger } from '../../../src/core/ports/ports.ts';
import { readConfigValue } from '../../../src/mcp/config/configuration.ts';
import { createMcpPart } from '../../../src/mcp/mcpPart.ts';
import { CommandApprovals } from '../../../src/node/files/commandApprovals.ts';
import { realClock } from '../../../src/node/realClock.ts';
import { createMcpProducer } from '../../../src/producers/mcp.ts';
import { type Settings } from '../../../src/protocol/settings.ts';
import { createTestMemory } from '../mcp/mcpWalk.ts';
import { type Headless } from '../walk/headless.ts';

export async function startWindowServers(
  { earshot, ports, folder }: Headless,
  settings: Settings,
  logger: Logger,
): Promise<Disposable & { close(): Promise<void> }> {
  const current = () => settings;
  const watched = { snapshots: ports.snapshots, clock: realClock, logger, settings: current } as const;
  const { servers, dispose } = createMcpPart({
    ...{ earshot, settings: current },
    createProducer: (from) => createMcpProducer({ source: from, ...watched, settingsOf: 'editor' }),
    variables: () => ({ folder, folders: [], input: async () => undefined, setting: () => undefined }),
    host: {
      logger,
      memory: createTestMemory(),
      approvals: new CommandApprovals({ has: () => false, add: async () => undefined }),
      roots: () => [folder],
      client: { name: 'Earshot', version: 'test' },
      isTrusted: () => true,
      approve: async () => true,
      openExternal: async () => false,
      log: () => undefined,
    },
  });
  const source = { label: 'the user settings', workspace: false, folder };
  const { servers: configured } = readConfigValue({ servers: settings['mcp.servers'] }, source);
  await servers.configure(configured);
  return { close: () => servers.close(), dispose };
}

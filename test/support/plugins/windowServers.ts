// The MCP servers of a window, as VS Code composes them from the user's settings, for a window without the editor.
import { type Disposable, DisposableStore } from '../../../src/base/disposable.ts';
import { type Logger } from '../../../src/core/ports/ports.ts';
import { readConfigValue } from '../../../src/mcp/config/configuration.ts';
import { McpServers } from '../../../src/mcp/servers.ts';
import { openSession } from '../../../src/mcp/session/openSession.ts';
import { LIMITS } from '../../../src/mcp/session/sessionPort.ts';
import { CommandApprovals } from '../../../src/node/files/commandApprovals.ts';
import { realClock } from '../../../src/node/realClock.ts';
import { createMcpProducer } from '../../../src/producers/mcp.ts';
import { McpEvents } from '../../../src/producers/mcpEvents/mcpEvents.ts';
import { type Settings } from '../../../src/protocol/settings.ts';
import { createTestMemory } from '../mcp/mcpWalk.ts';
import { type Headless } from '../walk/headless.ts';

export async function startWindowServers(
  { earshot, ports, folder }: Headless,
  settings: Settings,
  logger: Logger,
): Promise<Disposable & { close(): Promise<void> }> {
  const held = new DisposableStore();
  const servers = held.add(
    new McpServers({
      clock: realClock,
      logger,
      memory: createTestMemory(),
      approvals: new CommandApprovals({ has: () => false, add: async () => undefined }),
      roots: () => [folder],
      client: { name: 'Earshot', version: 'test' },
      limits: LIMITS,
      open: openSession,
      trusted: true,
      variables: () => ({
        folder,
        folders: [],
        environment: process.env,
        input: async () => undefined,
        setting: () => undefined,
      }),
      approve: async () => true,
      openExternal: async () => false,
      log: () => undefined,
      register: (tools) => earshot.tools.register(tools),
      trustsHints: () => false,
    }),
  );
  const watched = { source: servers, snapshots: ports.snapshots, clock: realClock, logger, settings: () => settings };
  const events = held.add(new McpEvents({ ...watched, settingsOf: 'editor' }));
  held.add(earshot.producers.register(createMcpProducer({ source: servers, events, clock: realClock, logger })));
  const source = { label: 'the user settings', workspace: false, folder };
  const { servers: configured } = readConfigValue({ servers: settings['mcp.servers'] }, source);
  await servers.configure(configured);
  return { close: () => servers.close(), dispose: () => held.dispose() };
}

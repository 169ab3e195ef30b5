// The MCP servers with the producer of their notifications, as a window and a folder without an editor compose them.
import { type Disposable, DisposableStore } from '../base/disposable.ts';
import { type Earshot } from '../core/earshot.ts';
import { type McpSource } from '../core/ports/mcp.ts';
import { type Producer } from '../core/ports/ports.ts';
import { realClock } from '../node/realClock.ts';
import { type Settings } from '../protocol/settings.ts';
import { type ConfiguredServer } from './config/configuration.ts';
import { type VariableDeps } from './config/variables.ts';
import { McpServers, type McpServersDeps } from './servers.ts';
import { openSession } from './session/openSession.ts';
import { LIMITS } from './session/sessionPort.ts';

type Composed = 'clock' | 'limits' | 'open' | 'register' | 'trustsHints' | 'variables';

/** What differs between the compositions. */
export interface McpPartDeps<Events> {
  readonly earshot: Pick<Earshot, 'tools' | 'producers'>;
  readonly host: Omit<McpServersDeps, Composed> & Partial<Pick<McpServersDeps, Composed>>;
  settings(): Pick<Settings, 'mcp.timeout' | 'mcp.trustedReadOnly'>;
  /** The folders and the user's answers that a configuration may name. */
  variables(server: ConfiguredServer): Omit<VariableDeps, 'environment'>;
  createProducer(source: McpSource): { readonly producer: Producer; readonly events: Events };
}

export interface McpPart<Events> extends Disposable {
  readonly servers: McpServers;
  readonly events: Events;
}

export function createMcpPart<Events extends Disposable>(deps: McpPartDeps<Events>): McpPart<Events> {
  const { earshot, host, settings } = deps;
  const held = new DisposableStore();
  const servers = held.add(
    new McpServers({
      clock: realClock,
      open: openSession,
      limits: {
        ...LIMITS,
        get request() {
          return settings()['mcp.timeout'] * 1000;
        },
      },
      register: (tools) => earshot.tools.register(tools),
      trustsHints: (server) => settings()['mcp.trustedReadOnly'].includes(server),
      variables: (server) => ({ environment: process.env, ...deps.variables(server) }),
      ...host,
    }),
  );
  const { producer, events } = deps.createProducer(servers);
  held.add(events);
  held.add(earshot.producers.register(producer));
  return { servers, events, dispose: () => held.dispose() };
}

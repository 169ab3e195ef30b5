// The first message to a plugin: its workspace, options and arguments, and Earshot's settings without secrets.
import { type HostMessageOf, PLUGIN_PROTOCOL } from '../protocol/plugin.ts';
import { type Settings } from '../protocol/settings.ts';

export interface InitDeps {
  readonly workspace: HostMessageOf<'init'>['workspace'];
  readonly paths: Readonly<Record<string, string>>;
  readonly settings: Settings;
  /** 0: errors only, 4: everything. */
  readonly logLevel: number;
}

export function createInit(
  { workspace, paths, settings, logLevel }: InitDeps,
  options: Readonly<Record<string, unknown>>,
  args: readonly string[],
): HostMessageOf<'init'> {
  return {
    type: 'init',
    version: PLUGIN_PROTOCOL,
    workspace,
    paths: { ...paths },
    config: publicSettings(settings),
    options: { ...options },
    args: [...args],
    log_level: Math.min(4, Math.max(0, logLevel)),
    output_format: 'plain',
  };
}

/** Leaves out what may hold a secret: options of other plugins, MCP servers and providers with headers, credentials in addresses. */
export function publicSettings(settings: Settings): Record<string, unknown> {
  const { 'plugins.programs': _programs, 'mcp.servers': _servers, 'mcp.inputs': _inputs, ...rest } = settings;
  return {
    ...rest,
    baseUrl: withoutCredentials(rest.baseUrl),
    providers: Object.fromEntries(
      Object.entries(rest.providers).map(([id, { headers: _headers, ...provider }]) => [
        id,
        { ...provider, baseUrl: withoutCredentials(provider.baseUrl) },
      ]),
    ),
    'hub.server': rest['hub.server'].split(',').map(withoutCredentials).join(),
  };
}

function withoutCredentials(address: string): string {
  if (!URL.canParse(address)) return address === '' ? '' : '•••';
  const url = new URL(address);
  if (url.username === '' && url.password === '' && url.search === '') return address;
  url.username = '';
  url.password = '';
  url.search = '';
  return url.href;
}

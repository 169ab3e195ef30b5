// An outside agent: the real hub-mcp program, driven by the official MCP client.
import { resolve } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { compileCache } from './compileCache.ts';
import { atTestEnd } from './endings.ts';

const program = resolve(import.meta.dirname, '../../src/bin/hubMcp.ts');

export interface HubMcpClient {
  readonly pid: number;
  /** The text of the result; rejects if the tool failed. */
  call(tool: string, args?: Readonly<Record<string, unknown>>): Promise<string>;
  tools(): Promise<readonly string[]>;
  close(): Promise<void>;
}

export interface HubMcpOptions {
  readonly home: string;
  readonly folder: string;
  readonly client?: string;
  readonly flags?: readonly string[];
  readonly modern?: boolean;
  /** Another Node and the built program, instead of this Node and the source. */
  readonly command?: readonly [node: string, ...args: string[]];
}

export async function startHubMcp({
  home,
  folder,
  client: name = 'Claude Code',
  flags = [],
  modern = false,
  command: [node, ...args] = [process.execPath, '--no-warnings', program],
}: HubMcpOptions): Promise<HubMcpClient> {
  const transport = new StdioClientTransport({
    command: node,
    args: [...args, '--dir', folder, ...flags],
    env: { PATH: process.env['PATH'] ?? '', HOME: home, EARSHOT_HOME: home, ...compileCache },
  });
  const client = new Client({ name, version: '1' }, modern ? { versionNegotiation: { mode: 'auto' } } : {});
  await client.connect(transport);
  let closed: Promise<void> | undefined;
  const close = () => (closed ??= client.close());
  atTestEnd(close);
  return {
    get pid() {
      return transport.pid ?? Number.NaN;
    },
    call: async (tool, args = {}) => {
      const result = await client.callTool({ name: tool, arguments: args });
      const [part] = result.content;
      const text = part?.type === 'text' ? part.text : '';
      if (result.isError === true) throw new Error(text);
      return text;
    },
    tools: async () => (await client.listTools()).tools.map((tool) => tool.name),
    close,
  };
}

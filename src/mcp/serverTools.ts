// Keeps the registered MCP tools equal to those that the servers offer. An unchanged tool stays registered.
import { type Disposable } from '../base/disposable.ts';
import { shortList } from '../base/text.ts';
import { type Tool } from '../core/ports/ports.ts';
import { MOST_OFFERED, MOST_OFFERED_CHARACTERS, sizeOf } from '../core/prompt/offered.ts';
import { type McpServer } from './server.ts';
import { type McpTool } from './session/sessionPort.ts';
import { createFindTools, type SearchedTool } from './tools/findTools.ts';
import { createMcpTool } from './tools/mcpTool.ts';
import { nameTool, prefixServers } from './tools/toolNames.ts';
import { describeCuts, describedAs } from './tools/toolSchema.ts';

export type RegisterTools = (tools: readonly Tool[]) => Disposable;

export interface ServerToolsDeps {
  readonly register: RegisterTools;
  isOff(server: McpServer, tool: string): boolean;
  trustsHints(server: string): boolean;
  /** A line for the server's log. */
  log(server: string, line: string): void;
}

/** Set if the tools of all servers are too many or too large: conversations that begin now have to find them. */
export interface SearchedTools {
  readonly tools: number;
  readonly kilobytes: number;
}

interface Offered extends SearchedTool {
  readonly server: string;
  /** The tool's name on the server. */
  readonly tool: string;
  readonly key: string;
  readonly registered: Disposable;
}

export class ServerTools implements Disposable {
  readonly #deps: ServerToolsDeps;
  /** Offered tools by the name that the model uses. */
  readonly #offered = new Map<string, Offered>();
  #finding: Disposable | undefined;
  #searched: SearchedTools | undefined;

  constructor(deps: ServerToolsDeps) {
    this.#deps = deps;
  }

  get searched(): SearchedTools | undefined {
    return this.#searched;
  }

  namesOf(server: string): readonly string[] {
    return [...this.#offered].flatMap(([name, one]) => (one.server === server ? [name] : []));
  }

  nameOf(server: string, tool: string): string | undefined {
    return [...this.#offered].find(([, one]) => one.server === server && one.tool === tool)?.[0];
  }

  refresh(servers: readonly McpServer[]): void {
    // With any server, since a conversation that begins with few tools may have to find others later.
    this.#finding ??= this.#deps.register([createFindTools(() => [...this.#offered.values()])]);
    const wanted = this.#wanted(servers);
    const size = wanted.reduce((sum, { name, tool }) => sum + sizeOf(describedAs(name, tool)), 0);
    const many = wanted.length > MOST_OFFERED || size > MOST_OFFERED_CHARACTERS;
    this.#search(servers, many ? { tools: wanted.length, kilobytes: Math.round(size / 1000) } : undefined);
    this.#logCuts(wanted.filter(({ name }) => !this.#offered.has(name)));
    const keys = new Map(wanted.map((one) => [one.name, offerKey(one, this.#deps.trustsHints(one.server.name))]));
    for (const [name, { key, registered }] of this.#offered) {
      if (keys.get(name) === key) continue;
      this.#offered.delete(name);
      registered.dispose();
    }
    for (const { name, server, tool } of wanted) {
      if (this.#offered.has(name)) continue;
      const trustsHints = this.#deps.trustsHints(server.name);
      const made = createMcpTool({ name, server, tool, trustsHints }) as Tool;
      this.#offered.set(name, {
        server: server.name,
        tool: tool.name,
        description: made.description,
        key: keys.get(name) ?? '',
        registered: this.#deps.register([made]),
      });
    }
  }

  #search(servers: readonly McpServer[], searched: SearchedTools | undefined): void {
    const isSame = JSON.stringify(searched) === JSON.stringify(this.#searched);
    this.#searched = searched;
    if (isSame || searched === undefined) return;
    const { tools, kilobytes } = searched;
    const line = `The ${tools} tools of all servers have ${kilobytes} KB: the model finds them with find_tools.`;
    for (const { name, tools: own } of servers) if (own.length > 0) this.#deps.log(name, line);
  }

  #logCuts(added: readonly { server: McpServer; tool: McpTool }[]): void {
    for (const server of new Set(added.map((one) => one.server))) {
      const cuts = added.flatMap((one) => (one.server === server ? (describeCuts(one.tool) ?? []) : []));
      if (cuts.length > 0) this.#deps.log(server.name, `Too long for each request, and so cut: ${shortList(cuts)}.`);
    }
  }

  dispose(): void {
    for (const { registered } of this.#offered.values()) registered.dispose();
    this.#offered.clear();
    this.#finding?.dispose();
    this.#finding = undefined;
  }

  #wanted(servers: readonly McpServer[]): { name: string; server: McpServer; tool: McpTool }[] {
    const taken = new Set<string>();
    const prefixes = prefixServers(servers.map(({ name }) => name));
    return servers.flatMap((server) =>
      server.tools.flatMap((tool) => {
        const name = nameTool(prefixes.get(server.name) ?? '', tool.name, taken);
        return this.#deps.isOff(server, tool.name) ? [] : [{ name, server, tool }];
      }),
    );
  }
}

function offerKey({ server, tool }: { server: McpServer; tool: McpTool }, trustsHints: boolean): string {
  return JSON.stringify([server.configured.identity, tool, trustsHints]);
}

// Resources and prompts of the connected servers: lists them for pickers, reads them, and watches resources for the
// conversations that have read them.
import { within } from '../../base/async.ts';
import { type Clock } from '../../base/clock.ts';
import { type Disposable } from '../../base/disposable.ts';
import { describeError, failed, type Result, succeeded } from '../../base/errors.ts';
import { wholeCharacters } from '../../base/text.ts';
import { type Tool } from '../../core/ports/ports.ts';
import { parseResourceName } from '../../protocol/scopes.ts';
import { type McpServer } from '../server.ts';
import { type RegisterTools } from '../serverTools.ts';
import { type McpPrompt, type McpResource, type McpSession } from '../session/sessionPort.ts';
import { contentText } from '../tools/contentText.ts';
import { createReadResource, type ReadResource, type ReadResourceDeps } from './readResource.ts';

/** Limit of a resource or prompt in a request, in characters. */
const MOST_TEXT = 100_000;
/** A list is read again after this time even if its server announced no change. */
const KEPT_MILLISECONDS = 30_000;
/** How long a picker waits for a server. Entries that come later are shown at the next keystroke. */
const LISTED_WITHIN = 2000;

export interface OfServer<T> {
  readonly server: string;
  readonly item: T;
}

export interface ServerResourcesDeps extends Pick<ReadResourceDeps, 'servers' | 'trustsHints' | 'wasRead'> {
  readonly clock: Clock;
  readonly register: RegisterTools;
}

interface Lists {
  readonly at: number;
  readonly resources: Promise<readonly McpResource[]>;
  readonly prompts: Promise<readonly McpPrompt[]>;
}

export class ServerResources implements Disposable {
  readonly #deps: ServerResourcesDeps;
  readonly #lists = new Map<string, Lists>();
  /** Watched addresses by server. */
  #watched: ReadonlyMap<string, readonly string[]> = new Map();
  #tool: Disposable | undefined;

  constructor(deps: ServerResourcesDeps) {
    this.#deps = deps;
  }

  listResources(): Promise<readonly OfServer<McpResource>[]> {
    return this.#list(({ resources }) => resources);
  }

  listPrompts(): Promise<readonly OfServer<McpPrompt>[]> {
    return this.#list(({ prompts }) => prompts);
  }

  /** `values`: the address is a template, and these are the values of its variables. */
  read(name: string, uri: string, values?: Readonly<Record<string, string>>): Promise<Result<ReadResource>> {
    return this.#with(name, async (session) => {
      const { uri: address, blocks } = await session.readResource(uri, values);
      return { server: name, uri: address, content: bound(contentText(blocks)) };
    });
  }

  prompt(name: string, prompt: string, args: Readonly<Record<string, string>>): Promise<Result<string>> {
    return this.#with(name, async (session) => bound(await session.getPrompt(prompt, args)));
  }

  /** Watches these resources and no others. Names are as in scopes. */
  watch(names: ReadonlySet<string>): void {
    const before = this.#watched;
    const watched = new Map<string, string[]>();
    for (const { server, uri } of [...names].sort().map(parseResourceName)) {
      watched.set(server, [...(watched.get(server) ?? []), uri]);
    }
    this.#watched = watched;
    for (const server of this.#deps.servers()) {
      const now = this.#watched.get(server.name) ?? [];
      if (now.join(' ') !== (before.get(server.name) ?? []).join(' ')) this.#apply(server);
    }
  }

  /** The watched address that a change belongs to: a server may announce a change below it. */
  watchedFor(server: string, uri: string): string {
    const watched = this.#watched.get(server) ?? [];
    if (watched.includes(uri)) return uri;
    return watched.find((one) => uri.startsWith(one.endsWith('/') ? one : `${one}/`)) ?? uri;
  }

  /** Call it for a newly configured server, before it is connected. */
  added(server: McpServer): void {
    if (this.#watched.has(server.name)) this.#apply(server);
  }

  /** Call it when a server has connected, or announced other resources or prompts. */
  changed(name: string): void {
    this.#lists.delete(name);
    const hasResources = this.#deps.servers().some(({ session }) => session?.hasResources === true);
    // Stays registered from then on: it always lists the servers that are connected at that time.
    if (hasResources) this.#tool ??= this.#deps.register([this.#createTool()]);
  }

  dispose(): void {
    this.#tool?.dispose();
    this.#lists.clear();
  }

  #createTool(): Tool {
    const { servers, trustsHints, wasRead } = this.#deps;
    return createReadResource({
      servers: () => servers(),
      trustsHints: (server) => trustsHints(server),
      wasRead: (server, uri, conversation) => wasRead(server, uri, conversation),
      list: async (server) => (await this.listResources()).flatMap((one) => (one.server === server ? [one.item] : [])),
      read: (server, uri) => this.read(server, uri),
    });
  }

  #apply(server: McpServer): void {
    const uris = this.#watched.get(server.name) ?? [];
    void server.watchResources(uris).catch((error: unknown) => server.noteFailure(error));
  }

  async #list<T>(of: (lists: Lists) => Promise<readonly T[]>): Promise<readonly OfServer<T>[]> {
    const listed = await Promise.all(
      this.#deps.servers().map(async (server) => {
        const { session } = server;
        if (session === undefined) return [];
        const items = await within(this.#deps.clock, LISTED_WITHIN, of(this.#listsOf(server, session)));
        return (items ?? []).map((item) => ({ server: server.name, item }));
      }),
    );
    return listed.flat();
  }

  #listsOf(server: McpServer, session: McpSession): Lists {
    const now = this.#deps.clock.monotonic();
    const known = this.#lists.get(server.name);
    if (known !== undefined && now - known.at < KEPT_MILLISECONDS) return known;
    const none = (error: unknown) => {
      server.noteFailure(error);
      return [];
    };
    const lists = {
      at: now,
      resources: session.listResources().catch(none),
      prompts: session.listPrompts().catch(none),
    };
    this.#lists.set(server.name, lists);
    return lists;
  }

  async #with<T>(name: string, get: (session: McpSession) => Promise<T>): Promise<Result<T>> {
    const session = this.#deps.servers().find((server) => server.name === name)?.session;
    if (session === undefined) return failed('unreachable', `The MCP server “${name}” is not connected.`);
    try {
      return succeeded(await get(session));
    } catch (error) {
      const why = wholeCharacters(describeError(error), 1000);
      return failed('unreachable', `The MCP server “${name}” could not provide it: ${why}`);
    }
  }
}

function bound(text: string): string {
  return text.length <= MOST_TEXT ? text : `${wholeCharacters(text, MOST_TEXT)}\n… (cut here)`;
}

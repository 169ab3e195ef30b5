// Resources and prompts of the connected servers: listed for pickers, read, and watched for the conversations that have read them.
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

/** Of a resource or a prompt that goes into a request. */
const MOST_TEXT = 100_000;
/** A list is read again after this time, though its server announced no change. */
const KEPT_MILLISECONDS = 30_000;
/** A picker does not wait longer for a server; its entries are there for the next keystroke. */
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
  /** Addresses by server. */
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

  /** `values`: the address is a template. */
  read(name: string, uri: string, values?: Readonly<Record<string, string>>): Promise<Result<ReadResource>> {
    return this.#with(name, async (session) => {
      const { uri: address, blocks } = await session.readResource(uri, values);
      return { server: name, uri: address, content: bound(contentText(blocks)) };
    });
  }

  prompt(name: string, prompt: string, args: Readonly<Record<string, string>>): Promise<Result<string>> {
    return this.#with(name, async (session) => bound(await session.getPrompt(prompt, args)));
  }

  /** Replaces what is watched; named as in scopes. */
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

  /** The watched address that a change concerns: a server may announce the change of a part of it. */
  watchedFor(server: string, uri: string): string {
    const watched = this.#watched.get(server) ?? [];
    if (watched.includes(uri)) return uri;
    return watched.find((one) => uri.startsWith(one.endsWith('/') ? one : `${one}/`)) ?? uri;
  }

  /** A server of the configuration, not connected yet. */
  added(server: McpServer): void {
    if (this.#watched.has(server.name)) this.#apply(server);
  }

  /** A server is connected, or has other resources or prompts than before. */
  changed(name: string): void {
    this.#lists.delete(name);
    const hasResources = this.#deps.servers().some(({ session }) => session?.hasResources === true);
    // Stays while servers come and go: its list is always of those that are connected.
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
    const late = Promise.withResolvers<readonly never[]>();
    const timer = this.#deps.clock.after(LISTED_WITHIN, () => late.resolve([]));
    const listed = await Promise.all(
      this.#deps.servers().map(async (server) => {
        const { session } = server;
        const items =
          session === undefined ? [] : await Promise.race([of(this.#listsOf(server, session)), late.promise]);
        return items.map((item) => ({ server: server.name, item }));
      }),
    );
    timer.dispose();
    return listed.flat();
  }

  #listsOf(server: McpServer, session: McpSession): Lists {
    const now = this.#deps.clock.now();
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

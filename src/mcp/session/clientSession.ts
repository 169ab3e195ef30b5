// A connection over the client library: requests, time-outs, probes, and announcements of the server.
import {
  type Client,
  type ClientOptions,
  ProtocolError,
  type Tool,
  type Transport,
  UnauthorizedError,
} from '@modelcontextprotocol/client';
import * as z from 'zod';
import { ignore, pause, share, within } from '../../base/async.ts';
import { describeError } from '../../base/errors.ts';
import { realClock } from '../../node/realClock.ts';
import { type Era } from '../../protocol/outside/mcp.ts';
import { EVENTS_EXTENSION } from '../../protocol/outside/mcpEvents.ts';
import { Announcements } from './announcements.ts';
import { cutList } from './boundedMessages.ts';
import { EventSession } from './eventSession.ts';
import { canSignIn } from './sseFallback.ts';
import { HttpTransport } from './httpTransport.ts';
import {
  type CallEnd,
  type CallHooks,
  type McpEvents,
  type McpPrompt,
  type McpResource,
  type McpSession,
  type McpTask,
  type McpTool,
  type McpSessionDeps,
  type TaskFollower,
  TASKS_EXTENSION,
} from './sessionPort.ts';
import { StdioTransport } from './stdioTransport.ts';
import { TaskSession } from './taskSession.ts';
import { ToolCalls } from './toolCalls.ts';
import { describePrompt, expandTemplate, templatesOf, toolOf } from './wireTypes.ts';

/** How often one request may open the sign-in page. */
const MOST_SIGN_INS = 2;
/** The notification with which some servers send messages on their own. Not part of the specification. */
const CHANNEL = 'notifications/claude/channel';
const CHANNEL_CAPABILITY = 'claude/channel';
/** The pause between probes, and the longest wait for the end of a session. */
const SOON = 500;
const tasksSchema = z.strictObject({});
const channelSchema = z.object({ content: z.string() });

type CreateClient = (listChanged: NonNullable<ClientOptions['listChanged']>) => Client;

export class ClientSession implements McpSession {
  readonly client: Client;
  readonly #deps: McpSessionDeps;
  readonly #transport: Transport;
  readonly #calls: ToolCalls;
  readonly #announcements: Announcements;
  /** In the legacy era: the tools that support tasks. */
  #taskTools: ReadonlySet<string> = new Set();
  #tasks: TaskSession | undefined;
  #events: EventSession | undefined;
  readonly #probeOnce = share(() => this.#probe());
  #over = false;

  constructor(deps: McpSessionDeps, transport: Transport, create: CreateClient) {
    this.#deps = deps;
    this.#transport = transport;
    const { listener } = deps;
    const changed = (then: () => void) => ({
      autoRefresh: false,
      debounceMs: 0,
      onChanged: () => this.#over || then(),
    });
    this.client = create({
      tools: changed(() => listener.toolsChanged()),
      prompts: changed(() => listener.promptsChanged()),
      resources: changed(() => listener.resourcesChanged()),
    });
    this.#announcements = new Announcements(this.client, {
      within: deps.limits.probe,
      isOver: () => this.#over,
      missed: () => listener.toolsChanged(),
      lost: (reason) => this.#lose(reason),
    });
    this.#calls = new ToolCalls({
      client: this.client,
      transport,
      deps,
      tasks: () => this.#tasks,
      asksForTask: (tool) => this.#taskTools.has(tool),
      signedIn: (send, waiting) => this.#signedIn(send, waiting),
      isAlive: () => this.#isAlive(),
      isOver: () => this.#over,
      lose: (reason) => this.#lose(reason),
      describeEnd: (error) => this.#describeEnd(error),
    });
    this.client.onclose = () => this.#lose(this.#describeEnd());
    this.client.onerror = (error) => this.#noticeError(error);
    this.client.setNotificationHandler('notifications/resources/updated', ({ params }) => {
      if (!this.#over) listener.resourceUpdated(params.uri);
    });
    this.client.setNotificationHandler('notifications/message', ({ params }) => {
      deps.log(`[${params.level}] ${logText(params.data)}`);
    });
    this.client.fallbackNotificationHandler = async ({ method, params }) => {
      const sent = method === CHANNEL ? channelSchema.safeParse(params) : undefined;
      if (sent?.success === true && !this.#over) listener.event(sent.data.content);
    };
  }

  get era(): Era {
    return this.client.getProtocolEra() ?? 'legacy';
  }

  get version(): string {
    return this.client.getNegotiatedProtocolVersion() ?? '';
  }

  get title(): string {
    const info = this.client.getServerVersion();
    return info === undefined ? '' : `${info.title ?? info.name} ${info.version}`.slice(0, 200);
  }

  get instructions(): string | undefined {
    return this.client.getInstructions();
  }

  get pid(): number | undefined {
    return this.#transport instanceof StdioTransport ? (this.#transport.pid ?? undefined) : undefined;
  }

  get hasResources(): boolean {
    return this.client.getServerCapabilities()?.resources !== undefined;
  }

  get hasPrompts(): boolean {
    return this.client.getServerCapabilities()?.prompts !== undefined;
  }

  get events(): McpEvents | undefined {
    return this.#events;
  }

  get hasChannel(): boolean {
    return this.client.getServerCapabilities()?.experimental?.[CHANNEL_CAPABILITY] !== undefined;
  }

  /**
   * Call it once the client is connected. Follows the announcements of the server. `hasEvents`: it declares events as
   * the draft has it, which the library does not pass on.
   */
  begin(hasEvents: boolean): void {
    this.#announcements.begin();
    if (hasEvents || this.client.getServerCapabilities()?.extensions?.[EVENTS_EXTENSION] !== undefined) {
      const { listener, log } = this.#deps;
      this.#events = new EventSession(this.client, this.#transport, { log, changed: () => listener.eventsChanged() });
    }
    if (!this.#hasTasks) return;
    const unanswered = (error: unknown) => this.#loseUnlessAlive(this.#describeEnd(error));
    this.#tasks = new TaskSession(this.client, this.#transport, { ...this.#deps, unanswered });
  }

  async listTools(): Promise<readonly McpTool[]> {
    const options = { cacheMode: 'refresh' as const, timeout: this.#deps.limits.request };
    const { tools } = await this.#signedIn(() => this.client.listTools(undefined, options));
    const listed = this.#cut('tools', tools);
    const isModern = this.era === 'modern';
    const asTasks = this.#hasTasks && !isModern ? listed.filter((tool) => isTaskTool(tool)) : [];
    this.#taskTools = new Set(asTasks.map(({ name }) => name));
    // In the modern era the server decides for each call whether it becomes a task.
    return listed.map((tool) => toolOf(tool, isModern ? this.#hasTasks : this.#taskTools.has(tool.name)));
  }

  call(tool: string, args: Readonly<Record<string, unknown>>, hooks: CallHooks): Promise<CallEnd> {
    return this.#calls.call(tool, args, hooks);
  }

  get #hasTasks(): boolean {
    const { tasks, extensions } = this.client.getServerCapabilities() ?? {};
    if (this.era === 'modern') return tasksSchema.safeParse(extensions?.[TASKS_EXTENSION]).success;
    return tasks?.requests?.tools?.call !== undefined;
  }

  async resumeTask(reference: string, follower: TaskFollower): Promise<McpTask> {
    return this.#signedIn(() => this.#taskSession().resume(reference, follower));
  }

  async cancelTask(reference: string, how: { readonly isAwaited: boolean }): Promise<void> {
    await this.#signedIn(() => this.#taskSession().cancel(reference, how));
  }

  async listResources(): Promise<readonly McpResource[]> {
    if (!this.hasResources) return [];
    const options = { cacheMode: 'refresh' as const, timeout: this.#deps.limits.request };
    const { resources } = await this.#signedIn(() => this.client.listResources(undefined, options));
    // Many servers with resources have no templates, and some of them answer this request with an error.
    const templates = await this.client.listResourceTemplates(undefined, options).catch(ignore);
    const { resourceTemplates = [] } = templates ?? {};
    return [...this.#cut('resources', resources), ...templatesOf(this.#cut('resourceTemplates', resourceTemplates))];
  }

  async readResource(uri: string, values?: Readonly<Record<string, string>>) {
    const address = values === undefined ? uri : expandTemplate(uri, values);
    const options = { cacheMode: 'refresh' as const, timeout: this.#deps.limits.request };
    const { contents } = await this.#signedIn(() => this.client.readResource({ uri: address }, options));
    const blocks = contents.map((resource) => ({ type: 'resource', resource }));
    return { uri: address, blocks, isError: false };
  }

  watchResources(uris: readonly string[]): Promise<void> {
    return this.#announcements.watch(uris);
  }

  async listPrompts(): Promise<readonly McpPrompt[]> {
    if (!this.hasPrompts) return [];
    const { prompts } = await this.#signedIn(() => this.client.listPrompts(undefined, { cacheMode: 'refresh' }));
    return this.#cut('prompts', prompts).map(({ name, title, description, arguments: args = [] }) => ({
      name,
      title,
      description,
      arguments: args.map((one) => ({ name: one.name, description: one.description, required: one.required === true })),
    }));
  }

  async getPrompt(name: string, args: Readonly<Record<string, string>>): Promise<string> {
    return describePrompt(await this.#signedIn(() => this.client.getPrompt({ name, arguments: { ...args } })));
  }

  async close(): Promise<void> {
    this.#over = true;
    // Ends the session on servers that have sessions; a server may refuse that.
    if (this.#transport instanceof HttpTransport) {
      await within(realClock, SOON, this.#transport.terminateSession().catch(ignore));
    }
    await this.client.close();
  }

  kill(): void {
    this.#over = true;
    if (this.#transport instanceof StdioTransport) this.#transport.kill();
    else void this.client.close().catch(ignore);
  }

  #cut<T>(what: Parameters<typeof cutList>[0], all: readonly T[]): readonly T[] {
    return cutList(what, all, (line) => this.#deps.log(line));
  }

  /** Repeats a request that was refused for lack of rights, and so has not run, once the user has signed in. */
  async #signedIn<T>(
    send: () => Promise<T>,
    waiting: (run: () => Promise<URLSearchParams | undefined>) => Promise<URLSearchParams | undefined> = (run) => run(),
  ): Promise<T> {
    for (let round = 0; ; round++) {
      try {
        return await send();
      } catch (error) {
        const { signIn } = this.#deps;
        const mayRetry = round < MOST_SIGN_INS && UnauthorizedError.isInstance(error) && signIn !== undefined;
        const back = mayRetry ? await waiting(() => signIn.callback()) : undefined;
        if (back === undefined || !canSignIn(this.#transport)) throw error;
        await this.#transport.finishAuth(back);
      }
    }
  }

  /** Probes once for all calls that ask at the same time. */
  #isAlive(): Promise<boolean> {
    return this.#over ? Promise.resolve(false) : this.#probeOnce();
  }

  async #probe(): Promise<boolean> {
    const signal = AbortSignal.timeout(this.#deps.limits.probe);
    for (;;) {
      try {
        const options = { timeout: this.#deps.limits.probe, signal };
        await (this.era === 'modern' ? this.client.discover(options) : this.client.ping(options));
        return true;
      } catch (error) {
        // An error that the server answered proves that it is alive.
        if (error instanceof ProtocolError) return true;
        if (signal.aborted || this.#over || this.#transport instanceof StdioTransport) return false;
        await pause(realClock, SOON);
      }
    }
  }

  #taskSession(): TaskSession {
    if (this.#tasks === undefined) throw new Error('the server has no tasks any more');
    return this.#tasks;
  }

  #noticeError(error: Error): void {
    this.#deps.log(describeError(error).slice(0, 1000));
    // The library does not reopen the stream for announcements any more.
    if (/maximum reconnection attempts/i.test(error.message)) this.#loseUnlessAlive('its event stream was lost');
  }

  #loseUnlessAlive(reason: string): void {
    this.#isAlive().then(
      (alive) => alive || this.#lose(reason),
      () => this.#lose(reason),
    );
  }

  #lose(reason: string): void {
    if (this.#over) return;
    this.#over = true;
    this.kill();
    this.#deps.listener.ended(reason);
  }

  #describeEnd(error?: unknown): string {
    const end = this.#transport instanceof StdioTransport ? this.#transport.end : undefined;
    if (end !== undefined) return `its process ${end}`;
    const cause = error instanceof Error ? (error.cause ?? error) : undefined;
    return cause === undefined ? 'the connection was closed' : describeError(cause).slice(0, 300);
  }
}

function isTaskTool({ execution }: Tool): boolean {
  return execution?.taskSupport === 'optional' || execution?.taskSupport === 'required';
}

function logText(data: unknown): string {
  return (typeof data === 'string' ? data : JSON.stringify(data)).slice(0, 2000);
}

// The web chat: connects the server, the open pages and the conversations that they show.
import { type Disposable, toDisposable } from '../base/disposable.ts';
import { describeError } from '../base/errors.ts';
import { RemoteClient } from '../core/client/remote/remoteClient.ts';
import { Activities, type KnownConversation } from '../core/frontend/conversationActivity.ts';
import { type Logger } from '../core/ports/ports.ts';
import { realClock } from '../node/realClock.ts';
import { realIds } from '../node/realIds.ts';
import { type PluginClient } from '../plugins/client/pluginClient.ts';
import { describeIssue } from '../protocol/describeIssue.ts';
import { type HostMessageOf } from '../protocol/plugin.ts';
import { type Settings } from '../protocol/settings.ts';
import { type WebChatOptions, webChatOptionsSchema } from '../protocol/webChat.ts';
import { fromPageSchema } from '../protocol/webview.ts';
import { type AccessRules } from './access.ts';
import { ChosenHere } from './chosenHere.ts';
import { createPageFiles } from './pageFiles.ts';
import { ConnectedPage } from './connectedPage.ts';
import { PostedLines } from './postedLines.ts';
import { type LineSink, type StreamRequest, WebServer } from './webServer.ts';
import { share } from '../base/async.ts';
import { type Client } from '../core/client/client.ts';

/** How long a page without a connection is kept, as after a reload or while a phone is locked. */
const KEPT_MILLISECONDS = 10 * 60_000;
const MOST_PAGES = 50;
/** Events after which settings or permanent approvals may be others: nothing announces these. */
const READ_AFTER: ReadonlySet<unknown> = new Set(['turn_started', 'notification_queued', 'approval']);

export class WebChat {
  readonly #client: RemoteClient;
  readonly #logger: Logger;
  readonly #options: WebChatOptions;
  readonly #known: KnownConversations;
  readonly #activities: Activities;
  readonly #chosen: ChosenHere;
  readonly #server: WebServer;
  /** In the order of their last connection, the oldest first. */
  readonly #pages = new Map<string, { readonly session: ConnectedPage; leaving?: Disposable }>();

  constructor(plugin: Pick<PluginClient, 'request' | 'log'>, init: HostMessageOf<'init'>) {
    this.#options = webChatOptionsSchema.parse(init.options);
    const log = (level: 'debug' | 'info' | 'warn' | 'error') => (text: string, error?: unknown) =>
      plugin.log(level, error === undefined ? text : `${text}: ${describeError(error)}`);
    this.#logger = { debug: log('debug'), info: log('info'), warn: log('warn'), error: log('error') };
    const client = new RemoteClient({
      clock: realClock,
      // The table of verbs types the requests.
      request: (type, fields) => plugin.request(type as 'choose', fields),
      asksAll: true,
      warn: (message) => this.#logger.warn(message),
    });
    this.#client = client;
    const changed = () => this.#changed();
    this.#known = new KnownConversations(client, changed);
    this.#chosen = new ChosenHere(client, init.config, this.#options, changed);
    this.#activities = new Activities({
      get: (id) => this.#known.get(id),
      requests: client.requests,
      isShown: (id) => [...this.#pages.values()].some(({ session }) => session.shown === id),
    });
    client.onDidProgress(({ conversation, event }) => this.#activities.changed(conversation, event));
    client.requests.onDidChange(({ open }) => this.#activities.changed(open.conversation));
    const posting = new PostedLines({ folder: init.workspace.root ?? this.#options.root, now: () => realClock.now() });
    this.#server = new WebServer({
      key: this.#options.key,
      now: () => realClock.now(),
      rules: new Rules(this.#options, () => this.#chosen.settings),
      refreshRules: () => this.#chosen.read(),
      file: createPageFiles(this.#options),
      openStream: (request, sink) => this.#openStream(request, sink),
      receive: (page, message) => this.#receive(page, message),
      posting: () => (this.#chosen.settings['scripts.post'] ? posting : undefined),
      warn: (text) => this.#logger.warn(text),
      report: (error) => this.#logger.error('a request of a page failed', error),
    });
  }

  /** Resolves once pages are served. */
  async start(): Promise<void> {
    const started = await this.#client.start();
    if (!started.ok) throw new Error(started.failure.message);
    await this.#known.list();
    await this.#server.listen(this.#options.port);
    this.#logger.info(`The web chat is at http://127.0.0.1:${this.#options.port}/.`);
  }

  event(event: HostMessageOf<'event'>): void {
    this.#client.receive(event);
    if (READ_AFTER.has(event.data.type)) this.#readSettings();
  }

  error(error: HostMessageOf<'error'>): void {
    if (error.sub_id !== undefined) this.#client.subscriptionEnded(error);
    else this.#logger.warn(error.message);
  }

  async close(): Promise<void> {
    for (const { session, leaving } of this.#pages.values()) {
      leaving?.dispose();
      session.dispose();
    }
    this.#pages.clear();
    this.#client.dispose();
    await this.#server.close();
  }

  #openStream({ page, previous, since, conversation }: StreamRequest, sink: LineSink): Disposable {
    const known = this.#pages.get(page) ?? this.#adopt(previous);
    if (known === undefined && !this.#hasRoom()) {
      // The page tries again at increasing intervals.
      sink.end();
      return { dispose: () => undefined };
    }
    known?.leaving?.dispose();
    const session = known?.session ?? this.#newSession(this.#pages.get(previous)?.session.drafts);
    this.#pages.delete(page);
    this.#pages.set(page, { session });
    this.#readSettings();
    let isOpen = true;
    let connected: Disposable | undefined;
    const connect = () => {
      if (isOpen) connected = session.connect(sink, known === undefined ? 0 : since);
    };
    if (known === undefined && /^\w{1,100}$/.test(conversation)) session.start(conversation);
    // Not before the conversation is shown: an empty chat in between would discard what the user is typing.
    session.started.then(connect).catch((error: unknown) => this.#logger.error('a page could not be shown', error));
    return toDisposable(() => {
      isOpen = false;
      connected?.dispose();
      if (session.isConnected || this.#pages.get(page)?.session !== session) return;
      const leaving = realClock.after(KEPT_MILLISECONDS, () => this.#drop(page));
      this.#pages.set(page, { session, leaving });
    });
  }

  /**
   * The state from before a reload. If that page is still connected, it keeps its state: the new one is a copied tab.
   */
  #adopt(previous: string) {
    const known = this.#pages.get(previous);
    if (known === undefined || known.session.isConnected) return undefined;
    this.#pages.delete(previous);
    return known;
  }

  #newSession(drafts: ReadonlyMap<string, string> = new Map()): ConnectedPage {
    return new ConnectedPage({
      ...{ drafts, clock: realClock, ids: realIds, logger: this.#logger, client: this.#client },
      ...{ activities: this.#activities, chosen: this.#chosen, options: this.#options },
    });
  }

  /** Drops the oldest page without a connection if there are too many. A connected page would reconnect at once. */
  #hasRoom(): boolean {
    if (this.#pages.size < MOST_PAGES) return true;
    const [oldest] = [...this.#pages].find(([, { session }]) => !session.isConnected) ?? [];
    if (oldest === undefined) return false;
    this.#drop(oldest);
    return true;
  }

  #drop(page: string): void {
    const known = this.#pages.get(page);
    this.#pages.delete(page);
    known?.leaving?.dispose();
    known?.session.dispose();
  }

  async #receive(page: string, message: unknown): Promise<string | undefined> {
    const parsed = fromPageSchema.safeParse(message);
    if (!parsed.success) return describeIssue(parsed.error);
    const session = this.#pages.get(page)?.session;
    if (session === undefined) return 'The page is not connected.';
    return (await session.handle(parsed.data)) ? undefined : `The web chat does not handle “${parsed.data.type}”.`;
  }

  #changed(): void {
    for (const { session } of this.#pages.values()) session.refresh();
  }

  #readSettings(): void {
    this.#chosen.read().catch((error: unknown) => this.#logger.error('the settings cannot be read', error));
  }
}

/** Allows the hosts that the extension has passed, and those of the current settings. */
class Rules implements AccessRules {
  readonly #named: readonly string[];
  readonly #settings: () => Settings;

  constructor({ hosts }: WebChatOptions, settings: () => Settings) {
    this.#named = hosts;
    this.#settings = settings;
  }

  get hosts(): readonly string[] {
    return [...this.#named, ...this.#settings()['webChat.allowedHosts']];
  }
}

/** The conversations of the window as the web chat knows them: their titles, and which run. */
class KnownConversations {
  readonly #known = new Map<string, KnownConversation>();
  /** Reads titles and subagents, which progress alone does not tell. */
  readonly list: () => Promise<void>;

  /** `changed`: call when they were listed. */
  constructor(client: Pick<Client, 'call' | 'onDidProgress'>, changed: () => void) {
    this.list = share(async () => {
      const listed = await client.call('list_conversations', {});
      if (!listed.ok) return;
      for (const { id, title, subagent, choice } of listed.value.data)
        this.#known.set(id, { title: title ?? '', running: this.#isRunning(id), subagent, model: choice?.model });
      changed();
    });
    client.onDidProgress(({ conversation, event }) => {
      const known = this.#known.get(conversation);
      const running = event.type === 'title_set' ? this.#isRunning(conversation) : event.type === 'turn_started';
      const title = event.type === 'title_set' ? event.title : (known?.title ?? '');
      this.#known.set(conversation, { ...known, title, running });
      if (known === undefined) void this.list().catch(changed);
    });
  }

  get(conversation: string): KnownConversation | undefined {
    return this.#known.get(conversation);
  }

  #isRunning(conversation: string): boolean {
    return this.#known.get(conversation)?.running === true;
  }
}

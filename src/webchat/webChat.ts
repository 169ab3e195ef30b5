// The web chat: connects the server, the open pages and the conversations that they show.
import { type Disposable, toDisposable } from '../base/disposable.ts';
import { describeError } from '../base/errors.ts';
import { realClock } from '../node/realClock.ts';
import { realIds } from '../node/realIds.ts';
import { type PluginClient } from '../plugins/client/pluginClient.ts';
import { describeIssue } from '../protocol/describeIssue.ts';
import { type HostMessageOf } from '../protocol/plugin.ts';
import { readSettings, type Settings } from '../protocol/settings.ts';
import { type WebChatOptions, webChatOptionsSchema } from '../protocol/webChat.ts';
import { fromPageSchema } from '../protocol/webview.ts';
import { type AccessRules } from './access.ts';
import { Conversations } from './conversations.ts';
import { type PluginEvent } from './followedConversation.ts';
import { createPageFiles } from './pageFiles.ts';
import { PageSession } from './pageSession.ts';
import { type LineSink, type StreamRequest, WebServer } from './webServer.ts';
import { type ShownModel, toShownModel } from './pageHead.ts';

/** How long a page without a connection is kept, as after a reload or while a phone is locked. */
const KEPT_MILLISECONDS = 10 * 60_000;
const MOST_PAGES = 50;

type Client = Pick<PluginClient, 'request' | 'log'>;

export class WebChat {
  readonly #client: Client;
  readonly #options: WebChatOptions;
  readonly #conversations: Conversations;
  readonly #server: WebServer;
  /** In the order of their last connection, the oldest first. */
  readonly #pages = new Map<string, { readonly session: PageSession; leaving?: Disposable }>();
  #settings: Settings;
  #model: ShownModel;
  #reading: Promise<void> | undefined;

  constructor(client: Client, init: HostMessageOf<'init'>) {
    this.#client = client;
    this.#options = webChatOptionsSchema.parse(init.options);
    this.#settings = readConfig(init.config);
    this.#model = this.#options.model;
    this.#conversations = new Conversations({ client, changed: () => this.#changed() });
    this.#server = new WebServer({
      rules: new Rules(this.#options, () => this.#settings),
      refreshRules: () => this.#readSettings(),
      file: createPageFiles(this.#options),
      openStream: (request, sink) => this.#openStream(request, sink),
      receive: (page, message) => this.#receive(page, message),
      report: (error) => client.log('error', describeError(error)),
    });
  }

  /** Resolves once pages are served. */
  async start(): Promise<void> {
    await this.#conversations.start();
    await this.#server.listen(this.#options.port);
    this.#client.log('info', `The web chat is at http://127.0.0.1:${this.#options.port}/.`);
  }

  event(event: PluginEvent): void {
    this.#conversations.receive(event);
    if (event.data.type === 'turn_started' || event.data.type === 'notification_queued') this.#refreshSettings();
  }

  error(error: HostMessageOf<'error'>): void {
    if (error.sub_id !== undefined) this.#conversations.ended(error);
    else this.#client.log('warn', error.message);
  }

  async close(): Promise<void> {
    for (const { session, leaving } of this.#pages.values()) {
      leaving?.dispose();
      session.dispose();
    }
    this.#pages.clear();
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
    this.#refreshSettings();
    let isOpen = true;
    let connected: Disposable | undefined;
    const connect = () => {
      if (isOpen) connected = session.connect(sink, known === undefined ? 0 : since);
    };
    if (known === undefined && /^\w{1,100}$/.test(conversation)) session.start(conversation);
    // Not before the conversation is shown: an empty chat in between would discard what the user is typing.
    session.started.then(connect).catch((error: unknown) => this.#client.log('error', describeError(error)));
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

  #newSession(drafts: ReadonlyMap<string, string> = new Map()): PageSession {
    return new PageSession({
      drafts,
      clock: realClock,
      client: this.#client,
      conversations: this.#conversations,
      options: this.#options,
      settings: () => this.#settings,
      model: () => this.#model,
      chosen: () => this.#readSettings(),
      ulid: () => realIds.ulid(),
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

  #refreshSettings(): void {
    this.#readSettings().catch((error: unknown) => this.#client.log('error', describeError(error)));
  }

  /** Reads settings and model, for which there are no events. Never rejects. */
  #readSettings(): Promise<void> {
    this.#reading ??= Promise.all([this.#client.request('read_config', {}), this.#client.request('list_models', {})])
      .then(
        ([{ data }, { current }]) => {
          this.#settings = readConfig(data as Readonly<Record<string, unknown>>);
          this.#model = toShownModel(current);
          this.#changed();
        },
        (error: unknown) => this.#client.log('warn', describeError(error)),
      )
      .finally(() => (this.#reading = undefined));
    return this.#reading;
  }
}

/** Allows the hosts that the extension has passed, and those of the current settings. */
class Rules implements AccessRules {
  readonly token: string;
  readonly #named: readonly string[];
  readonly #settings: () => Settings;

  constructor({ token, hosts }: WebChatOptions, settings: () => Settings) {
    this.token = token;
    this.#named = hosts;
    this.#settings = settings;
  }

  get hosts(): readonly string[] {
    return [...this.#named, ...this.#settings()['webChat.allowedHosts']];
  }
}

function readConfig(config: Readonly<Record<string, unknown>>): Settings {
  return readSettings((name) => config[name]).settings;
}

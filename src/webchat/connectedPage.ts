// One open page of the web chat: its host, and the connection to it. Kept for a while without a connection.
import { type Clock } from '../base/clock.ts';
import { type Disposable, toDisposable } from '../base/disposable.ts';
import { describeError, describeFailure } from '../base/errors.ts';
import { type Client } from '../core/client/client.ts';
import { ChatFrontend } from '../core/frontend/chatFrontend.ts';
import { emptyChatHead } from '../core/frontend/chatHead.ts';
import { type Activities } from '../core/frontend/conversationActivity.ts';
import { PageComposer, type Translate } from '../core/frontend/page/pageComposer.ts';
import { PageHost } from '../core/frontend/page/pageHost.ts';
import { type HostHandlers } from '../core/frontend/page/pageOffers.ts';
import { type Ids, type Logger } from '../core/ports/ports.ts';
import { type WebChatOptions } from '../protocol/webChat.ts';
import { type FromPage, type ToPage } from '../protocol/webview.ts';
import { type ChosenHere } from './chosenHere.ts';
import { type HANDLED_HERE } from './pageFiles.ts';
import { type LineSink } from './webServer.ts';

/** The source of completions that are files. */
const FILES = 'files';

/** A message without a handler does not compile. */
type WebHandlers = Pick<HostHandlers, (typeof HANDLED_HERE)[number]>;

export interface ConnectedPageDeps {
  readonly clock: Clock;
  readonly ids: Pick<Ids, 'ulid'>;
  readonly logger: Logger;
  readonly client: Client;
  readonly activities: Activities;
  readonly chosen: ChosenHere;
  readonly options: WebChatOptions;
  /** What is kept of the composers of another page; the key begins with the conversation. */
  readonly drafts: ReadonlyMap<string, string>;
}

export class ConnectedPage implements Disposable {
  readonly #deps: ConnectedPageDeps;
  readonly #frontend: ChatFrontend;
  readonly #composer: PageComposer;
  readonly #page: PageHost;
  readonly #sent = new SentLines();
  readonly #drafts: Map<string, string>;
  readonly #post = (message: ToPage): void => {
    const line = JSON.stringify(message);
    this.#sent.add(message, line);
    this.#sink?.write(line);
  };
  #sink: LineSink | undefined;
  #started: Promise<unknown> = Promise.resolve();

  constructor(deps: ConnectedPageDeps) {
    this.#deps = deps;
    const { chosen, client, options, clock, logger } = deps;
    const { version, hostVersion, folder } = options;
    this.#drafts = new Map(deps.drafts);
    const head = { ...emptyChatHead({ version, hostVersion }, chosen.of().model), models: null, folder };
    const frontend = new ChatFrontend(clock, head, client.requests);
    this.#frontend = frontend;
    this.#composer = new PageComposer({
      ...{ client, frontend, logger, t: fill },
      draftsOf: (conversation = '') => ({
        text: this.#keep(conversation),
        attachments: this.#keep(`${conversation} attachments`),
        returned: this.#keep(`${conversation} returned`),
      }),
    });
    this.#page = new PageHost({
      ...{ ...deps, frontend, composer: this.#composer },
      offers: {
        chosen: (conversation) => chosen.of(conversation),
        headOf: (shown) => {
          const listedRules = chosen.rulesIn(shown?.id);
          return { canSend: true, obstacles: [], folder: options.folderFacts, rules: listedRules.length, listedRules };
        },
        t: fill,
        describe: describeFailure,
        didShow: (conversation) => chosen.readOf(conversation),
        didChoose: async () => {
          await Promise.all([chosen.read(), this.shown === undefined ? undefined : chosen.readOf(this.shown)]);
          frontend.setHead({ models: null });
        },
      },
      report: (what, error) => logger.error(what, error),
    });
    frontend.attach(this.#post);
  }

  get drafts(): ReadonlyMap<string, string> {
    return this.#drafts;
  }

  get shown(): string | undefined {
    return this.#page.shown;
  }

  get isConnected(): boolean {
    return this.#sink !== undefined;
  }

  /** Resolves once the first conversation is shown, if there is one. */
  get started(): Promise<unknown> {
    return this.#started;
  }

  start(conversation: string): void {
    this.#started = this.#page.show(conversation);
  }

  /** Sends the messages that the page has missed. A second connection of a page replaces the first. */
  connect(sink: LineSink, since: number): Disposable {
    this.#sink?.end();
    this.#sink = sink;
    const missing = this.#sent.after(since);
    if (missing === undefined) this.#frontend.attach(this.#post);
    else for (const line of missing) sink.write(line);
    return toDisposable(() => {
      if (this.#sink === sink) this.#sink = undefined;
    });
  }

  /** Call when the activity of other conversations or a setting has changed. */
  refresh(): void {
    this.#page.refreshSoon();
  }

  /** Resolves to whether the web chat handles messages of this type. */
  async handle(message: FromPage): Promise<boolean> {
    try {
      if (message.type === 'ready') this.#frontend.attach(this.#post);
      else if (message.type in this.#handlers)
        await (this.#handlers as Partial<Record<string, (message: FromPage) => unknown>>)[message.type]?.(message);
      else return await this.#page.handle(message);
    } catch (error) {
      this.#page.notice('warning', describeError(error));
    }
    return true;
  }

  dispose(): void {
    this.#sink?.end();
    this.#page.dispose();
    this.#frontend.dispose();
  }

  readonly #handlers: WebHandlers = {
    complete: async ({ trigger, query }) => {
      const listed = await this.#deps.client.call('complete', { trigger, query });
      const items = (listed.ok ? listed.value.data : []).map(({ name, label, detail, insert }) =>
        insert === undefined
          ? ({ source: FILES, id: name, mention: name, label, detail, icon: 'file' } as const)
          : ({ source: '', id: name, label, detail, icon: 'play', insert } as const),
      );
      this.#frontend.reply({ type: 'completions', trigger, query, items });
    },
    choose_completion: async ({ source, id }) => {
      const attached = source === FILES ? await this.#composer.attachFile(id) : undefined;
      if (attached?.ok === false) this.#page.notice('warning', describeFailure(attached.failure));
    },
    failed: ({ message }) => this.#deps.logger.error(`the page failed: ${message}`),
  };

  #keep(key: string) {
    return {
      read: async () => this.#drafts.get(key) ?? '',
      write: async (text: string) => void this.#drafts.set(key, text),
    };
  }
}

/** The host of a page in a browser does not translate. */
const fill: Translate = (text, ...values) => text.replace(/\{(\d)\}/g, (_, index) => String(values[Number(index)]));

/** Beyond this size a new snapshot is cheaper. */
const MOST_CHARACTERS = 4_000_000;

/** The messages that a page was sent since its last snapshot, so that it can continue after a lost connection. */
class SentLines {
  #lines: { readonly number: number; readonly line: string }[] = [];
  #characters = 0;

  add(message: ToPage, line: string): void {
    if (!('number' in message)) return;
    if (message.type === 'snapshot') this.#clear();
    this.#lines.push({ number: message.number, line });
    this.#characters += line.length;
    if (message.type !== 'snapshot' && this.#characters > MOST_CHARACTERS) this.#clear();
  }

  /** The lines after this number; undefined if some of them are no longer stored. */
  after(number: number): readonly string[] | undefined {
    const [first] = this.#lines;
    if (first === undefined || number < first.number) return undefined;
    const last = this.#lines.at(-1)?.number ?? 0;
    if (number > last) return undefined;
    return this.#lines.filter((one) => one.number > number).map(({ line }) => line);
  }

  #clear(): void {
    this.#lines = [];
    this.#characters = 0;
  }
}

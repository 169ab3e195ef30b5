// The state of one open page of the web chat, and the handlers of its messages. Kept for a while without a connection.
import { type Clock } from '../base/clock.ts';
import { type Disposable, toDisposable } from '../base/disposable.ts';
import { describeError, describeFailure } from '../base/errors.ts';
import { type RequestAnswer } from '../core/client/requests.ts';
import { ChatFrontend } from '../core/frontend/chatFrontend.ts';
import { emptyChatHead } from '../core/frontend/chatHead.ts';
import { type WebChatOptions } from '../protocol/webChat.ts';
import { type FromPage, type ToPage } from '../protocol/webview.ts';
import { type PluginClient } from '../plugins/client/pluginClient.ts';
import { type Conversations } from './conversations.ts';
import { type PageHandlers } from './handled.ts';
import { PageAttachments, type TakenAttachments } from './pageAttachments.ts';
import { type ControlType, createPageControls } from './pageControls.ts';
import { PageCommands } from './pageCommands.ts';
import { PageHead, type PageHeadDeps } from './pageHead.ts';
import { type ConversationFollower, type FollowedConversation } from './followedConversation.ts';
import { raiseQueued, withdrawQueued } from './queuedMessages.ts';
import { SentLines } from './sentLines.ts';
import { type LineSink } from './webServer.ts';

/** Counting pending notifications is expensive, and events come in bursts. */
const REFRESH_AFTER = 50;
const NO_ATTACHMENTS: TakenAttachments = { returnAttachments: () => undefined };

export interface PageSessionDeps extends PageHeadDeps {
  readonly clock: Clock;
  readonly client: Pick<PluginClient, 'request' | 'log'>;
  readonly conversations: Conversations;
  readonly options: WebChatOptions;
  /** Called when settings or the model may have changed. */
  chosen(): Promise<void>;
  /** Unsent texts by conversation; the key is empty for a new chat. */
  readonly drafts: ReadonlyMap<string, string>;
  ulid(): string;
}

export class PageSession implements Disposable {
  readonly #deps: PageSessionDeps;
  readonly #frontend: ChatFrontend;
  readonly #sent = new SentLines();
  readonly #drafts: Map<string, string>;
  readonly #attachments: PageAttachments;
  readonly #commands: PageCommands;
  readonly #handlers: PageHandlers;
  #sink: LineSink | undefined;
  #shown: FollowedConversation | undefined;
  /** The conversation that the page wants to show; it is shown once its log is read. */
  #wanted: string | undefined;
  #refreshing: Disposable | undefined;
  /** Serializes changes of the shown conversation, so that two quick messages start only one. */
  #changing: Promise<void> = Promise.resolve();
  #started: Promise<void> = Promise.resolve();
  readonly #head: PageHead;

  constructor(deps: PageSessionDeps) {
    this.#deps = deps;
    this.#drafts = new Map(deps.drafts);
    this.#head = new PageHead(deps);
    const { version, hostVersion, folder } = deps.options;
    const head = { ...emptyChatHead({ version, hostVersion }, deps.model()), models: null, folder };
    this.#frontend = new ChatFrontend(deps.clock, head, deps.conversations.requests);
    this.#attachments = new PageAttachments(deps.client, (attachments) => this.#frontend.setHead({ attachments }));
    this.#commands = new PageCommands({
      clock: deps.clock,
      client: deps.client,
      isConnected: () => this.isConnected,
      show: (handles) => this.#frontend.setHead({ handles }),
    });
    const controls = createPageControls({
      ...deps,
      frontend: this.#frontend,
      attachments: this.#attachments,
      commands: this.#commands,
      head: this.#head,
      chosen: () => deps.chosen().then(() => this.#readHead()),
      show: (conversation) => this.show(conversation),
      shown: () => this.#shown,
      forget: (conversation) => this.#drafts.delete(conversation),
      send: (text) => this.#send(text, 'queue', NO_ATTACHMENTS),
    });
    this.#handlers = { ...this.#chatHandlers, ...controls };
    this.#frontend.attach((message) => this.#post(message));
  }

  get drafts(): ReadonlyMap<string, string> {
    return this.#drafts;
  }

  get isConnected(): boolean {
    return this.#sink !== undefined;
  }

  /** Resolves once the first conversation is shown, if there is one. */
  get started(): Promise<void> {
    return this.#started;
  }

  start(conversation: string): void {
    this.#started = this.show(conversation).catch(() => undefined);
  }

  /** Sends the messages that the page has missed. A second connection of a page replaces the first. */
  connect(sink: LineSink, since: number): Disposable {
    this.#sink?.end();
    this.#sink = sink;
    this.#commands.refresh(0);
    const missing = this.#sent.after(since);
    if (missing === undefined) this.#frontend.attach((message) => this.#post(message));
    else for (const line of missing) sink.write(line);
    return toDisposable(() => {
      if (this.#sink === sink) this.#sink = undefined;
    });
  }

  /** Shows another conversation, or a new chat. */
  show(id: string | undefined): Promise<void> {
    return this.#change(() => this.#show(id));
  }

  /** Call when the activity of other conversations or a setting has changed. */
  refresh(): void {
    this.#refreshing ??= this.#deps.clock.after(REFRESH_AFTER, () => {
      this.#refreshing = undefined;
      this.#refreshNow();
    });
  }

  /** Resolves to whether the web chat handles messages of this type. */
  async handle(message: FromPage): Promise<boolean> {
    const handler = (this.#handlers as Partial<Record<FromPage['type'], (message: FromPage) => Promise<void> | void>>)[
      message.type
    ];
    if (handler === undefined) return false;
    try {
      await handler(message);
    } catch (error) {
      this.#notice(describeError(error));
    }
    return true;
  }

  dispose(): void {
    this.#sink?.end();
    this.#refreshing?.dispose();
    this.#commands.dispose();
    this.#leave();
    this.#frontend.dispose();
  }

  readonly #chatHandlers: Omit<PageHandlers, ControlType> = {
    ready: () => this.#frontend.attach((message) => this.#post(message)),
    draft: ({ conversation, text }) => {
      this.#drafts.set(conversation ?? '', text);
      if ((this.#shown?.id ?? null) === conversation) this.#frontend.keepDraft(text);
    },
    send: ({ text }) => this.#send(text, 'queue'),
    interrupt: ({ text }) => this.#send(text, 'reply'),
    stop: () => this.#onShown((conversation, client) => client.request('interrupt', { conversation, action: 'stop' })),
    new_chat: async () => {
      await this.show(undefined);
      this.#frontend.focusComposer();
    },
    deliver_now: () => this.#onShown((conversation, client) => client.request('deliver_now', { conversation })),
    dismiss_notifications: ({ ids }) =>
      this.#onShown((conversation, client) => client.request('dismiss', { conversation, notification_ids: [...ids] })),
    answer_approval: async ({ call, revision, conversation = this.#shown?.id, type: _, ...answer }) => {
      if (conversation === undefined) return;
      await this.#answer({ type: 'approval', conversation, id: call, revision, answer: { ...answer, by: 'user' } });
    },
    answer_question: ({ question, answer }) =>
      this.#answer({ type: 'question', id: question, answer: { answer, by: 'user' } }),
    open_conversation: async ({ id }) => {
      await this.show(id);
      this.#frontend.focusComposer();
    },
    read_diff: ({ call }) => this.#frontend.reply({ type: 'diff', call, files: [] }),
    take_back: ({ id }) => this.#withQueued(id, (text) => this.#frontend.restoreDraft(text)),
    send_queued: ({ id }) => this.#withQueued(id, (text) => this.#send(text, 'reply', NO_ATTACHMENTS)),
    raise_queued: async ({ id }) => {
      if (this.#shown === undefined) return;
      await raiseQueued(this.#deps.client, this.#shown, id, (text) => this.#send(text, 'queue', NO_ATTACHMENTS));
    },
    resend: ({ request, text }) =>
      this.#change(async () => {
        const earlier = this.#shown?.state.transcript.items.find(({ id }) => id === request);
        if (this.#shown === undefined || earlier?.type !== 'request') return;
        const { conversation } = await this.#deps.client.request('query', {
          conversation: this.#shown.id,
          instead_of: request,
          content: text ?? earlier.text,
        });
        await this.#show(conversation);
      }),
    retry_turn: () => this.#onShown((conversation, client) => client.request('retry', { conversation })),
    move_to_background: ({ call }) =>
      this.#onShown((conversation, client) =>
        client.request('move_to_background', { conversation, tool_call_id: call }),
      ),
    failed: ({ message }) => this.#deps.client.log('error', `the page failed: ${message}`),
  };

  #post(message: ToPage): void {
    const line = JSON.stringify(message);
    this.#sent.add(message, line);
    this.#sink?.write(line);
  }

  #change(action: () => Promise<void>): Promise<void> {
    const next = this.#changing.then(action);
    this.#changing = next.catch((error: unknown) => this.#deps.client.log('error', describeError(error)));
    return next;
  }

  async #show(id: string | undefined, takesDraft = false): Promise<void> {
    if (id !== undefined && id === this.#shown?.id) return;
    const { conversations } = this.#deps;
    this.#leave();
    this.#wanted = id;
    const draft = this.#drafts.get(id ?? '') ?? '';
    this.#attachments.showOf(id);
    this.#commands.showOf(id);
    if (id === undefined) {
      this.#frontend.show(undefined, [], draft);
      this.#refreshNow();
      return;
    }
    const followed = await conversations.follow(id, this.#follower);
    if (!followed.ok) {
      this.#wanted = undefined;
      // Without a draft of its own the new chat keeps the text in the composer.
      this.#frontend.show(undefined, [], this.#drafts.get(''));
      this.#refreshNow();
      this.#notice(followed.failure.message);
      return;
    }
    const shown = followed.value;
    this.#shown = shown;
    conversations.seen(id);
    this.#frontend.show(id, shown.state.transcript.items, takesDraft ? undefined : draft);
    for (const partial of shown.unfinished) this.#frontend.render(id, partial);
    await this.#readHead();
  }

  async #readHead(): Promise<void> {
    await this.#head.read(this.#shown?.id);
    this.#refreshNow();
  }

  #leave(): void {
    if (this.#wanted !== undefined) this.#deps.conversations.leave(this.#wanted, this.#follower);
    this.#shown = undefined;
    this.#wanted = undefined;
  }

  async #onShown(act: (conversation: string, client: PageSessionDeps['client']) => Promise<unknown>): Promise<void> {
    if (this.#shown !== undefined) await act(this.#shown.id, this.#deps.client);
  }

  async #withQueued(id: string, use: (text: string) => Promise<void> | void): Promise<void> {
    if (this.#shown !== undefined) await use(await withdrawQueued(this.#deps.client, this.#shown, id));
  }

  /** Starts a turn, or queues the message while a turn is running. */
  async #send(text: string, how: 'queue' | 'reply', taken: TakenAttachments = this.#attachments.take()): Promise<void> {
    const { client } = this.#deps;
    const message = { content: text, ...(taken.attachments && { attachments: taken.attachments }) };
    try {
      await this.#change(async () => {
        const conversation = this.#shown?.id;
        if (conversation === undefined) {
          const started = await client.request('query', { ...message, new: true });
          await this.#show(started.conversation, true);
        } else if (this.#shown?.running === true) {
          await client.request('interrupt', { conversation, action: how, ...message });
        } else {
          await client.request('query', { conversation, ...message });
        }
      });
    } catch (error) {
      // The typed text must not be lost.
      this.#frontend.restoreDraft(text);
      taken.returnAttachments();
      this.#notice(describeError(error));
    }
  }

  async #answer(given: RequestAnswer): Promise<void> {
    const { requests } = this.#deps.conversations;
    const answered = await requests.answer(given);
    if (answered.ok) return;
    const problem = describeFailure(answered.failure);
    if (!requests.explain(given, problem)) this.#notice(problem);
  }

  readonly #follower: ConversationFollower = {
    appended: (folded) => {
      if (this.#shown === undefined) return;
      this.#frontend.appended(this.#shown.id, folded);
      this.#commands.appended(folded.event);
      if (folded.event.type === 'choice_made') this.#readHead().catch(() => undefined);
    },
    render: (partial) => this.#shown && this.#frontend.render(this.#shown.id, partial),
    changed: () => this.#shown && this.refresh(),
  };

  #refreshNow(): void {
    this.#frontend.setHead(this.#head.of(this.#shown));
  }

  #notice(text: string): void {
    this.#frontend.notice({ type: 'notice', id: this.#deps.ulid(), level: 'warning', text });
  }
}

// The host of a chat page, in VS Code and in a browser: shows one conversation of a client, and carries out the messages
// of the page. Messages that are verbs are passed on to the client.
import { Sequence } from '../../../base/async.ts';
import { type Clock } from '../../../base/clock.ts';
import { type Disposable, DisposableStore } from '../../../base/disposable.ts';
import { Emitter, type Event } from '../../../base/emitter.ts';
import { type Failure, type Result, succeeded } from '../../../base/errors.ts';
import {
  type SentAttachment,
  type Verb,
  type VerbParams,
  VERBS,
  type VerbResult,
} from '../../../protocol/client/verbs.ts';
import { defined } from '../../../base/json/defined.ts';
import { type FromPage, type FromPageHandlers } from '../../../protocol/webview.ts';
import { type LogEvent } from '../../../protocol/event.ts';
import { type Client, type FollowedConversation } from '../../client/client.ts';
import { type Ids, type QueuedMessage } from '../../ports/ports.ts';
import { type ChatFrontend, ShownConversation } from '../chatFrontend.ts';
import { conversationHead, type PendingSummary, summarizePending } from '../chatHead.ts';
import { readContext } from '../contextView.ts';
import { type Activities } from '../conversationActivity.ts';
import { ConversationsPanel } from './conversationsPanel.ts';
import { type PageComposer } from './pageComposer.ts';
import { ABOUT_COMMANDS, ABOUT_DUE, type HandledType, PASSED, type PageOffers, type PassedType } from './pageOffers.ts';

/** Counting pending notifications is expensive, and events come in bursts. */
const REFRESH_AFTER = 30;

export interface PageHostDeps {
  readonly client: Client;
  readonly clock: Clock;
  readonly ids: Pick<Ids, 'ulid'>;
  readonly frontend: ChatFrontend;
  readonly composer: PageComposer;
  /** The host tells it of changes. */
  readonly activities: Activities;
  readonly offers: PageOffers;
  report(what: string, error: unknown): void;
}

/** What was shown with the last update of the head. */
export interface PageSummary {
  readonly shown: FollowedConversation | undefined;
  readonly pending: PendingSummary;
}

export class PageHost implements Disposable {
  readonly #deps: PageHostDeps;
  readonly #held = new DisposableStore();
  readonly #onDidRefresh: Emitter<PageSummary>;
  readonly #shown: ShownConversation;
  readonly #panel: ConversationsPanel;
  /** Changes of the shown conversation: two quick messages start only one conversation. */
  readonly #changes = new Sequence();
  #problem: Failure | undefined;
  #refreshing: Disposable | undefined;

  constructor(deps: PageHostDeps) {
    this.#deps = deps;
    const { client, offers } = deps;
    this.#onDidRefresh = this.#held.add(new Emitter((error) => deps.report('a listener failed', error)));
    this.#shown = this.#held.add(
      new ShownConversation({
        ...deps,
        changed: (event) => this.#changed(event),
        lost: () => void this.newChat().catch((error: unknown) => deps.report('a new chat could not be shown', error)),
      }),
    );
    this.#panel = new ConversationsPanel({
      ...deps,
      warn: (text) => deps.report(text, undefined),
      ...(offers.excerptOf && { excerptOf: offers.excerptOf }),
    });
    this.#held.add(client.requests.onDidChange(() => this.refresh()));
    this.#held.add(client.onDidProgress(() => this.refreshSoon()));
  }

  /** The id of the shown conversation; undefined: a new chat. */
  get shown(): string | undefined {
    return this.#shown.id;
  }

  /** Fires after each update of the head; another conversation may be shown. */
  get onDidRefresh(): Event<PageSummary> {
    return this.#onDidRefresh.event;
  }

  /** Carries out a message of the page. Resolves to false if it is not one of `HANDLED`. */
  async handle(message: FromPage): Promise<boolean> {
    // Each handler takes the message of its own name: the mapped type guarantees it, but the compiler cannot infer it here.
    const handler = (this.#handlers as Partial<Record<FromPage['type'], (message: FromPage) => unknown>>)[message.type];
    if (handler === undefined) return false;
    await handler(message);
    return true;
  }

  /** Shows another conversation, or a new chat. Resolves to false if the conversation cannot be shown. */
  show(id: string | undefined): Promise<boolean> {
    return this.#changes.run(() => (id !== undefined && id === this.shown) || this.#show(id));
  }

  async open(id: string): Promise<boolean> {
    const isShown = await this.show(id);
    this.#deps.frontend.focusComposer();
    return isShown;
  }

  /** Leaves the shown conversation; the next message starts a new one. */
  async newChat(): Promise<void> {
    await this.show(undefined);
    this.#deps.frontend.focusComposer();
  }

  /** Call when conversations can, or cannot, be stored. */
  setProblem(problem: Failure | undefined): void {
    this.#problem = problem;
    this.refresh();
  }

  /** Call after the conversation was deleted. */
  forget(id: string): void {
    this.#deps.activities.forget(id);
    this.refresh();
  }

  /** Sends a message of the user. Without `given`, the attachments in the composer go with it. */
  async send(text: string, how: 'queue' | 'interrupt' = 'queue', given?: readonly SentAttachment[]): Promise<void> {
    const { client, frontend, composer } = this.#deps;
    const started = await this.#changes.run(() => (this.shown === undefined ? this.#start() : succeeded(undefined)));
    const taken = given === undefined ? composer.take() : { attachments: given, text: '' };
    const content = [text, taken.text].filter((part) => part !== '').join('\n\n');
    const { attachments } = taken;
    const conversation = this.shown ?? '';
    const sent = started.ok ? await client.call(how, { conversation, content, attachments }) : started;
    if (sent.ok) {
      this.setProblem(undefined);
      return;
    }
    // The typed text must not be lost.
    frontend.restoreDraft(text);
    if ('returnAttachments' in taken) await taken.returnAttachments();
    this.#failed(sent.failure);
  }

  /** Delivers pending notifications to the shown conversation, regardless of the limits. */
  async deliver(): Promise<void> {
    if (this.shown === undefined) this.notice('info', this.#deps.offers.t('No conversation is open.'));
    else await this.#call('deliver', { conversation: this.shown });
  }

  /** Resolves once the turn has stopped. */
  async stop(): Promise<void> {
    const { id, conversation } = this.#shown;
    if (id !== undefined && conversation?.running === true) await this.#call('stop', { conversation: id });
  }

  /** Shows a fork that ends before this request of the user, with that message in the composer. */
  async rewind(conversation: string, before: string): Promise<Result<void>> {
    const forked = await this.#deps.client.call('fork', { conversation, before });
    if (!forked.ok) return forked;
    const { content = '', attachments } = forked.value;
    if (await this.open(forked.value.conversation))
      await this.#deps.composer.restoreMessages([{ content, attachments }]);
    return succeeded(undefined);
  }

  /** Returns messages of the shown conversation to the composer; others stay queued until they are shown. */
  async returnMessages(conversation: string, texts: readonly QueuedMessage[]): Promise<boolean> {
    const { composer } = this.#deps;
    if (composer.has(texts)) return true;
    if (conversation !== this.shown) return false;
    await composer.returnMessages(texts);
    return true;
  }

  notice(level: 'info' | 'warning' | 'error', text: string): void {
    this.#deps.frontend.notice({ type: 'notice', id: this.#deps.ids.ulid(), level, text });
  }

  refreshSoon(): void {
    this.#refreshing ??= this.#held.add(this.#deps.clock.after(REFRESH_AFTER, () => this.refresh()));
  }

  refresh(): void {
    const { frontend, activities, offers } = this.#deps;
    if (this.#refreshing !== undefined) this.#held.release(this.#refreshing);
    this.#refreshing = undefined;
    const shown = this.#shown.conversation;
    const live = shown && { ...shown, log: shown };
    const chosen = offers.chosen(this.shown);
    const pending = summarizePending(live, chosen.model, chosen.settings);
    const others = activities.othersThan(this.shown);
    frontend.setHead(conversationHead({ ...chosen, ...offers.headOf(shown, this.#problem), live, pending, others }));
    this.#onDidRefresh.fire({ shown, pending });
  }

  dispose(): void {
    this.#held.dispose();
  }

  #changed(event: LogEvent | undefined): void {
    if (event === undefined) return this.refresh();
    this.refreshSoon();
    if (event.type === 'choice_made')
      void this.#didChoose().catch((error: unknown) => this.#deps.report('a choice could not be shown', error));
  }

  async #didChoose(): Promise<void> {
    await this.#deps.offers.didChoose?.();
    this.refresh();
  }

  readonly #handlers: Pick<FromPageHandlers, HandledType> = {
    ...(Object.fromEntries(
      [...PASSED, ...ABOUT_COMMANDS, ...ABOUT_DUE].map((type) => [
        type,
        (message: Message<PassedType>) => this.#pass(message),
      ]),
    ) as Pick<FromPageHandlers, PassedType>),
    draft: ({ text, conversation }) => this.#deps.composer.draftChanged(text, conversation ?? undefined),
    new_chat: () => this.newChat(),
    open_conversation: async ({ id }) => {
      await this.open(id);
    },
    queue: ({ content, attachments }) => this.send(content, 'queue', attachments),
    interrupt: ({ content, attachments }) => this.send(content, 'interrupt', attachments),
    stop: () => this.stop(),
    resend: async (message) => {
      const resent = await this.#pass(message);
      if (resent !== undefined) await this.open(resent.conversation);
    },
    withdraw_queued: async (message) => {
      const withdrawn = await this.#pass(message);
      if (withdrawn === undefined) return;
      await this.#deps.composer.restoreMessages([{ ...withdrawn, content: withdrawn.content ?? '' }]);
      this.refresh();
    },
    list_conversations: ({ query }) => this.#panel.list(query.trim()),
    rename: async (message) => {
      await this.#pass(message);
      await this.#panel.refresh();
    },
    fork: async (message) => {
      const forked = await this.#pass(message);
      if (forked !== undefined) await this.open(forked.conversation);
    },
    delete: async (message) => {
      const { conversation = this.shown ?? '' } = message;
      if ((await this.#deps.offers.confirm?.(message)) === false) return;
      if ((await this.#pass(message)) !== undefined) this.forget(conversation);
      await this.#panel.refresh();
    },
    approve: (message) => {
      const { conversation = this.shown ?? '', tool_call_id: id } = message;
      return this.#answer({ ...message, conversation }, { type: 'approval', conversation, id });
    },
    answer: (message) => this.#answer(message, { type: 'question', id: message.inquiry_id }),
    choose: async (message) => {
      if ((await this.#deps.offers.confirm?.(message)) === false) return;
      if ((await this.#pass(message)) !== undefined) await this.#didChoose();
    },
    remove_rule: async ({ rule, conversation }) => {
      await this.#call('remove_rule', { rule, ...defined({ conversation }) });
      await this.#didChoose();
    },
    list_models: async (message) => {
      const listed = await this.#pass(message);
      if (listed !== undefined) this.#deps.frontend.setHead({ models: listed.data });
    },
    attach: async (message) => {
      const attached = await this.#deps.composer.attach(message);
      if (!attached.ok) this.#failed(attached.failure);
    },
    detach: ({ id }) => this.#deps.composer.detach(id),
    read_media: async (message) => {
      const { hash } = message;
      const read = await this.#pass(message);
      this.#deps.frontend.reply({ type: 'media', hash, ...defined({ data: read?.data }) });
    },
    read_diff: async (message) => {
      const read = await this.#pass(message);
      this.#deps.frontend.reply({ type: 'diff', call: message.tool_call_id, files: read?.data ?? [] });
    },
    read_context: () => {
      const state = this.#shown.conversation?.state;
      const { model, settings, alternatives } = this.#deps.offers.chosen(this.shown);
      const context = state ? readContext(state, model, settings, alternatives()) : null;
      this.#deps.frontend.reply({ type: 'context', context });
    },
    read_freshness: async (message) => {
      const read = await this.#pass(message);
      const { data: files = [], older } = read ?? {};
      this.#deps.frontend.reply({ type: 'freshness', files, ...defined({ older }) });
    },
    update_files: async (message) => {
      const updated = await this.#pass(message);
      if (updated === undefined) return;
      for (const { path, reason } of updated.stayed) this.notice('warning', `${path}: ${reason}`);
      await this.#handlers.read_freshness({ type: 'read_freshness' });
    },
    hide_handle: ({ call }) => this.#shown.hideCommand(call),
  };

  /** Passes a message on to the client, about the shown conversation unless it names one. Undefined: it failed. */
  async #pass<V extends Verb & FromPage['type']>({
    type,
    ...given
  }: { readonly type: V } & object): Promise<VerbResult<V> | undefined> {
    const params = { ...defined({ conversation: this.shown }), ...given };
    // An answer to a new chat, such as a choice, has no conversation.
    if (!VERBS[type].params.safeParse(params).success) return undefined;
    return this.#call(type, params as unknown as VerbParams<V>);
  }

  async #call<V extends Verb>(verb: V, params: VerbParams<V>): Promise<VerbResult<V> | undefined> {
    const { client, offers } = this.#deps;
    const done = await client.call(verb, params);
    if (done.ok) return done.value;
    if (ABOUT_COMMANDS.some((one) => one === verb)) this.notice('info', offers.t('This command is no longer running.'));
    else if (ABOUT_DUE.some((one) => one === verb) && done.failure.code === 'not_set')
      this.notice('info', offers.t('This is not set any more.'));
    else if (verb === 'resend' && done.failure.code === 'not_found')
      this.notice('info', offers.t('This message is no longer in the log.'));
    else this.#failed(done.failure);
    return undefined;
  }

  /** What keeps conversations from being stored is shown until it is over. */
  #failed(failure: Failure): void {
    if (failure.code === 'storage') this.#problem = failure;
    else this.notice('warning', this.#deps.offers.describe(failure));
    this.refresh();
  }

  /** A refusal is shown on the card while the request is open. */
  async #answer(
    { type, ...params }: Message<'approve'> | Message<'answer'>,
    which: Parameters<ChatFrontend['explain']>[0],
  ): Promise<void> {
    const { client, frontend, offers } = this.#deps;
    const answered = await client.call(type, params as VerbParams<typeof type>);
    if (answered.ok) return;
    const changed = offers.t('What this call would do has changed since it was shown. Review it again.');
    const { failure } = answered;
    if (frontend.explain(which, failure.code === 'not_as_approved' ? changed : offers.describe(failure))) return;
    this.notice('warning', offers.t('This request was already answered.'));
  }

  async #show(id: string | undefined): Promise<boolean> {
    const { composer, offers } = this.#deps;
    const draft = await composer.show(id);
    if (id === undefined) {
      this.#shown.showNone(draft);
      this.refresh();
      return true;
    }
    const followed = await this.#follow(id, draft);
    if (followed.ok) {
      await offers.didShow?.(id);
      return true;
    }
    // Without a draft of its own the new chat keeps the text in the composer.
    this.#shown.showNone((await composer.show(undefined)) || undefined);
    this.#failed(followed.failure);
    return false;
  }

  /** Starts a conversation that takes over the draft of the new chat. */
  async #start(): Promise<Result<void>> {
    const { client, composer } = this.#deps;
    const created = await client.call('create', {});
    if (!created.ok) return created;
    const { conversation } = created.value;
    await composer.moveTo(conversation);
    const followed = await this.#follow(conversation, undefined);
    if (!followed.ok) await composer.moveTo(undefined);
    return followed;
  }

  async #follow(id: string, draft: string | undefined): Promise<Result<void>> {
    const followed = await this.#shown.show(id, draft);
    if (!followed.ok) return followed;
    this.#problem = undefined;
    this.#deps.activities.seen(id);
    this.refresh();
    return followed;
  }
}

type Message<T extends FromPage['type']> = Extract<FromPage, { type: T }>;

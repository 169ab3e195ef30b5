// One connected plugin: handles its requests in order and sends its replies.
import { type Disposable, DisposableStore } from '../base/disposable.ts';
import { describeError, describeFailure, type Result, succeeded } from '../base/errors.ts';
import { type GivenAttachment } from '../core/agent/userText.ts';
import { PLUGIN_PREFIX } from '../core/ports/ports.ts';
import { EVERY_CONVERSATION, type PluginRequest, type RequestOf, type RequestType } from '../protocol/plugin.ts';
import { type PluginConnection } from './connection.ts';
import { Waiting } from './outbox.ts';
import { type PluginOutput } from './output.ts';
import { type AnsweringRights } from './pluginPorts.ts';
import { type Answer, doneIf, NOTHING, refuse, reply } from './requests/answer.ts';
import { createConversation, listConversations, readConfig, readConversation } from './requests/baseRequests.ts';
import {
  deleteConversation,
  forkConversation,
  listCommands,
  readMedia,
  renameConversation,
} from './requests/conversationRequests.ts';
import { type PluginNotifier } from './requests/notifying.ts';
import { type BeginTurn } from './requests/queries.ts';
import {
  deliverNow,
  dismissNotifications,
  interruptTurn,
  moveToBackground,
  stopCommand,
  withdrawQueued,
} from './requests/turnRequests.ts';
import { choose, complete, listModels, StoredImages } from './requests/windowRequests.ts';
import { type SharedParts, type Subscriber } from './sharedParts.ts';
import { Subscription } from './streams/subscription.ts';

const MOST_SUBSCRIPTIONS = 1000;

/** `ready`, `exit` and `describe` belong to the life cycle and are handled in `peer.ts`. */
type PeerType = 'ready' | 'exit' | 'describe';
type SessionRequest = Exclude<PluginRequest, { type: PeerType }>;
type Handlers = { readonly [T in Exclude<RequestType, PeerType>]: (request: RequestOf<T>) => Answer | Promise<Answer> };

/** Requests that are answered with `done` only if they have an `id`. */
const QUIET: ReadonlySet<string> = new Set([
  ...['respond', 'interrupt', 'cancel_query', 'deliver_now', 'dismiss'],
  ...['withdraw_queued', 'move_to_background', 'stop_command'],
  ...['rename_conversation', 'delete_conversation', 'choose'],
]);
/** Requests that later ones do not wait for, since they wait for a turn or for endpoints. */
const CONCURRENT: ReadonlySet<string> = new Set([
  'query',
  'retry',
  'interrupt',
  'cancel_query',
  'list_models',
  'choose',
]);

export interface SessionDeps extends AnsweringRights {
  readonly name: string;
  readonly connection: PluginConnection;
  readonly shared: SharedParts;
  readonly output: PluginOutput;
  /** Earshot's settings by name, without secrets. */
  config(): Readonly<Record<string, unknown>>;
}

interface QueryTarget {
  readonly conversation: string;
  /** Used instead of the query's own attachments. */
  readonly attachments?: readonly GivenAttachment[];
}

export class PluginSession implements Subscriber, Disposable {
  readonly #deps: SessionDeps;
  readonly #held = new DisposableStore();
  readonly #subscriptions = new Map<string, { readonly subscription: Subscription; readonly hold: Disposable }>();
  readonly #notifier: PluginNotifier;
  readonly #by: string;
  /** Counts the events that wait for the plugin. */
  readonly #waiting = new Waiting();
  readonly #images = new StoredImages();
  #previous: Promise<void> = Promise.resolve();
  #ended = false;

  constructor(deps: SessionDeps) {
    this.#deps = deps;
    this.#by = `${PLUGIN_PREFIX}${deps.name}`;
    this.#held.add(deps.shared.join(this));
    this.#notifier = this.#held.add(deps.shared.notifier(deps.name)).notifier;
  }

  get subscriptions(): readonly Subscription[] {
    return [...this.#subscriptions.values()].map(({ subscription }) => subscription);
  }

  mayAnswer(): boolean {
    return !this.#ended && this.#deps.mayAnswer();
  }

  /** Resolves once the request is handled. Requests start in order, and most are also answered in order. */
  async handle(request: SessionRequest): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const run = () => {
      const handled = this.#handle(request);
      handled.then(resolve, resolve);
      return CONCURRENT.has(request.type) ? undefined : handled;
    };
    this.#previous = this.#previous.then(() => this.#deps.connection.readyForRequest()).then(run);
    await promise;
  }

  /** No more requests will come. Resolves once all are handled, except for concurrent ones. */
  finish(): Promise<void> {
    this.#deps.connection.finishRequests();
    return this.#previous;
  }

  /** All subscriptions end with the plugin. */
  dispose(): void {
    this.#ended = true;
    for (const { subscription } of this.#subscriptions.values()) this.#forget(subscription);
    this.#held.dispose();
  }

  async #handle(request: SessionRequest): Promise<void> {
    if (this.#ended) return;
    const { connection, shared } = this.#deps;
    const { type } = request;
    const id = request.id === undefined ? {} : { id: request.id };
    try {
      const handle = this.#handlers[type] as (request: SessionRequest) => Answer | Promise<Answer>;
      const answer = await handle(request);
      if (!answer.ok)
        connection.send({ type: 'error', ...id, request: type, message: describeFailure(answer.failure) });
      else if (answer.value !== undefined) {
        const { message, key, then } = answer.value;
        const isQuiet = message.type === 'done' && QUIET.has(type) && request.id === undefined;
        if (!isQuiet) connection.send({ ...message, ...id }, key === undefined ? {} : { key });
        then?.();
      }
    } catch (error) {
      shared.ports.logger.error(`a request of the plugin ${this.#deps.name} failed unexpectedly`, error);
      connection.send({ type: 'error', ...id, request: type, message: `Earshot failed: ${describeError(error)}` });
    }
  }

  readonly #handlers: Handlers = {
    list_conversations: () => listConversations(this.#ports),
    create: (request) => createConversation(this.#ports, request),
    read_events: (request) => readConversation(this.#ports, request),
    read_config: (request) => readConfig(this.#deps.config(), request),
    print: (request) => {
      this.#deps.output.print(request);
      return NOTHING;
    },
    log: (request) => {
      this.#deps.output.log(request);
      return NOTHING;
    },
    subscribe: (request) => this.#subscribe(request),
    unsubscribe: ({ sub_id: sub }) => {
      const held = this.#subscriptions.get(sub);
      if (held === undefined) return refuse(`sub_id: there is no subscription “${sub.slice(0, 100)}”.`);
      this.#forget(held.subscription);
      return reply({ type: 'unsubscribed', sub_id: sub });
    },
    respond: (request) => this.#respond(request),
    query: (request) => this.#query(request),
    interrupt: (request) => {
      const refused = this.#images.whyNot(request.attachments);
      return refused === undefined ? interruptTurn(this.#ports, request) : refuse(refused);
    },
    cancel_query: ({ conversation }) => interruptTurn(this.#ports, { conversation, action: 'stop' }),
    retry: (request) => this.#retry(request),
    withdraw_queued: (request) => withdrawQueued(this.#ports, request),
    move_to_background: (request) => moveToBackground(this.#ports, request),
    stop_command: (request) => stopCommand(this.#ports, request),
    list_commands: (request) => listCommands(this.#ports, request),
    rename_conversation: (request) => renameConversation(this.#ports, request),
    fork_conversation: (request) => forkConversation(this.#ports, request),
    delete_conversation: (request) => this.#inPlaceOfUser(() => deleteConversation(this.#ports, request)),
    store_image: (request) => this.#images.store(this.#ports, request),
    read_media: (request) => readMedia(this.#ports, request),
    complete: (request) => complete(this.#ports, request),
    list_models: (request) => listModels(this.#ports, request),
    choose: (request) => this.#inPlaceOfUser(() => choose(this.#ports, request)),
    deliver_now: (request) => deliverNow(this.#ports, request),
    dismiss: (request) => dismissNotifications(this.#ports, request, this.#by),
    notify: (request) => this.#notifier.notify(request),
  };

  get #ports() {
    return this.#deps.shared.ports;
  }

  async #subscribe(request: RequestOf<'subscribe'>): Promise<Answer> {
    const { sub_id: sub, conversation, since } = request;
    const unusable = this.#whyUnusable(sub);
    if (unusable !== undefined) return refuse(unusable);
    const { connection, shared } = this.#deps;
    const { feeds, pieces, all, questions } = shared;
    const subscription = new Subscription(request, {
      connection,
      waiting: this.#waiting,
      feeds,
      pieces,
      all,
      joined: (joined, stream) => {
        if (this.mayAnswer()) questions.offerTo(joined, stream.conversation);
      },
      ended: (ended) => this.#forget(ended),
      report: (error) => this.#ports.logger.error(`a subscription of the plugin ${this.#deps.name} failed`, error),
    });
    const isForAll = conversation === EVERY_CONVERSATION;
    const hold = isForAll ? nothingHeld : this.#ports.keepAlive.hold(conversation, false);
    this.#subscriptions.set(sub, { subscription, hold });
    const opened = await subscription.open(since);
    if (!opened.ok || this.#ended) {
      this.#forget(subscription);
      return opened.ok ? NOTHING : opened;
    }
    const begin = () => {
      opened.value.begin();
      if (isForAll && this.mayAnswer()) for (const one of questions.conversations) subscription.ensure(one);
    };
    return reply({ type: 'subscribed', sub_id: sub, seq: opened.value.seq }, { then: begin });
  }

  #whyUnusable(sub: string): string | undefined {
    if (this.#subscriptions.has(sub)) return `sub_id: “${sub}” is in use.`;
    if (this.#subscriptions.size >= MOST_SUBSCRIPTIONS) return `There are ${MOST_SUBSCRIPTIONS} subscriptions already.`;
    return undefined;
  }

  #forget(subscription: Subscription): void {
    const held = this.#subscriptions.get(subscription.id);
    if (held?.subscription === subscription) {
      this.#subscriptions.delete(subscription.id);
      held.hold.dispose();
    }
    this.#deps.shared.questions.leave(subscription);
    subscription.dispose();
  }

  #respond(request: RequestOf<'respond'>): Answer {
    const subscription = this.#subscriptions.get(request.sub_id)?.subscription;
    if (subscription === undefined) {
      return refuse(`sub_id: there is no subscription “${request.sub_id.slice(0, 100)}”.`);
    }
    if (!this.mayAnswer()) return this.#notAllowed('answer');
    const who = { by: this.#by, ...this.#deps.process() };
    return doneIf(this.#deps.shared.questions.answer(subscription, request, who));
  }

  /** For requests that need the same permission as answering in place of the user. */
  #inPlaceOfUser(act: () => Promise<Answer>): Promise<Answer> | Answer {
    return this.mayAnswer() ? act() : this.#notAllowed('do this');
  }

  #notAllowed(what: string): Answer {
    return refuse(`The plugin ${this.#deps.name} may not ${what}. Only the user can allow that, with "approve": true.`);
  }

  async #query(request: RequestOf<'query'>): Promise<Answer> {
    const refused = this.#whyNot(request);
    if (refused !== undefined) return refuse(refused);
    const made = await this.#target(request);
    if (!made.ok) return made;
    const { conversation, attachments = request.attachments } = made.value;
    const { content, schema } = request;
    const options = { ...(attachments && { attachments }), ...(schema && { schema }) };
    return this.#begin(conversation, (earshot) => earshot.send(conversation, content, options));
  }

  async #retry({ conversation }: RequestOf<'retry'>): Promise<Answer> {
    if (!this.#isSubscribed(conversation)) return refuse(NOT_SUBSCRIBED);
    return this.#begin(conversation, (earshot) => earshot.retry(conversation));
  }

  /** Starts a turn, and announces its end to the plugin's subscriptions. */
  async #begin(conversation: string, begin: BeginTurn): Promise<Answer> {
    const started = await this.#deps.shared.queries.start(conversation, begin);
    if (!started.ok) return started;
    const { turn, ended } = started.value;
    const complete = async () => {
      const { data, seq } = await ended;
      for (const subscription of this.subscriptions.filter((one) => one.covers(conversation))) {
        const message = { sub_id: subscription.id, conversation, data: { ...data } };
        subscription.announce(conversation, { type: 'event', ...message }, seq);
      }
    };
    const report = (error: unknown) => this.#ports.logger.error('the end of a query was not announced', error);
    return reply({ type: 'query_started', conversation, turn }, { then: () => void complete().catch(report) });
  }

  /** Why a query is refused; checked before a conversation is created. */
  #whyNot(request: RequestOf<'query'>): string | undefined {
    const { conversation, new: isNew = false, instead_of: earlier, sub_id: sub, title, content, attachments } = request;
    if (isNew && conversation !== undefined) return 'conversation: a new one gets its id from Earshot.';
    if (isNew && earlier !== undefined) return 'instead_of: a new conversation has no earlier message.';
    if (!isNew && conversation === undefined) return 'conversation: missing. Set new to create one.';
    if (content.trim() === '' && (attachments ?? []).length === 0) return 'content: there is nothing in it.';
    if (conversation !== undefined && !this.#isSubscribed(conversation)) return NOT_SUBSCRIBED;
    const refused = this.#images.whyNot(attachments);
    if (refused !== undefined) return refused;
    if (isNew || earlier !== undefined) {
      // The new conversation needs a subscription as well.
      if (sub !== undefined) return this.#whyUnusable(sub);
      return this.#isSubscribed(EVERY_CONVERSATION) ? undefined : NOT_SUBSCRIBED;
    }
    return title === undefined ? undefined : 'title: only a new conversation gets one.';
  }

  #isSubscribed(conversation: string): boolean {
    return this.subscriptions.some((one) => one.covers(conversation));
  }

  /** The conversation of a query: the given one, a new one, or a fork of the given one that ends before an earlier message. */
  async #target(request: RequestOf<'query'>): Promise<Result<QueryTarget>> {
    const { conversation = '', new: isNew = false, instead_of: earlier } = request;
    const { earshot, library } = this.#ports;
    if (isNew) {
      const created = await earshot.create();
      return created.ok ? this.#announceNew({ conversation: created.value.log.id }, request) : created;
    }
    if (earlier === undefined) return succeeded({ conversation });
    const forked = await library.forkBefore(conversation, earlier);
    if (!forked.ok) return forked;
    // The attachments of the earlier message are used unless the query has its own.
    const attachments = request.attachments ?? forked.value.request.attachments;
    return this.#announceNew({ conversation: forked.value.conversation, ...(attachments && { attachments }) }, request);
  }

  /** Sets the title of a new conversation, sends `created`, and subscribes to it if the query has a `sub_id`. */
  async #announceNew(
    target: QueryTarget,
    { title, sub_id: sub, id }: RequestOf<'query'>,
  ): Promise<Result<QueryTarget>> {
    const { library, keepAlive } = this.#ports;
    const { connection } = this.#deps;
    const { conversation } = target;
    const hold = keepAlive.hold(conversation, true);
    try {
      const named = title === undefined ? undefined : await library.rename(conversation, title);
      if (named?.ok === false) return named;
      connection.send({ type: 'created', ...(id !== undefined && { id }), conversation });
      if (sub === undefined) return succeeded(target);
      const subscribed = await this.#subscribe({ type: 'subscribe', sub_id: sub, conversation });
      if (!subscribed.ok) return subscribed;
      if (subscribed.value !== undefined) connection.send(subscribed.value.message);
      subscribed.value?.then?.();
      return succeeded(target);
    } finally {
      hold.dispose();
    }
  }
}

const NOT_SUBSCRIBED = 'There is no subscription on this conversation. Subscribe first.';

const nothingHeld: Disposable = { dispose: () => undefined };

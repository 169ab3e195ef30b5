// One connected plugin: dispatches its requests to a client by the table of verbs, in order, and sends the replies.
import { Sequence } from '../base/async.ts';
import { type Disposable, DisposableStore } from '../base/disposable.ts';
import { type Result, succeeded } from '../base/errors.ts';
import { defined } from '../base/json/defined.ts';
import { type Client } from '../core/client/client.ts';
import { whyNotRunning } from '../core/client/local/turnVerbs.ts';
import { type ApprovalAnswer, PLUGIN_PREFIX } from '../core/ports/ports.ts';
import { type SentAttachment, type Verb, type VerbParams, VERBS, type VerbResult } from '../protocol/client/verbs.ts';
import {
  DIRECT_VERBS,
  EVERY_CONVERSATION,
  type HostMessage,
  type PluginRequest,
  type RequestOf,
} from '../protocol/plugin.ts';
import { type Answer, answerRequest, NOTHING, refuse, reply } from './answer.ts';
import { type PluginConnection } from './connection.ts';
import { Waiting } from './outbox.ts';
import { type PluginOutput } from './output.ts';
import { type SharedParts, type Subscriber } from './sharedParts.ts';
import { Subscription } from './streams/subscription.ts';

const MOST_SUBSCRIPTIONS = 1000;

/** `ready`, `exit` and `describe` belong to the life cycle and are handled in `peer.ts`. */
type PeerType = 'ready' | 'exit' | 'describe';
type SessionRequest = Exclude<PluginRequest, { type: PeerType }>;
type WireVerb = (typeof DIRECT_VERBS)[number];

const VERB_OF: ReadonlyMap<string, WireVerb> = new Map(DIRECT_VERBS.map((verb) => [VERBS[verb].wire.request, verb]));
/** Requests that later ones do not wait for. */
const CONCURRENT: ReadonlySet<string> = new Set([
  ...Object.values(VERBS).flatMap((row) => ('concurrent' in row ? [row.wire.request] : [])),
  'cancel_query',
]);
const NOT_SUBSCRIBED = 'There is no subscription on this conversation. Subscribe first.';

/** Whether a connected plugin may answer in place of the user, and which process it is. */
interface AnsweringRights {
  /** Whether it may answer approvals and questions now. */
  mayAnswer(): boolean;
  /** For the log; empty if the process is not known. */
  process(): Pick<ApprovalAnswer, 'program'>;
}

export interface SessionDeps extends AnsweringRights {
  readonly name: string;
  readonly connection: PluginConnection;
  readonly shared: SharedParts;
  readonly output: PluginOutput;
}

export class ConnectedPlugin implements Subscriber, Disposable {
  readonly #deps: SessionDeps;
  readonly #held = new DisposableStore();
  readonly #subscriptions = new Map<string, { readonly subscription: Subscription; readonly hold: Disposable }>();
  readonly #client: Client;
  /** Counts the events that wait for the plugin. */
  readonly #waiting = new Waiting();
  /** The images that it may attach. Other snapshots cannot be attached by their hash. */
  readonly #images = new Set<string>();
  readonly #requests = new Sequence();
  #ended = false;

  constructor(deps: SessionDeps) {
    this.#deps = deps;
    this.#held.add(deps.shared.join(this));
    const caller = { by: `${PLUGIN_PREFIX}${deps.name}`, process: () => deps.process(), source: `plugin.${deps.name}` };
    this.#client = this.#held.add(deps.shared.clients.as(caller));
  }

  get subscriptions(): readonly Subscription[] {
    return [...this.#subscriptions.values()].map(({ subscription }) => subscription);
  }

  mayAnswer(): boolean {
    return !this.#ended && this.#deps.mayAnswer();
  }

  /** Resolves once the request is handled. Requests start in order, and most are also answered in order. */
  async handle(request: SessionRequest): Promise<void> {
    const { handled } = await this.#requests.run(async () => {
      await this.#deps.connection.readyForRequest();
      const handling = this.#handle(request);
      if (!CONCURRENT.has(request.type)) await handling;
      return { handled: handling };
    });
    await handled;
  }

  /** No more requests will come. Resolves once all are handled, except for concurrent ones. */
  finish(): Promise<void> {
    this.#deps.connection.finishRequests();
    return this.#requests.settled();
  }

  /** All subscriptions end with the plugin. */
  dispose(): void {
    this.#ended = true;
    for (const { subscription } of this.#subscriptions.values()) this.#forget(subscription);
    this.#held.dispose();
  }

  async #handle(request: SessionRequest): Promise<void> {
    if (this.#ended) return;
    const { connection, name } = this.#deps;
    const report = (error: unknown) =>
      this.#ports.logger.error(`a request of the plugin ${name} failed unexpectedly`, error);
    await answerRequest(connection, request, () => this.#answer(request), report);
  }

  async #answer(request: SessionRequest): Promise<Answer> {
    switch (request.type) {
      case 'print':
        this.#deps.output.print(request);
        return NOTHING;
      case 'log':
        this.#deps.output.log(request);
        return NOTHING;
      case 'subscribe':
        return this.#subscribe(request);
      case 'unsubscribe':
        return this.#unsubscribe(request);
      case 'respond':
        return this.#respond(request);
      case 'query':
        return this.#query(request);
      case 'retry':
        if (!this.#isSubscribed(request.conversation)) return refuse(NOT_SUBSCRIBED);
        return this.#started(await this.#client.call('retry', request));
      case 'interrupt':
        return this.#interrupt(request);
      case 'cancel_query':
        return this.#call('stop', request, request.id);
      default: {
        const { type, id, ...params } = request;
        const verb = VERB_OF.get(type);
        return verb === undefined ? refuse(`There is no request “${type}”.`) : this.#call(verb, params, id);
      }
    }
  }

  /** A verb whose reply is its result. `id` is that of the request. */
  async #call<V extends Verb>(verb: V, params: VerbParams<V>, id: string | undefined): Promise<Answer> {
    const row = VERBS[verb];
    if ('forUser' in row && !this.mayAnswer()) return this.#notAllowed('do this');
    const result: Result<object> = await this.#client.call(verb, params);
    if (!result.ok) return result;
    this.#remember(result.value);
    // Without an `id`, nobody waits for `done`.
    if (id === undefined && row.wire.reply === 'done' && verb !== 'notify') return NOTHING;
    return reply({ type: row.wire.reply, ...result.value } as HostMessage);
  }

  /** Images that it has stored, and those of messages that it has withdrawn or wants to edit. */
  #remember({ hash, attachments = [] }: Partial<VerbResult<'attach'> & VerbResult<'withdraw_queued'>>): void {
    if (hash !== undefined) this.#images.add(hash);
    for (const one of attachments) if (one.type === 'image') this.#images.add(one.hash);
  }

  get #ports() {
    return this.#deps.shared.ports;
  }

  async #subscribe(request: Omit<RequestOf<'subscribe'>, 'type'>): Promise<Answer> {
    const { sub_id: sub, conversation, since } = request;
    const unusable = this.#whyUnusable(sub);
    if (unusable !== undefined) return refuse(unusable);
    const { connection, shared } = this.#deps;
    const { feeds, pieces, all, questions } = shared;
    const subscription = new Subscription(request, {
      ...{ connection, waiting: this.#waiting, feeds, pieces, all },
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
    return reply({ type: 'subscribed', sub_id: sub, seq: opened.value.seq }, begin);
  }

  #unsubscribe({ sub_id: sub }: RequestOf<'unsubscribe'>): Answer {
    const held = this.#subscriptions.get(sub);
    if (held === undefined) return refuse(unknownSubscription(sub));
    this.#forget(held.subscription);
    return reply({ type: 'unsubscribed', sub_id: sub });
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

  async #respond(request: RequestOf<'respond'>): Promise<Answer> {
    const { sub_id: sub } = request;
    const subscriptions = this.subscriptions.filter(({ id }) => sub === undefined || id === sub);
    if (sub !== undefined && subscriptions.length === 0) return refuse(unknownSubscription(sub));
    if (!this.mayAnswer()) return this.#notAllowed('answer');
    const open = this.#deps.shared.questions.find(subscriptions, request);
    if (!open.ok) return open;
    if (request.respond === 'inquiry') return this.#call('answer', request, request.id);
    return this.#call('approve', { ...request, conversation: open.value.conversation }, request.id);
  }

  #notAllowed(what: string): Answer {
    return refuse(`The plugin ${this.#deps.name} may not ${what}. Only the user can allow that, with "approve": true.`);
  }

  async #interrupt(request: RequestOf<'interrupt'>): Promise<Answer> {
    const { conversation, action, content = '', attachments = [], idle } = request;
    if (action !== 'stop' && content.trim() === '' && attachments.length === 0)
      return refuse(`content: “${action}” needs it.`);
    if (idle === undefined && this.#ports.earshot.get(conversation)?.running !== true)
      return whyNotRunning(this.#ports, conversation);
    const refused = this.#whyNotAttached(attachments);
    if (refused !== undefined) return refuse(refused);
    if (action === 'stop') return this.#call('stop', { conversation }, request.id);
    return this.#call(action === 'reply' ? 'interrupt' : 'queue', { ...request, content }, request.id);
  }

  async #query(request: RequestOf<'query'>): Promise<Answer> {
    const refused = this.#whyNot(request);
    if (refused !== undefined) return refuse(refused);
    const target = await this.#target(request);
    return target.ok ? this.#started(await this.#client.call('send', target.value)) : target;
  }

  /** Announces the end of a turn that the plugin has started to its subscriptions. */
  #started(started: Result<VerbResult<'send'>>): Answer {
    if (!started.ok) return started;
    const { conversation, turn } = started.value;
    const leave = this.#deps.shared.enterQuery(conversation);
    const complete = async () => {
      const { seq = 0, ...end } = await this.#client.untilEnded(turn);
      leave();
      for (const subscription of this.subscriptions.filter((one) => one.covers(conversation))) {
        const data = { type: 'query_complete', turn, ...end };
        subscription.announce(conversation, { type: 'event', sub_id: subscription.id, conversation, data }, seq);
      }
    };
    const report = (error: unknown) => this.#ports.logger.error('the end of a query was not announced', error);
    return reply({ type: 'query_started', conversation, turn }, () => void complete().catch(report));
  }

  /** Why a query is refused; checked before a conversation is created. */
  #whyNot(request: RequestOf<'query'>): string | undefined {
    const { conversation, new: isNew = false, instead_of: earlier, sub_id: sub, title } = request;
    const { content = '', attachments = [] } = request;
    if (isNew && conversation !== undefined) return 'conversation: a new one gets its id from Earshot.';
    if (isNew && earlier !== undefined) return 'instead_of: a new conversation has no earlier message.';
    if (!isNew && conversation === undefined) return 'conversation: missing. Set new to create one.';
    const isSame = earlier !== undefined && request.content === undefined;
    if (content.trim() === '' && attachments.length === 0 && !isSame) return 'content: there is nothing in it.';
    if (conversation !== undefined && !this.#isSubscribed(conversation)) return NOT_SUBSCRIBED;
    const refused = this.#whyNotAttached(attachments);
    if (refused !== undefined) return refused;
    if (isNew || earlier !== undefined) {
      // The new conversation needs a subscription as well.
      if (sub !== undefined) return this.#whyUnusable(sub);
      return this.#isSubscribed(EVERY_CONVERSATION) ? undefined : NOT_SUBSCRIBED;
    }
    return title === undefined ? undefined : 'title: only a new conversation gets one.';
  }

  #whyNotAttached(attachments: readonly SentAttachment[]): string | undefined {
    const unknown = attachments.findIndex((one) => one.type === 'image' && !this.#images.has(one.hash));
    return unknown === -1 ? undefined : `attachments.${unknown}: this image was not stored with store_image.`;
  }

  #isSubscribed(conversation: string): boolean {
    return this.subscriptions.some((one) => one.covers(conversation));
  }

  /** The message of a query: in the given conversation, a new one, or a fork that ends before an earlier message. */
  async #target(request: RequestOf<'query'>): Promise<Result<VerbParams<'send'>>> {
    const { conversation = '', new: isNew, instead_of: before, title, content = '', attachments, schema } = request;
    if (isNew === true) {
      const created = await this.#client.call('create', { title });
      if (!created.ok) return created;
      return this.#announceNew({ ...created.value, content, attachments, schema }, request);
    }
    if (before === undefined) return succeeded({ conversation, content, attachments, schema });
    const forked = await this.#client.call('fork', { conversation, before });
    if (!forked.ok) return forked;
    const { conversation: fork, ...earlier } = forked.value;
    const named = title === undefined ? forked : await this.#client.call('rename', { conversation: fork, title });
    if (!named.ok) return named;
    // What the query does not have is that of the earlier message.
    const text = request.content ?? earlier.content ?? '';
    const message = { conversation: fork, content: text, attachments: attachments ?? earlier.attachments, schema };
    return this.#announceNew(message, request);
  }

  /** Sends `created`, and subscribes to the new conversation if the query has a `sub_id`. */
  async #announceNew(
    target: VerbParams<'send'>,
    { sub_id: sub, id }: RequestOf<'query'>,
  ): Promise<Result<VerbParams<'send'>>> {
    const { connection } = this.#deps;
    const { conversation } = target;
    connection.send({ type: 'created', ...defined({ id }), conversation });
    if (sub === undefined) return succeeded(target);
    const subscribed = await this.#subscribe({ sub_id: sub, conversation });
    if (!subscribed.ok) return subscribed;
    if (subscribed.value !== undefined) connection.send(subscribed.value.message);
    subscribed.value?.then?.();
    return succeeded(target);
  }
}

function unknownSubscription(sub: string): string {
  return `sub_id: there is no subscription “${sub.slice(0, 100)}”.`;
}

const nothingHeld: Disposable = { dispose: () => undefined };

// The client of a program that is connected to a window by JSON lines (WIRE A): requests by the table of verbs, followed
// conversations by subscriptions.
import { type Clock } from '../../../base/clock.ts';
import { type Disposable, toDisposable } from '../../../base/disposable.ts';
import { Emitter, type Event } from '../../../base/emitter.ts';
import { describeError, failed, type Result, succeeded } from '../../../base/errors.ts';
import { type Verb, type VerbParams, VERBS, type VerbResult } from '../../../protocol/client/verbs.ts';
import { EVENT_VERSION, readWritten } from '../../../protocol/event.ts';
import {
  EVERY_CONVERSATION,
  type HostMessageOf,
  LONGEST_LINE,
  queryCompleteSchema,
  type RequestFields,
} from '../../../protocol/plugin.ts';
import { type Client, type FollowMessage, isProgress, type Progress, PROGRESS, type TurnEnd } from '../client.ts';
import { RemoteFollow, textOf } from './remoteFollow.ts';
import { type RequestsClient, type OpenRequest, RequestList } from '../requests.ts';
import { readApprovalDetails } from '../../../protocol/approvalDetails.ts';
import { type FormField } from '../../../protocol/page/form.ts';
import { type ApprovalAnswer, type InquiryRequest } from '../../ports/ports.ts';

type WindowEvent = HostMessageOf<'event'>;

/** How many ends of turns are remembered for `untilEnded`. */
const REMEMBERED = 1000;
/** Room for the fields that a line has besides the parameters. */
const LONGEST_PARAMS = LONGEST_LINE - 1000;
const ALL = EVERY_CONVERSATION;

export interface RemoteClientDeps {
  readonly clock: Clock;
  /** Rejects with the window's reason, or if the window is gone. */
  request(type: string, fields: Readonly<Record<string, unknown>>): Promise<object>;
  /** Whether requests of all conversations are asked for; otherwise only those of followed ones. */
  readonly asksAll: boolean;
  warn(message: string): void;
}

export class RemoteClient implements Client {
  readonly #deps: RemoteClientDeps;
  readonly #requests: WindowRequests;
  readonly #followed = new Map<string, RemoteFollow>();
  readonly #ends = new Map<string, PromiseWithResolvers<TurnEnd>>();
  readonly #onDidProgress: Emitter<Progress>;
  readonly #gone = Promise.withResolvers<string>();

  constructor(deps: RemoteClientDeps) {
    this.#deps = deps;
    const report = (error: unknown) => deps.warn(describeError(error));
    this.#requests = new WindowRequests(report);
    this.#onDidProgress = new Emitter(report);
  }

  get requests(): RequestsClient {
    return this.#requests;
  }

  get onDidProgress(): Event<Progress> {
    return this.#onDidProgress.event;
  }

  get ended(): Promise<string> {
    return this.#gone.promise;
  }

  /** Call first. Subscribes to turns and titles of all conversations. */
  async start(): Promise<Result<unknown>> {
    const { asksAll: requests } = this.#deps;
    return this.#subscribe({ sub_id: ALL, conversation: ALL, events: [...PROGRESS], requests });
  }

  async call<V extends Verb>(verb: V, params: VerbParams<V>): Promise<Result<VerbResult<V>>> {
    const { request, fixed } = VERBS[verb].wire as { readonly request: string; readonly fixed?: object };
    if (new TextEncoder().encode(JSON.stringify(params)).length > LONGEST_PARAMS)
      return failed('too_large', 'This is too long for a window of VS Code.', 'Link the files instead.');
    try {
      const {
        type: _,
        id: __,
        ...result
      } = (await this.#deps.request(request, { ...params, ...fixed })) as {
        type?: string;
        id?: string;
      };
      return succeeded(result as VerbResult<V>);
    } catch (error) {
      return failed('plugin', describeError(error));
    }
  }

  async follow(conversation: string, receive: (message: FollowMessage) => void): Promise<Result<Disposable>> {
    const followed = this.#followed.get(conversation) ?? this.#begin(conversation);
    const following = await followed.add(receive);
    if (following.ok) return succeeded(toDisposable(() => this.#leave(conversation, followed, receive)));
    this.#leave(conversation, followed, receive);
    return following;
  }

  async untilEnded(turn: string): Promise<TurnEnd> {
    return this.#end(turn).promise;
  }

  /** Call with each event of the window. */
  receive(event: WindowEvent): void {
    const { sub_id: subscription, conversation, data, seq, partial } = event;
    const followed = this.#followed.get(conversation);
    if (subscription === ALL && seq !== undefined) this.#progress(event);
    if (subscription !== ALL && subscription === conversation) followed?.receive(event);
    if (seq !== undefined || partial !== undefined) return;
    // The end of a turn counts once all its events were received.
    const isBehind = subscription === ALL && followed !== undefined;
    if (data.type !== 'query_complete') this.#requests.receive(event);
    else if (!isBehind) this.#queryComplete(data);
  }

  /** Call when the window has ended a subscription: it was read too slowly, or its conversation was deleted. */
  subscriptionEnded({ sub_id: id = '', message }: HostMessageOf<'error'>): void {
    this.#deps.warn(`a subscription ended: ${message}`);
    this.#requests.clear(id === ALL ? undefined : id);
    if (id === ALL) void this.#startAgain().catch((error: unknown) => this.#deps.warn(describeError(error)));
    else this.#followed.get(id)?.renew();
  }

  /** Call when the connection has ended. */
  disconnected(reason: string): void {
    for (const { resolve } of this.#ends.values()) resolve({ outcome: 'error', message: reason });
    for (const followed of this.#followed.values()) followed.lose(reason);
    this.#followed.clear();
    this.#requests.clear();
    this.#gone.resolve(reason);
  }

  dispose(): void {
    for (const followed of this.#followed.values()) followed.dispose();
    this.#followed.clear();
    this.#requests.dispose();
    this.#onDidProgress.dispose();
  }

  async #startAgain(): Promise<void> {
    const started = await this.start();
    if (!started.ok) this.#deps.warn(started.failure.message);
  }

  #progress({ conversation, data }: WindowEvent): void {
    const read = readWritten({ ...data, v: EVENT_VERSION });
    if (read.kind === 'event' && isProgress(read.event)) this.#onDidProgress.fire({ conversation, event: read.event });
  }

  #begin(conversation: string): RemoteFollow {
    const { asksAll, clock, warn } = this.#deps;
    const followed = new RemoteFollow(conversation, {
      clock,
      client: this,
      requests: this.#requests,
      subscribe: async (since) =>
        this.#subscribe({ sub_id: conversation, conversation, since, output: true, requests: !asksAll }),
      warn,
    });
    this.#followed.set(conversation, followed);
    return followed;
  }

  #leave(conversation: string, followed: RemoteFollow, receive: (message: FollowMessage) => void): void {
    followed.remove(receive);
    if (followed.isUsed || this.#followed.get(conversation) !== followed) return;
    this.#followed.delete(conversation);
    followed.dispose();
    if (!this.#deps.asksAll) this.#requests.clear(conversation);
    this.#deps
      .request('unsubscribe', { sub_id: conversation })
      .catch((error: unknown) => this.#deps.warn(describeError(error)));
  }

  async #subscribe(fields: RequestFields<'subscribe'>): Promise<Result<number>> {
    try {
      const { seq } = (await this.#deps.request('subscribe', fields)) as HostMessageOf<'subscribed'>;
      return succeeded(typeof seq === 'number' ? seq : 0);
    } catch (error) {
      return failed('plugin', describeError(error));
    }
  }

  #end(turn: string): PromiseWithResolvers<TurnEnd> {
    const known = this.#ends.get(turn) ?? Promise.withResolvers<TurnEnd>();
    this.#ends.set(turn, known);
    const [oldest] = this.#ends.keys();
    if (this.#ends.size > REMEMBERED && oldest !== undefined) this.#ends.delete(oldest);
    return known;
  }

  #queryComplete(data: WindowEvent['data']): void {
    const end = queryCompleteSchema.safeParse(data);
    if (!end.success) return this.#deps.warn('The window of VS Code sent an end of a turn that cannot be read.');
    const { turn, type: _, ...rest } = end.data;
    this.#end(turn).resolve(rest);
  }
}

/**
 * The open requests of a window, as a program that is connected to it gets them with its subscriptions (WIRE A).
 */
class WindowRequests extends RequestList {
  /** Call with each event of the subscriptions. Events that are not about requests are ignored. */
  receive({ conversation, respond, data }: WindowEvent): void {
    if (data.type === 'resolved') {
      const { tool_call_id: call, inquiry_id: question } = data;
      if (call === undefined) this.remove({ type: 'question', id: textOf(question) });
      else this.remove({ type: 'approval', conversation, id: textOf(call) }, readAnswer(data));
    } else if (respond !== undefined) {
      this.put(respond === 'inquiry' ? readQuestion(conversation, data) : readApproval(conversation, data));
    }
  }

  /** Call when a subscription has ended, with its conversation unless it was for all: what is open comes again. */
  clear(conversation?: string): void {
    for (const open of this.all) {
      if (conversation === undefined || open.conversation === conversation) this.remove(open);
    }
  }
}

function readAnswer({ action, by }: WindowEvent['data']): ApprovalAnswer | undefined {
  if (action !== 'approve' && action !== 'reject' && action !== 'modify') return undefined;
  return { action, by: textOf(by) };
}

function readApproval(conversation: string, data: WindowEvent['data']): OpenRequest {
  const id = textOf(data['id']);
  const args = (data['arguments'] ?? {}) as Readonly<Record<string, unknown>>;
  const { revision = 0, ...details } = readApprovalDetails(data);
  const request = { conversation, call: { id, name: textOf(data['name']), arguments: args }, ...details };
  return { type: 'approval', conversation, id, revision, request };
}

function readQuestion(conversation: string, data: WindowEvent['data']): OpenRequest {
  const id = textOf(data['id']);
  const { options, fields, several, problem, tool_call_id: call } = data;
  const request: InquiryRequest = {
    ...{ conversation, id, text: textOf(data['question']), several: several === true },
    ...(Array.isArray(options) && { options: options as readonly string[] }),
    ...(Array.isArray(fields) && { fields: fields as readonly FormField[] }),
    ...(typeof problem === 'string' && { problem }),
    ...(typeof call === 'string' && { call }),
  };
  return { type: 'question', conversation, id, revision: 0, request };
}

// One agent on a hub: reconnects after a loss, keeps its session, and receives each of its messages once.
import { BackOff, ignore } from '../../base/async.ts';
import { type Clock } from '../../base/clock.ts';
import { type Disposable } from '../../base/disposable.ts';
import { Emitter, type Event } from '../../base/emitter.ts';
import { JsonRpcError } from '../../base/json/jsonRpc.ts';
import { type FileSystem } from '../../node/files/fileSystem.ts';
import { type Pair } from '../../protocol/hub.ts';
import {
  type HubCall,
  type HubMessage,
  type HubMethod,
  type HubParams,
  type HubResult,
  type MatchType,
  type MessagePush,
  messagePush,
} from '../../protocol/hubMethods.ts';
import { parseCursor, printCursor } from '../index/messageRows.ts';
import { describePush, Subscriptions } from '../subscriptions.ts';
import { connectToHub, type HubConnection, readAddress } from './hubConnection.ts';

const RETRY_FIRST = 200;
const RETRY_LONGEST = 10_000;
const PAGE = 100;
/** How many subscriptions are sent before their answers are awaited. */
const SENT_AT_ONCE = 100;
/** Stands for the agent in its own matcher. */
const OWN = '\0own';

export interface HubCriteria {
  readonly scope?: Pair;
  readonly mentionRole?: string;
}

export interface HubAgentDeps {
  readonly files: FileSystem;
  /** The hub's folder. */
  readonly folder: string;
  readonly clock: Clock;
  readonly agent: { readonly role: string; readonly module: string; readonly display: string };
  /** Its name, or a function that registers an agent and returns its name. The function is called until it succeeds. */
  readonly name: string | ((call: HubCall) => Promise<string>);
  /** The cursor of the last message before a restart; absent: only new messages are received. */
  readonly cursor?: string | undefined;
  report(message: string, error?: unknown): void;
  /** Called when no process serves the hub. */
  onAbsent?(): void;
  /** Called when it has got its name from the hub. Subscriptions wait for it; if it rejects, it is called again. */
  onNamed?(name: string, cursor: string): Promise<void>;
}

export class HubAgent implements Disposable {
  readonly #deps: HubAgentDeps;
  readonly #onMessage: Emitter<MessagePush>;
  readonly #onState: Emitter<boolean>;
  readonly #criteria = new Map<string, HubCriteria>();
  readonly #matcher = new Subscriptions();
  #display: string;
  #name: string | undefined;
  /** `onNamed` has resolved, or there is nothing to announce. */
  #isAnnounced = false;
  /** Whether it has a subscription to mentions; then mentions of its name match as well. */
  #isMentionable = false;
  #connection: HubConnection | undefined;
  #session: string | undefined;
  #cursor: string | undefined;
  /** Pushes that arrive before the missed messages have been read. */
  #early: MessagePush[] | undefined;
  #waiting: (() => void)[] = [];
  #retry: Disposable | undefined;
  readonly #delay = new BackOff(RETRY_FIRST, RETRY_LONGEST);
  /** The last refusal that was reported. */
  #refusal = '';
  #disposed = false;

  constructor(deps: HubAgentDeps) {
    this.#deps = deps;
    this.#cursor = deps.cursor;
    this.#display = deps.agent.display;
    const report = (error: unknown) => deps.report('a listener failed', error);
    this.#onMessage = new Emitter(report);
    this.#onState = new Emitter(report);
    if (typeof deps.name === 'string') {
      this.#name = deps.name;
      this.#isAnnounced = true;
    }
    this.#matcher.setRole(OWN, deps.agent.role);
    this.#connect();
  }

  /** Undefined until it has got a name. */
  get name(): string | undefined {
    return this.#name;
  }

  /** The mentions that reach it: its name and its role. */
  get mentionedAs(): readonly string[] {
    return [this.#name ?? '', this.#deps.agent.role].filter((name) => name !== '');
  }

  get onMessage(): Event<MessagePush> {
    return this.#onMessage.event;
  }

  /** Fires when the connection is made or lost. */
  get onState(): Event<boolean> {
    return this.#onState.event;
  }

  get isConnected(): boolean {
    return this.#connection !== undefined;
  }

  /** Resolves once connected, or when disposed. */
  async connected(): Promise<void> {
    while (this.#connection === undefined && !this.#disposed) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  /** Resolves once the present connection has ended, or at once if there is none. */
  async disconnected(): Promise<void> {
    await this.#connection?.closed;
  }

  get isDisposed(): boolean {
    return this.#disposed;
  }

  /** Rejects at once while there is no connection. */
  async call<M extends HubMethod>(method: M, params: HubParams<M>): Promise<HubResult<M>> {
    if (this.#connection === undefined) throw new Error('the hub cannot be reached now');
    return this.#connection.call(method, params);
  }

  /** Subscriptions survive reconnects. */
  subscribe(criteria: HubCriteria): void {
    const key = JSON.stringify(criteria);
    if (this.#criteria.has(key)) return;
    this.#criteria.set(key, criteria);
    this.#isMentionable ||= criteria.mentionRole !== undefined;
    this.#matcher.add({ id: this.#matcher.nextId, session: OWN, agent: OWN, createdAt: '', ...criteria });
    if (this.#connection !== undefined) this.#background(this.#send(this.#connection, criteria), 'subscribing failed');
  }

  setDisplay(display: string): void {
    if (display === this.#display) return;
    this.#display = display;
    if (this.#connection === undefined || this.#name === undefined) return;
    this.#background(this.#register(this.#connection, this.#name), 'the title could not be shown');
  }

  /** `leave`: also unregisters the agent, which removes its name and its session. */
  async close(leave = false): Promise<void> {
    const connection = this.#connection;
    if (leave && connection !== undefined && this.#name !== undefined) {
      await connection.call('agent.unregister', { agent_id: this.#name }).catch(ignore);
    }
    this.dispose();
    await connection?.closed;
  }

  dispose(): void {
    this.#disposed = true;
    this.#retry?.dispose();
    this.#connection?.close();
    this.#connection = undefined;
    this.#wake();
    this.#onMessage.dispose();
    this.#onState.dispose();
  }

  #connect(): void {
    this.#background(
      this.#tryToConnect().catch((error: unknown) => {
        if (error instanceof JsonRpcError) this.#reportRefusal(error.message);
        else this.#deps.onAbsent?.();
        this.#again();
      }),
      'the hub could not be joined',
    );
  }

  /** Reports each reason once, since every retry may fail for the same reason. */
  #reportRefusal(reason: string): void {
    if (reason !== this.#refusal) this.#deps.report(`the hub refuses this agent: ${reason}`);
    this.#refusal = reason;
  }

  #again(): void {
    if (this.#disposed) return;
    this.#retry = this.#deps.clock.after(this.#delay.next(), () => this.#connect());
  }

  async #tryToConnect(): Promise<void> {
    const address = await readAddress(this.#deps.files, this.#deps.folder);
    if (address === undefined) throw new Error('there is no hub yet');
    this.#early = [];
    const connection = await connectToHub(
      address,
      (method, params) => this.#pushed(method, params),
      (error) => this.#deps.report('a push could not be read', error),
    );
    try {
      await this.#join(connection);
    } catch (error) {
      connection.close();
      throw error;
    }
    if (this.#disposed) {
      connection.close();
      return;
    }
    this.#connection = connection;
    this.#refusal = '';
    this.#delay.reset();
    this.#wake();
    this.#onState.fire(true);
    this.#background(
      connection.closed.then(() => {
        if (this.#connection !== connection) return;
        this.#connection = undefined;
        this.#onState.fire(false);
        this.#connect();
      }),
      'the connection could not be renewed',
    );
  }

  async #join(connection: HubConnection): Promise<void> {
    const attached = this.#session === undefined ? undefined : await this.#attach(connection, this.#session);
    const started = attached ?? (await this.#start(connection));
    this.#session = started.session_id;
    const criteria = [...this.#criteria.values()];
    for (let at = 0; at < criteria.length; at += SENT_AT_ONCE) {
      await Promise.all(criteria.slice(at, at + SENT_AT_ONCE).map((one) => this.#send(connection, one)));
    }
    if (this.#cursor === undefined) this.#cursor = started.cursor;
    // The hub's files were removed, so its numbers have started again.
    else if (position(this.#cursor) > position(started.cursor)) this.#cursor = printCursor(0);
    // Also reads messages that came between the start of the session and its subscriptions.
    await this.#catchUp(connection, this.#cursor);
    const early = this.#early ?? [];
    this.#early = undefined;
    for (const message of early) this.#take(message);
  }

  async #attach(connection: HubConnection, session: string): Promise<HubResult<'session.attach'> | undefined> {
    try {
      return await connection.call('session.attach', { session_id: session });
    } catch (error) {
      // The session has expired, or the hub lost it: a new one is started.
      if (error instanceof JsonRpcError) return undefined;
      throw error;
    }
  }

  async #start(connection: HubConnection): Promise<HubResult<'session.start'>> {
    const { name: given, onNamed } = this.#deps;
    const name = this.#name ?? (typeof given === 'string' ? given : await given(connection.call));
    this.#name = name;
    await this.#register(connection, name);
    const started = await connection.call('session.start', { agent_id: name });
    if (!this.#isAnnounced) await onNamed?.(name, this.#cursor ?? started.cursor);
    this.#isAnnounced = true;
    return started;
  }

  async #register(connection: HubConnection, name: string): Promise<void> {
    await connection.call('agent.register', { ...this.#deps.agent, name, display: this.#display.slice(0, 200) });
  }

  async #send(connection: HubConnection, { scope, mentionRole }: HubCriteria): Promise<void> {
    const params =
      scope !== undefined
        ? { scope }
        : mentionRole !== undefined
          ? { mention_role: mentionRole }
          : { all: true as const };
    await connection.call('subscribe', params).catch((error: unknown) => {
      if (!(error instanceof JsonRpcError) || error.message !== 'subscription already exists') throw error;
    });
  }

  async #catchUp(connection: HubConnection, from: string): Promise<void> {
    for (let after = from, more = true; more; ) {
      const page = await connection.call('message.list', { after, limit: PAGE });
      for (const message of page.messages) this.#missed(message);
      ({ after, more } = page);
      this.#cursor = after;
    }
  }

  /** How the message matches this agent's subscriptions; undefined: it does not. */
  match({ author, scopes, refs, deleted }: HubMessage): MatchType | undefined {
    if (author.agent_id === this.#name || deleted) return undefined;
    const named = refs.some(({ type, value }) => type === 'mention' && value === this.#name);
    const found = this.#matcher.match({ author: author.agent_id, scopes, refs }).get(OWN)?.type;
    return named && this.#isMentionable ? 'mention' : found;
  }

  #missed(message: HubMessage): void {
    const match = this.match(message);
    if (match === undefined) return;
    this.#take({ ...describePush(message, message.version > 1), matched_subscription: { match_type: match } });
  }

  #pushed(method: string, params: unknown): void {
    if (method !== 'notification.message') return;
    const message = messagePush.parse(params);
    if (this.#early === undefined) this.#take(message);
    else this.#early.push(message);
  }

  /** Ignores messages that were received already: arrival numbers only increase. */
  #take(message: MessagePush): void {
    if (position(message.cursor) <= (this.#cursor === undefined ? -1 : position(this.#cursor))) return;
    this.#cursor = message.cursor;
    this.#onMessage.fire(message);
  }

  #wake(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const wake of waiting) wake();
  }

  #background(work: Promise<unknown>, what: string): void {
    work.catch((error: unknown) => {
      if (!this.#disposed) this.#deps.report(what, error);
    });
  }
}

export function position(cursor: string): number {
  return parseCursor(cursor) ?? 0;
}

// One connection of an outside agent: handles its requests in order, and reports the number of pending notifications.
import { type Disposable, DisposableStore } from '../../base/disposable.ts';
import { describeError, describeFailure, type Result } from '../../base/errors.ts';
import { type Listener } from '../../core/listener.ts';
import { type ListenerIdentity, type Listeners } from '../../core/listeners.ts';
import { type NotificationRecord } from '../../core/ports/notificationRecord.ts';
import { type Clock, type Logger } from '../../core/ports/ports.ts';
import { type ListenerRequest, type ListenerRequestOf } from '../../protocol/outside/listener.ts';
import { type HostMessageOf } from '../../protocol/plugin.ts';
import { nameInScope, scopeOf } from '../../protocol/scopes.ts';
import { PluginConnection, type PluginTransport } from '../connection.ts';
import { listenerCodec } from '../jsonCodec.ts';
import { type PluginEnd } from '../peer.ts';
import { type Answer, doneIf, NOTHING, refuse, reply } from '../requests/answer.ts';

/** Debounces `pending_changed`: several notifications in a row cause one message. */
const ANNOUNCED_AFTER = 100;

/** Prints a page of notifications as the tool read_notifications does. */
export type ReadNotifications = (
  records: () => Promise<Result<readonly NotificationRecord[]>>,
  args: Readonly<Record<string, unknown>>,
) => Promise<Result<string>>;

export interface ListenerPeerDeps {
  readonly identity: ListenerIdentity;
  readonly listeners: Listeners;
  readonly transport: PluginTransport;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly init: HostMessageOf<'init'>;
  readonly read: ReadNotifications;
  /** Called once when the connection has ended. Nothing more is read from it. */
  ended(end: PluginEnd): void;
}

interface Bound {
  readonly listener: Listener;
  readonly held: Disposable;
}

export class ListenerPeer implements Disposable {
  readonly #deps: ListenerPeerDeps;
  readonly #connection: PluginConnection<ListenerRequest>;
  readonly #held = new DisposableStore();
  /** Listeners from which this connection has taken notifications. */
  readonly #taken = new Set<Listener>();
  /** The listener of the last `pending` request. */
  #offering: Listener | undefined;
  #bound: Bound | undefined;
  #previous: Promise<void> = Promise.resolve();
  #announcing: Disposable | undefined;
  #announced: number | undefined;
  #ended = false;

  constructor(deps: ListenerPeerDeps) {
    this.#deps = deps;
    this.#connection = new PluginConnection<ListenerRequest>({
      transport: deps.transport,
      codec: listenerCodec,
      handle: (request) => {
        this.#begin(() => this.#handle(request));
        return this.#previous;
      },
      broke: (failure) => {
        this.#connection.send({ type: 'error', request: '', message: failure });
        this.#end({ failure });
      },
    });
    // Before any request, so that notifications are queued for it from the start.
    this.#begin(async () => {
      await this.#rebind();
      if (!this.#ended) this.#connection.send(deps.init);
    });
    this.#held.add(deps.listeners.onDidJoin(() => this.#begin(() => this.#rebind())));
  }

  receive(chunk: Uint8Array): void {
    if (!this.#ended) this.#connection.receive(chunk);
  }

  /** The agent sends nothing more. Its earlier requests are still handled. */
  closed(): void {
    this.#connection.finishRequests();
    this.#begin(async () => this.#end({}));
  }

  shutDown(): void {
    this.#connection.send({ type: 'shutdown' });
  }

  flushed(): Promise<void> {
    return this.#connection.outbox.flushed();
  }

  get waiting(): number {
    return this.#connection.outbox.bytes;
  }

  dispose(): void {
    this.#ended = true;
    // Before the release, which fires an event that this connection must not announce any more.
    this.#bound?.held.dispose();
    this.#held.dispose();
    this.#announcing?.dispose();
    for (const listener of this.#taken) listener.release(this);
    this.#connection.close();
  }

  /** Runs an action after all earlier ones. */
  #begin(action: () => Promise<void>): void {
    const report = (error: unknown) => this.#deps.logger.error('a request of an outside agent failed', error);
    this.#previous = this.#previous
      .then(() => this.#connection.readyForRequest())
      .then(() => (this.#ended ? undefined : action()))
      .catch(report);
  }

  async #handle(request: ListenerRequest): Promise<void> {
    const { type } = request;
    const id = request.id === undefined ? {} : { id: request.id };
    const fail = (message: string) => this.#connection.send({ type: 'error', ...id, request: type, message });
    try {
      const answer = await this.#answer(request);
      if (!answer.ok) fail(describeFailure(answer.failure));
      else if (answer.value !== undefined) this.#connection.send({ ...answer.value.message, ...id });
    } catch (error) {
      this.#deps.logger.error('a request of an outside agent failed unexpectedly', error);
      fail(`Earshot failed: ${describeError(error)}`);
    }
  }

  async #answer(request: ListenerRequest): Promise<Answer> {
    switch (request.type) {
      case 'ready':
        return NOTHING;
      case 'exit':
        this.#end({ code: 0 });
        return NOTHING;
      default:
    }
    const found = await this.#find();
    if (!found.ok) return found;
    const listener = found.value;
    switch (request.type) {
      case 'watch':
        return this.#watch(listener, request);
      case 'seen':
        return doneIf(await see(listener, request));
      case 'pending': {
        this.#taken.add(listener);
        this.#offering = listener;
        const offer = await listener.take(this);
        return offer.ok ? reply({ type: 'pending', ...offer.value }) : offer;
      }
      case 'delivered':
        return doneIf(await (this.#offering ?? listener).accept(this, request.through));
      case 'read': {
        const text = await this.#deps.read(() => this.#deps.listeners.records(listener), request.arguments);
        return text.ok ? reply({ type: 'notifications', text: text.value }) : text;
      }
    }
  }

  async #watch(listener: Listener, { scopes, remove }: ListenerRequestOf<'watch'>): Promise<Answer> {
    const other = [...scopes, ...remove].find((scope) => nameInScope('glob', scope) === undefined);
    if (other !== undefined) return refuse(`scopes: “${other.slice(0, 100)}” is not of the form glob:src/*.ts.`);
    const globs = (list: readonly string[]) => list.flatMap((scope) => nameInScope('glob', scope) ?? []);
    const watched = await listener.watch({ add: globs(scopes), remove: globs(remove) });
    if (!watched.ok) return watched;
    return reply({ type: 'watching', scopes: [...watched.value].map((glob) => scopeOf('glob', glob)) });
  }

  async #rebind(): Promise<void> {
    const found = await this.#find();
    if (!found.ok) {
      this.#connection.send({ type: 'error', request: 'attach', message: describeFailure(found.failure) });
      this.#end({ failure: describeFailure(found.failure) });
    }
  }

  async #find(): Promise<Result<Listener>> {
    const { listeners, identity } = this.#deps;
    const found = await listeners.find(identity);
    if (!found.ok || found.value === this.#bound?.listener || this.#ended) return found;
    this.#bound?.held.dispose();
    const listener = found.value;
    const held = new DisposableStore();
    held.add(listeners.use(listener));
    held.add(listener.onDidChange(() => this.#announce(listener)));
    this.#bound = { listener, held };
    this.#announce(listener);
    return found;
  }

  #announce(listener: Listener): void {
    this.#announcing ??= this.#deps.clock.after(ANNOUNCED_AFTER, () => {
      this.#announcing = undefined;
      const { count } = this.#bound?.listener ?? listener;
      if (count === this.#announced || this.#ended) return;
      this.#announced = count;
      this.#connection.send({ type: 'pending_changed', count });
    });
  }

  #end(end: PluginEnd): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#deps.ended(end);
  }
}

function see(listener: Listener, request: ListenerRequestOf<'seen'>): Promise<Result<void>> {
  const { path, hash, part, edited, before, after } = request;
  const shown = part && { ranges: [[part.first, part.last] satisfies [number, number]], of: part.of };
  const edit = { ...(before !== undefined && { before }), ...(after !== undefined && { after }) };
  return listener.see(path, { hash, ...(shown && { part: shown }) }, edited ? edit : undefined);
}

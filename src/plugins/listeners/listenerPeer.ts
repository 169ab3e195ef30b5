// One connection of an outside agent: handles its requests in order, and reports the number of pending notifications.
import { Sequence } from '../../base/async.ts';
import { type Disposable, DisposableStore } from '../../base/disposable.ts';
import { describeFailure, type Result } from '../../base/errors.ts';
import { defined } from '../../base/json/defined.ts';
import { type Listener } from '../../core/listener.ts';
import { type ListenerIdentity, type Listeners } from '../../core/listeners.ts';
import { type NotificationRecord } from '../../core/ports/notificationRecord.ts';
import { type Clock, type Logger } from '../../core/ports/ports.ts';
import { type CalledTool, type ListenerRequest, type ListenerRequestOf } from '../../protocol/outside/listener.ts';
import { type HostMessageOf } from '../../protocol/plugin.ts';
import { nameInScope, scopeOf } from '../../protocol/scopes.ts';
import { type Answer, answerRequest, doneIf, NOTHING, refuse, reply } from '../answer.ts';
import { PluginConnection, type PluginTransport } from '../connection.ts';
import { listenerCodec } from '../jsonCodec.ts';
import { type PluginEnd } from '../peer.ts';

/** Debounces `pending_changed`: several notifications in a row cause one message. */
const ANNOUNCED_AFTER = 100;

/** Prints a page of notifications as the tool read_notifications does. */
type ReadNotifications = (
  records: () => Promise<Result<readonly NotificationRecord[]>>,
  args: Readonly<Record<string, unknown>>,
) => Promise<Result<string>>;

/** Calls a tool for an outside agent. Resolves to the text of its result. */
type CallTool = (
  listener: Listener,
  tool: CalledTool,
  args: Readonly<Record<string, unknown>>,
) => Promise<Result<string>>;

/** The tools of conversations that outside agents have. */
export interface ListenerTools {
  readonly read: ReadNotifications;
  readonly call: CallTool;
}

export interface ListenerPeerDeps extends ListenerTools {
  readonly identity: ListenerIdentity;
  readonly listeners: Listeners;
  readonly transport: PluginTransport;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly init: HostMessageOf<'init'>;
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
  #waiting = new DisposableStore();
  readonly #actions = new Sequence();
  #announcing: Disposable | undefined;
  #announced: number | undefined;
  #ended = false;

  constructor(deps: ListenerPeerDeps) {
    this.#deps = deps;
    this.#connection = new PluginConnection<ListenerRequest>({
      transport: deps.transport,
      codec: listenerCodec,
      handle: (request) => {
        const report = (error: unknown) =>
          deps.logger.error('a request of an outside agent failed unexpectedly', error);
        return this.#inTurn(() => answerRequest(this.#connection, request, () => this.#answer(request), report));
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
    this.#waiting.dispose();
    // Before the release, which fires an event that this connection must not announce any more.
    this.#bound?.held.dispose();
    this.#held.dispose();
    this.#announcing?.dispose();
    for (const listener of this.#taken) listener.release(this);
    this.#connection.close();
  }

  /** Runs an action after all earlier ones. */
  async #inTurn(action: () => Promise<void>): Promise<void> {
    await this.#actions.run(async () => {
      await this.#connection.readyForRequest();
      if (!this.#ended) await action();
    });
  }

  #begin(action: () => Promise<void>): void {
    const report = (error: unknown) => this.#deps.logger.error('a request of an outside agent failed', error);
    void this.#inTurn(action).catch(report);
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
      case 'git_ran':
        return doneIf(await listener.ranGit());
      case 'wait':
        this.#wait(listener, request);
        return NOTHING;
      case 'pending': {
        if (request.prompted) listener.waking.userWrote();
        this.#taken.add(listener);
        this.#offering = listener;
        const offer = await listener.take(this);
        return offer.ok ? reply({ type: 'pending', ...offer.value }) : offer;
      }
      case 'delivered':
        return doneIf(await (this.#offering ?? listener).accept(this, request.through));
      case 'call': {
        const text = await this.#deps.call(listener, request.tool, request.arguments);
        return text.ok ? reply({ type: 'called', text: text.value }) : text;
      }
      case 'read': {
        const text = await this.#deps.read(() => this.#deps.listeners.records(listener), request.arguments);
        return text.ok ? reply({ type: 'notifications', text: text.value }) : text;
      }
    }
  }

  /** Replies later, so that the connection's other requests do not wait for it. */
  #wait(listener: Listener, { id, seconds }: ListenerRequestOf<'wait'>): void {
    this.#waiting.dispose();
    this.#waiting = new DisposableStore();
    const waiting = this.#waiting;
    this.#taken.add(listener);
    const end = (woken: boolean, replaced: boolean) => {
      waiting.dispose();
      this.#connection.send({ type: 'waited', woken, replaced, ...defined({ id }) });
    };
    const state = { answered: false };
    waiting.add(
      listener.wait(this, (woken) => {
        state.answered = true;
        end(woken, !woken);
      }),
    );
    if (state.answered) return;
    if (seconds === 0) end(false, false);
    else waiting.add(this.#deps.clock.after(seconds * 1000, () => end(false, false)));
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
  const edit = defined({ before, after });
  return listener.see(path, { hash, ...defined({ part: shown }) }, edited ? edit : undefined);
}

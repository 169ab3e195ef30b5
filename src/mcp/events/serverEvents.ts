// The events of all servers of a window: subscribes to them, follows subscriptions, and offers the tool for them while a
// connected server has some.
import { type Clock } from '../../base/clock.ts';
import { type Disposable } from '../../base/disposable.ts';
import { Emitter, type Event } from '../../base/emitter.ts';
import { failed, type Result, succeeded } from '../../base/errors.ts';
import {
  type EventSink,
  type EventSubscription,
  type McpEventSource,
  type WantedEvents,
} from '../../core/ports/mcp.ts';
import { type EventMode } from '../../protocol/lines/eventSubscriptions.ts';
import { CHANNEL_EVENT, EVENT_ERRORS, type McpEventType } from '../../protocol/outside/mcpEvents.ts';
import { type McpServer } from '../server.ts';
import { noServer } from '../serverTexts.ts';
import { type RegisterTools } from '../serverTools.ts';
import { EventFailure, type McpEvents, type McpSession } from '../session/sessionPort.ts';
import { EventFollower } from './eventFollower.ts';
import { createSubscribeEvents } from './subscribeEvents.ts';

/** Subscriptions that a window follows at a time. */
const MOST_FOLLOWED = 20;
/** How long a server may take to agree to a subscription. */
const AGREED_WITHIN = 20_000;

export interface ServerEventsDeps {
  readonly clock: Clock;
  readonly register: RegisterTools;
  servers(): readonly McpServer[];
  /** Fires when servers were added, removed or connected. */
  readonly onDidChange: Event<void>;
  report(error: unknown): void;
}

interface Listed {
  readonly events: McpEvents;
  readonly types: Promise<readonly McpEventType[]>;
}

export class ServerEvents implements McpEventSource, Disposable {
  readonly #deps: ServerEventsDeps;
  readonly #lists = new Map<string, Listed>();
  readonly #onDidConnect: Emitter<void>;
  #followed = 0;
  #tool: Disposable | undefined;

  constructor(deps: ServerEventsDeps) {
    this.#deps = deps;
    this.#onDidConnect = new Emitter((error) => deps.report(error));
  }

  get onDidConnect(): Emitter<void>['event'] {
    return this.#onDidConnect.event;
  }

  /** Call it when a server has connected, or announced other events. */
  changed(name: string): void {
    this.#lists.delete(name);
    const hasEvents = this.#deps.servers().some(({ session }) => session !== undefined && offersEvents(session));
    // Stays registered from then on, since conversations may have subscriptions to end.
    if (hasEvents) this.#tool ??= this.#deps.register([createSubscribeEvents(this)]);
    this.#onDidConnect.fire();
  }

  find(name: string): McpServer | undefined {
    return this.#deps.servers().find((server) => server.name === name);
  }

  /** Names of connected servers that have events. */
  get names(): readonly string[] {
    return this.#deps.servers().flatMap(({ name, session }) => (session && offersEvents(session) ? [name] : []));
  }

  get isFull(): boolean {
    return this.#followed >= MOST_FOLLOWED;
  }

  /** Rejects with an `EventFailure`. */
  async list(name: string): Promise<readonly McpEventType[]> {
    const session = this.find(name)?.session;
    if (session === undefined) throw new EventFailure('lost', 'it is not connected');
    const own = session.events === undefined ? [] : await this.#typesOf(name, session.events);
    const channel = {
      name: CHANNEL_EVENT,
      description: 'What it sends without being asked.',
      delivery: [CHANNEL_EVENT],
    };
    return session.hasChannel ? [...own, channel] : own;
  }

  async open({
    server,
    event,
    arguments: args,
  }: Pick<WantedEvents, 'server' | 'event' | 'arguments'>): Promise<Result<WantedEvents>> {
    const found = this.find(server);
    const session = found?.session;
    if (found === undefined || session === undefined) return failed('no_server', noServer(server, this.names));
    const { identity } = found.configured;
    const wanted = (mode: EventMode, cursor: string | null) =>
      succeeded<WantedEvents>({
        server,
        identity,
        event,
        mode,
        cursor,
        ...(args !== undefined && { arguments: args }),
      });
    try {
      const types = await this.list(server);
      const type = types.find(({ name }) => name === event);
      if (type === undefined) return failed('not_found', noEvent(event, server, types));
      const mode = modeOf(type, session, found);
      if (mode === undefined) return failed('no_events', noMode(type));
      if (mode === 'channel' || session.events === undefined) return wanted('channel', null);
      return wanted(mode, await this.#agree(session.events, mode, event, args));
    } catch (error) {
      if (!(error instanceof EventFailure)) throw error;
      if (error.kind === 'sign_in') found.wantSignIn(session, error.message);
      const code = error.kind === 'sign_in' ? 'sign_in' : 'server_error';
      return failed(code, `The MCP server “${server}” did not accept it: ${error.message}.`, nextStep(error));
    }
  }

  follow(subscription: EventSubscription, sink: EventSink): Disposable {
    const { clock, onDidChange, report } = this.#deps;
    const { server, event } = subscription;
    this.#followed += 1;
    const follower = new EventFollower(
      {
        clock,
        onDidChange,
        report,
        server: () => this.find(server),
        isListed: async (events) => (await events.list()).some(({ name }) => name === event),
      },
      subscription,
      sink,
    );
    return {
      dispose: () => {
        this.#followed -= 1;
        follower.dispose();
      },
    };
  }

  dispose(): void {
    this.#tool?.dispose();
    this.#onDidConnect.dispose();
    this.#lists.clear();
  }

  #typesOf(name: string, events: McpEvents): Promise<readonly McpEventType[]> {
    const known = this.#lists.get(name);
    if (known?.events === events) return known.types;
    const types = events.list();
    this.#lists.set(name, { events, types });
    types.catch(() => this.#lists.delete(name));
    return types;
  }

  /** The position from which the subscription reads on: from now. The server's refusal is the answer to the call. */
  async #agree(
    events: McpEvents,
    mode: EventMode,
    name: string,
    args: WantedEvents['arguments'],
  ): Promise<string | null> {
    const request = { name, cursor: null, ...(args !== undefined && { arguments: args }) };
    const late = AbortSignal.timeout(AGREED_WITHIN);
    if (mode === 'poll') return (await events.poll({ ...request, maxEvents: 1 }, late)).cursor;
    const begun = new AbortController();
    const first: { cursor?: string | null } = {};
    try {
      await events.stream(
        request,
        (frame) => {
          if (frame.type !== 'position') return;
          first.cursor ??= frame.cursor;
          begun.abort();
        },
        AbortSignal.any([late, begun.signal]),
      );
    } catch (error) {
      if (!begun.signal.aborted) throw late.aborted ? new EventFailure('lost', 'it did not answer in time') : error;
    }
    return first.cursor ?? null;
  }
}

function offersEvents({ events, hasChannel }: McpSession): boolean {
  return events !== undefined || hasChannel;
}

/** Streams over the older HTTP transports would keep a connection for each. */
function modeOf({ delivery }: McpEventType, session: McpSession, { configured }: McpServer): EventMode | undefined {
  if (delivery.includes(CHANNEL_EVENT)) return 'channel';
  const mayStream = session.era === 'modern' || !('url' in configured.config);
  if (delivery.includes('push') && mayStream) return 'push';
  return delivery.includes('poll') ? 'poll' : undefined;
}

function noEvent(event: string, server: string, types: readonly McpEventType[]): string {
  const names = types.slice(0, 30).map(({ name }) => name);
  return `event: the MCP server “${server}” has no event “${event}”. It has: ${names.join(', ') || 'none'}.`;
}

function noMode({ name, delivery }: McpEventType): string {
  return delivery.includes('webhook')
    ? `event: “${name}” is delivered only to a public address on the web (webhook), which Earshot has not. A bridge such as @hookdeck/mcp-events-bridge, as an MCP server between, makes it available by poll.`
    : `event: “${name}” is delivered only by ${delivery.join(', ')}, which Earshot does not know.`;
}

function nextStep({ kind, code }: EventFailure): string {
  if (kind === 'sign_in') return 'The user has to sign in to the server first.';
  if (code === EVENT_ERRORS.exhausted) return 'End another subscription, or try again later.';
  if (code === EVENT_ERRORS.badParams)
    return 'Correct arguments: without an event, the call lists what each one takes.';
  if (code === EVENT_ERRORS.forbidden) return 'The user has no right to it; ask them.';
  return 'Read the state with a tool of the server instead, or try again later.';
}

// The hub's methods: their handlers, and the check of their parameters.
import type * as z from 'zod';
import { type BatchAnswers, INVALID_PARAMS, JsonRpcError, METHOD_NOT_FOUND } from '../base/json/jsonRpc.ts';
import { HUB_METHODS, type HubMethod, type HubParams, type HubResult } from '../protocol/hubMethods.ts';
import { type Connection } from './connection.ts';
import { type Caller, type HubContext, now } from './hubContext.ts';
import * as identity from './identity.ts';
import { type Messaging } from './messaging.ts';
import * as subscribing from './subscribing.ts';
import * as threads from './threads.ts';

interface Request {
  readonly context: HubContext;
  readonly messaging: Messaging;
  readonly connection: Connection;
}

type Handler<Params, Result> = (request: Request, params: Params) => Result | Promise<Result>;

/** For methods that act as the caller's session. */
function asCaller<Params, Result>(
  run: (request: Request, caller: Caller, params: Params) => Result | Promise<Result>,
): Handler<Params, Result> {
  return async (request, params) => {
    return run(request, await identity.callerOf(request.context, request.connection), params);
  };
}

const HANDLERS: { readonly [M in HubMethod]: Handler<HubParams<M>, HubResult<M>> } = {
  'agent.register': ({ context, connection }, params) => identity.registerAgent(context, connection, params),
  'agent.unregister': ({ context, connection }, params) => identity.unregisterAgent(context, connection, params),
  'agent.list': ({ context }) => listAgents(context),
  'agent.whoami': asCaller(({ context }, { agent, session }) => {
    const knownAs = context.link()?.knownAs(agent.name);
    return {
      agent_id: agent.name,
      role: agent.role,
      module: agent.module,
      display: agent.display,
      session_id: session.id,
      ...(knownAs !== undefined && knownAs !== agent.name && { known_as: knownAs }),
    };
  }),
  'session.start': ({ context, connection }, params) => identity.startSession(context, connection, params),
  'session.attach': ({ context, connection }, params) => identity.attachSession(context, connection, params),
  'session.end': ({ context, connection }, params) => identity.endSession(context, connection, params),
  'session.list': ({ context, connection }) => listSessions(context, connection),
  'session.heartbeat': asCaller(({ context }) => ({ last_seen_at: now(context) })),
  'message.send': asCaller(({ messaging }, caller, params) => messaging.send(caller, params)),
  'message.get': asCaller(({ messaging }, caller, params) => messaging.get(caller, params)),
  'message.list': asCaller(({ messaging }, caller, params) => messaging.list(caller, params)),
  'message.edit': asCaller(({ messaging }, caller, params) => messaging.edit(caller, params)),
  'message.delete': asCaller(({ messaging }, caller, params) => messaging.delete(caller, params)),
  'message.markRead': asCaller(({ messaging }, caller, params) => messaging.markRead(caller, params)),
  'thread.create': asCaller(({ context }, caller, params) => threads.createThread(context, caller, params)),
  'thread.list': asCaller(({ context }, caller, params) => threads.listThreads(context, caller, params)),
  'thread.get': asCaller(({ context }, caller, params) => threads.getThread(context, caller, params)),
  subscribe: asCaller(({ context }, caller, params) => subscribing.subscribe(context, caller, params)),
  unsubscribe: asCaller(({ context }, caller, params) => subscribing.unsubscribe(context, caller, params)),
  'subscriptions.list': asCaller(({ context }, caller) => subscribing.listSubscriptions(context, caller)),
  health: ({ context, connection }, { watch }) => {
    if (watch !== undefined) context.healthWatchers.set(connection, watch);
    return health(context);
  },
};

/** Throws `JsonRpcError` if the request is not valid. */
export type CallMethod = (connection: Connection, method: string, params: unknown, batch?: BatchAnswers) => unknown;

export function createMethods(context: HubContext, messaging: Messaging): CallMethod {
  return (connection, name, params, batch) => {
    if (!isMethod(name)) throw new JsonRpcError(METHOD_NOT_FOUND, `there is no method ${name.slice(0, 100)}`);
    const { params: schema, reads }: { params: z.ZodType; reads?: true } = HUB_METHODS[name];
    // Its own schema has checked the parameters.
    const run = HANDLERS[name] as Handler<unknown, unknown>;
    const request = { context, messaging, connection };
    return connection.run(() => run(request, parseParams(schema, params)), reads === true, batch);
  };
}

function isMethod(name: string): name is HubMethod {
  return Object.hasOwn(HUB_METHODS, name);
}

function parseParams(schema: z.ZodType, params: unknown): unknown {
  const parsed = schema.safeParse(params ?? {});
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const field = issue === undefined || issue.path.length === 0 ? 'params' : issue.path.map(String).join('.');
  throw new JsonRpcError(INVALID_PARAMS, `${field}: ${issue?.message ?? 'not valid'}`);
}

/** Unread messages of an agent are counted up to this number. */
const MOST_UNREAD = 1000;

async function listAgents({ directory, pushes, link, index }: HubContext): Promise<HubResult<'agent.list'>> {
  const agents = [...directory.agents.values()];
  const unread = await index.use((found) => agents.map(({ name }) => found.unreadMentions(name, MOST_UNREAD)));
  const own = agents.map(({ name, role, module, display, lastSeen }, at) => ({
    agent_id: name,
    role,
    module,
    display,
    live: directory.sessionsOf(name).some(({ id }) => pushes.isLive(id)),
    last_seen_at: new Date(lastSeen).toISOString(),
    unread: unread[at] ?? 0,
  }));
  return { agents: [...own, ...(link()?.agents() ?? [])] };
}

/** A session id is the secret of its agent, so only the caller's own is shown. */
function listSessions({ directory, pushes }: HubContext, connection: Connection): HubResult<'session.list'> {
  const sessions = [...directory.sessions.values()].map(({ id, agent, startedAt, lastSeen }) => ({
    ...(id === connection.session && { session_id: id }),
    agent_id: agent,
    started_at: startedAt,
    live: pushes.isLive(id),
    last_seen_at: new Date(lastSeen).toISOString(),
  }));
  return { sessions };
}

async function health(context: HubContext): Promise<HubResult<'health'>> {
  const { directory, version, startedAt, clock, index } = context;
  const messages = await index.use((found) => found.count);
  return {
    status: 'ok',
    version,
    uptime_ms: clock.now() - startedAt,
    agents: directory.agents.size,
    sessions: directory.sessions.size,
    messages,
    ...context.link()?.health(),
  };
}

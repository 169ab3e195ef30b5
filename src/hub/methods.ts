// The hub's methods: their parameters and their handlers.
import type * as z from 'zod';
import { type BatchAnswers, INVALID_PARAMS, JsonRpcError, METHOD_NOT_FOUND } from '../base/json/jsonRpc.ts';
import * as wire from '../protocol/hub.ts';
import { type Connection } from './connection.ts';
import { type HubContext, now } from './hubContext.ts';
import * as identity from './identity.ts';
import { type Messaging } from './messaging.ts';
import * as subscribing from './subscribing.ts';
import * as threads from './threads.ts';

export interface MethodDeps {
  readonly context: HubContext;
  readonly messaging: Messaging;
}

type Run = (deps: MethodDeps, connection: Connection, params: unknown) => unknown;

function method<T>(schema: z.ZodType<T>, run: (deps: MethodDeps, connection: Connection, params: T) => unknown): Run {
  return (deps, connection, params) => run(deps, connection, parseParams(schema, params));
}

/** For methods that act as the caller's session. */
function asCaller<T>(
  schema: z.ZodType<T>,
  run: (deps: MethodDeps, caller: Awaited<ReturnType<typeof identity.callerOf>>, params: T) => unknown,
): Run {
  return async (deps, connection, params) => {
    const parsed = parseParams(schema, params);
    return run(deps, await identity.callerOf(deps.context, connection), parsed);
  };
}

const METHODS: ReadonlyMap<string, Run> = new Map(
  Object.entries({
    'agent.register': method(wire.registerParams, ({ context }, connection, params) =>
      identity.registerAgent(context, connection, params),
    ),
    'agent.unregister': method(wire.agentParams, ({ context }, connection, params) =>
      identity.unregisterAgent(context, connection, params),
    ),
    'agent.list': method(wire.noParams, ({ context }) => listAgents(context)),
    'agent.whoami': asCaller(wire.noParams, ({ context }, { agent, session }) => {
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
    'session.start': method(wire.agentParams, ({ context }, connection, params) =>
      identity.startSession(context, connection, params),
    ),
    'session.attach': method(wire.sessionParams, ({ context }, connection, params) =>
      identity.attachSession(context, connection, params),
    ),
    'session.end': method(wire.optionalSessionParams, ({ context }, connection, params) =>
      identity.endSession(context, connection, params),
    ),
    'session.list': method(wire.noParams, ({ context }, connection) => listSessions(context, connection)),
    'session.heartbeat': asCaller(wire.noParams, ({ context }) => ({ last_seen_at: now(context) })),
    'message.send': asCaller(wire.sendParams, ({ messaging }, caller, params) => messaging.send(caller, params)),
    'message.get': asCaller(wire.messageParams, ({ messaging }, caller, params) => messaging.get(caller, params)),
    'message.list': asCaller(wire.listMessagesParams, ({ messaging }, caller, params) =>
      messaging.list(caller, params),
    ),
    'message.edit': asCaller(wire.editParams, ({ messaging }, caller, params) => messaging.edit(caller, params)),
    'message.delete': asCaller(wire.messageParams, ({ messaging }, caller, params) => messaging.delete(caller, params)),
    'message.markRead': asCaller(wire.markReadParams, ({ messaging }, caller, params) =>
      messaging.markRead(caller, params),
    ),
    'thread.create': asCaller(wire.createThreadParams, ({ context }, caller, params) =>
      threads.createThread(context, caller, params),
    ),
    'thread.list': asCaller(wire.listThreadsParams, ({ context }, caller, params) =>
      threads.listThreads(context, caller, params),
    ),
    'thread.get': asCaller(wire.getThreadParams, ({ context }, caller, params) =>
      threads.getThread(context, caller, params),
    ),
    subscribe: asCaller(wire.subscribeParams, ({ context }, caller, params) =>
      subscribing.subscribe(context, caller, params),
    ),
    unsubscribe: asCaller(wire.unsubscribeParams, ({ context }, caller, params) =>
      subscribing.unsubscribe(context, caller, params),
    ),
    'subscriptions.list': asCaller(wire.noParams, ({ context }, caller) =>
      subscribing.listSubscriptions(context, caller),
    ),
    health: method(wire.healthParams, ({ context }, connection, { watch }) => {
      if (watch !== undefined) context.healthWatchers.set(connection, watch);
      return health(context);
    }),
  }),
);

/** Methods that change nothing. */
const READS: ReadonlySet<string> = new Set([
  'agent.list',
  'agent.whoami',
  'session.list',
  'message.get',
  'message.list',
  'thread.list',
  'thread.get',
  'subscriptions.list',
  'health',
]);

/** Throws `JsonRpcError` if the request is not valid. */
export function callMethod(
  deps: MethodDeps,
  connection: Connection,
  {
    method: name,
    params,
    batch,
  }: { readonly method: string; readonly params: unknown; readonly batch?: BatchAnswers | undefined },
): unknown {
  const run = METHODS.get(name);
  if (run === undefined) throw new JsonRpcError(METHOD_NOT_FOUND, `there is no method ${name.slice(0, 100)}`);
  return connection.run(() => run(deps, connection, params), READS.has(name), batch);
}

function parseParams<T>(schema: z.ZodType<T>, params: unknown): T {
  const parsed = schema.safeParse(params ?? {});
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const field = issue === undefined || issue.path.length === 0 ? 'params' : issue.path.map(String).join('.');
  throw new JsonRpcError(INVALID_PARAMS, `${field}: ${issue?.message ?? 'not valid'}`);
}

/** Unread messages of an agent are counted up to this number. */
const MOST_UNREAD = 1000;

async function listAgents({ directory, pushes, link, index }: HubContext): Promise<{ agents: readonly object[] }> {
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
function listSessions({ directory, pushes }: HubContext, connection: Connection): { sessions: readonly object[] } {
  const sessions = [...directory.sessions.values()].map(({ id, agent, startedAt, lastSeen }) => ({
    ...(id === connection.session && { session_id: id }),
    agent_id: agent,
    started_at: startedAt,
    live: pushes.isLive(id),
    last_seen_at: new Date(lastSeen).toISOString(),
  }));
  return { sessions };
}

async function health(context: HubContext): Promise<object> {
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

// The hub's methods: their handlers, and the check of their parameters.
import type * as z from 'zod';
import { INVALID_PARAMS, JsonRpcError, METHOD_NOT_FOUND } from '../base/json/jsonRpc.ts';
import { HUB_METHODS, type HubMethod, type HubParams, type HubResult, isHubMethod } from '../protocol/hubMethods.ts';
import { type Connection, type ConnectionDeps } from './connection.ts';
import { type CallerMethods, type ConnectionMethods, type HubContext, now } from './hubContext.ts';
import { callerOf, identityMethods } from './identity.ts';
import { subscriptionMethods } from './subscribing.ts';
import { threadMethods } from './threads.ts';

const CONNECTION_METHODS = {
  ...identityMethods,
  'agent.list': listAgents,
  'session.list': listSessions,
  health,
} satisfies Partial<ConnectionMethods<HubMethod>>;

const CALLER_METHODS = {
  ...threadMethods,
  ...subscriptionMethods,
  'agent.whoami': (context, { agent, session }) => {
    const knownAs = context.link()?.knownAs(agent.name);
    const { name, role, module, display } = agent;
    return {
      agent_id: name,
      role,
      module,
      display,
      session_id: session.id,
      known_as: knownAs === name ? undefined : knownAs,
    };
  },
  'session.heartbeat': (context) => ({ last_seen_at: now(context) }),
} satisfies Partial<CallerMethods<HubMethod>>;

/** A method without a handler does not compile. */
type Missing = Exclude<HubMethod, keyof typeof CONNECTION_METHODS | keyof typeof CALLER_METHODS>;

export function createMethods(context: HubContext, messages: CallerMethods<Missing>): ConnectionDeps['handle'] {
  const forCallers: Partial<CallerMethods<HubMethod>> = { ...CALLER_METHODS, ...messages };
  const forConnections: Partial<ConnectionMethods<HubMethod>> = CONNECTION_METHODS;
  return (connection, name, given) => {
    if (!isHubMethod(name)) throw new JsonRpcError(METHOD_NOT_FOUND, `there is no method ${name.slice(0, 100)}`);
    // Its own schema has checked the parameters.
    const params = parseParams(HUB_METHODS[name].params, given) as never;
    const asCaller = forCallers[name];
    if (asCaller === undefined) return forConnections[name]?.(context, connection, params);
    return callerOf(context, connection).then((caller) => asCaller(context, caller, params));
  };
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

async function health(
  context: HubContext,
  connection: Connection,
  { watch }: HubParams<'health'>,
): Promise<HubResult<'health'>> {
  if (watch !== undefined) context.healthWatchers.set(connection, watch);
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

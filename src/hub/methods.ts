// The hub's methods: their handlers, and the check of their parameters.
import type * as z from 'zod';
import { INVALID_PARAMS, JsonRpcError, METHOD_NOT_FOUND } from '../base/json/jsonRpc.ts';
import {
  HUB_METHODS,
  type HubMethod,
  type HubParams,
  type HubResult,
  isHubMethod,
  type HubThread,
} from '../protocol/hubMethods.ts';
import { type Connection, type ConnectionDeps } from './connection.ts';
import { type CallerMethods, type ConnectionMethods, type HubContext, now, commit, refused } from './hubContext.ts';
import { callerOf, identityMethods } from './identity.ts';
import { printCursor, type ThreadSummary } from './index/messageRows.ts';
import { readCursor } from './messaging.ts';

/** Creates, removes and lists a session's subscriptions. */
const subscriptionMethods: CallerMethods<'subscribe' | 'unsubscribe' | 'subscriptions.list'> = {
  subscribe: async (context, { session, agent }, { scope, mention_role: mentionRole, all }) => {
    const given = [scope, mentionRole, all].filter((one) => one !== undefined).length;
    if (given === 0) throw refused('at least one of scope, mention_role, or all must be specified');
    if (given > 1)
      throw new JsonRpcError(INVALID_PARAMS, 'params: only one of scope, mention_role and all may be given');
    const { subscriptions } = context.directory;
    const criteria = { scope, mentionRole: mentionRole?.replace(/^@/, '') };
    if (subscriptions.has(session.id, criteria)) throw refused('subscription already exists');
    const id = subscriptions.nextId;
    const createdAt = now(context);
    const undo = context.directory.subscribe({ id, session: session.id, agent: agent.name, createdAt, ...criteria });
    const made = { subscription_id: id, session_id: session.id };
    const body = { type: 'subscription.add', ...made, scope, mention_role: criteria.mentionRole } as const;
    await commit(context, [{ body, undo }]);
    return { ...made, created_at: createdAt };
  },
  /** `removed` is false if the session does not have this subscription. */
  unsubscribe: async (context, { session }, { subscription_id: id }) => {
    const { directory } = context;
    if (directory.subscriptions.get(id)?.session !== session.id) return { removed: false };
    const undo = directory.unsubscribe(id);
    await commit(context, [{ body: { type: 'subscription.remove', subscription_id: id }, undo }]);
    return { removed: true };
  },
  'subscriptions.list': (context, { session }) => {
    const subscriptions = context.directory.subscriptions
      .of(session.id)
      .map(({ id, scope, mentionRole, createdAt }) => ({
        id,
        scope_type: scope?.type,
        scope_value: scope?.value,
        mention_role: mentionRole,
        ...(scope === undefined && mentionRole === undefined && { all: true as const }),
        created_at: createdAt,
      }));
    return { subscriptions };
  },
};

const DEFAULT_PAGE = 50;

/** Creates, lists and reads threads. */
const threadMethods: CallerMethods<'thread.create' | 'thread.list' | 'thread.get'> = {
  'thread.create': async (context, { agent }, { title, scopes = [] }) => {
    const thread = {
      thread_id: `thr_${context.ulid()}`,
      title,
      created_by: agent.name,
      created_at: now(context),
      scopes: [...scopes],
    };
    await commit(context, [{ body: { type: 'thread.create', thread }, undo: () => undefined }]);
    return { thread_id: thread.thread_id, created_at: thread.created_at };
  },
  /** Most recently changed threads first. */
  'thread.list': async (context, { agent }, { after, limit = DEFAULT_PAGE }) => {
    const before = readCursor(after);
    const page = await context.index.use((index) => index.threads(agent.name, limit, before));
    const last = page.threads.at(-1)?.changed;
    return {
      threads: page.threads.map(toHubThread),
      after: last === undefined ? (after ?? printCursor(0)) : printCursor(last),
      more: page.more,
    };
  },
  'thread.get': async (context, { agent }, { thread_id: id, after, limit = DEFAULT_PAGE }) => {
    const start = readCursor(after);
    return context.index.use((index) => {
      const thread = index.summary(id, agent.name);
      if (thread === undefined) throw refused('thread_id: there is no such thread');
      const page = index.list({ thread: id }, agent.name, limit, start);
      const last = page.more ? page.messages.at(-1)?.cursor : undefined;
      return { thread: toHubThread(thread), ...page, after: last ?? printCursor(context.lastNumber()) };
    });
  },
};

function toHubThread(thread: ThreadSummary): HubThread {
  const { thread_id, title, message_count, unread_count, last_activity, last_sender, preview, created_by, created_at } =
    thread;
  return { thread_id, title, message_count, unread_count, last_activity, last_sender, preview, created_by, created_at };
}

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

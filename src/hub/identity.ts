// The identity behind a connection: registers agents, and starts, attaches and ends sessions.
import { INVALID_PARAMS, JsonRpcError } from '../base/json/jsonRpc.ts';
import { isReservedName } from '../protocol/hub.ts';
import { type HubParams, type HubResult } from '../protocol/hubMethods.ts';
import { type Connection } from './connection.ts';
import { type HubSession } from './directory.ts';
import {
  boundCaller,
  type Caller,
  commit,
  type ConnectionMethods,
  type HubContext,
  now,
  refused,
} from './hubContext.ts';
import { printCursor } from './index/messageRows.ts';

const NO_SESSION = 'no active session found';
const EXPIRES_AFTER = 24 * 3600_000;

async function registerAgent(
  context: HubContext,
  connection: Connection | undefined,
  { name, role = '', module = '', display = '' }: HubParams<'agent.register'>,
): Promise<HubResult<'agent.register'>> {
  for (const [field, value] of [
    ['name', name],
    ['role', role],
  ] as const) {
    if (isReservedName(value)) throw new JsonRpcError(INVALID_PARAMS, `${field}: ${value} is reserved`);
  }
  const { directory, pushes } = context;
  const others = directory.sessionsOf(name).filter(({ id }) => pushes.isLive(id));
  if (others.some(({ id }) => connection === undefined || !pushes.isBoundTo(id, connection)))
    throw refused('name is in use');
  const why = directory.whyRefused(name, role);
  if (why !== undefined) throw new JsonRpcError(INVALID_PARAMS, why);
  const status = directory.agents.has(name) ? 'updated' : 'registered';
  const undo = directory.register({ name, role, module, display, lastSeen: context.clock.now() });
  connection?.registered.add(name);
  await commit(context, [{ body: { type: 'agent.register', name, role, module, display }, undo }]);
  context.link()?.agentsChanged();
  return { agent_id: name, status };
}

async function startSession(
  context: HubContext,
  connection: Connection,
  { agent_id: name }: HubParams<'session.start'>,
): Promise<HubResult<'session.start'>> {
  const { directory, pushes } = context;
  if (!directory.agents.has(name)) throw refused(`agent_id: no agent ${name} is registered`);
  if (!mayActFor(context, connection, name)) throw refused('this agent has a live session on another connection');
  pushes.unbind(connection);
  const idle = directory.sessionsOf(name).filter(({ id }) => !pushes.isLive(id));
  const ends = idle.map(({ id }) => ({
    body: { type: 'session.end', session_id: id } as const,
    undo: directory.end(id),
  }));
  const session: HubSession = {
    id: `ses_${context.ulid()}`,
    agent: name,
    startedAt: now(context),
    lastSeen: context.clock.now(),
  };
  const undo = directory.start(session);
  pushes.bind(connection, session.id);
  const begin = { body: { type: 'session.start', session_id: session.id, agent_id: name } as const, undo };
  try {
    await commit(context, [...ends, begin]);
  } catch (error) {
    pushes.release(session.id);
    throw error;
  }
  return describeStart(context, session);
}

export const identityMethods: ConnectionMethods<
  'agent.register' | 'agent.unregister' | 'session.start' | 'session.attach' | 'session.end'
> = {
  'agent.register': registerAgent,
  'session.start': startSession,
  'agent.unregister': async (context, connection, { agent_id: name }) => {
    const { directory, pushes } = context;
    if (!directory.agents.has(name)) return { removed: false };
    if (!mayActFor(context, connection, name)) throw refused('this agent has a live session on another connection');
    const sessions = directory.sessionsOf(name);
    const undo = directory.unregister(name);
    for (const { id } of sessions) pushes.release(id);
    connection.registered.delete(name);
    await commit(context, [{ body: { type: 'agent.unregister', name }, undo }]);
    context.link()?.agentsChanged();
    return { removed: true };
  },
  /** A session id is the secret of its agent: any client that knows it may act for the agent. */
  'session.attach': (context, connection, { session_id: id }) => {
    const session = context.directory.sessions.get(id);
    if (session === undefined) throw refused('session_id: there is no such session; call session.start');
    session.lastSeen = context.clock.now();
    context.pushes.bind(connection, id);
    return describeStart(context, session);
  },
  'session.end': async (context, connection, { session_id: named }) => {
    const id = named ?? connection.session;
    if (id === undefined) throw refused(NO_SESSION);
    if (!context.directory.sessions.has(id)) return { ended: false };
    const undo = context.directory.end(id);
    context.pushes.release(id);
    await commit(context, [{ body: { type: 'session.end', session_id: id }, undo }]);
    return { ended: true };
  },
};

/** The session bound to the connection, or else that of the hub's configured identity, which is started if needed. */
export async function callerOf(context: HubContext, connection: Connection): Promise<Caller> {
  const bound = boundCaller(context, connection);
  if (bound !== undefined) return bound;
  const { identity, directory, pushes } = context;
  if (identity === undefined) throw refused(NO_SESSION);
  const { name } = identity;
  if (!directory.agents.has(name)) await registerAgent(context, undefined, identity);
  const [existing] = directory.sessionsOf(name);
  if (existing === undefined) await startSession(context, connection, { agent_id: name });
  else pushes.bind(connection, existing.id);
  const caller = boundCaller(context, connection);
  if (caller === undefined) throw refused(NO_SESSION);
  return caller;
}

/** Ends sessions that had no connection and no heartbeat for a day. */
export async function endExpired(context: HubContext): Promise<void> {
  const { directory, pushes, clock } = context;
  const expired = [...directory.sessions.values()].filter(
    ({ id, lastSeen }) => !pushes.isLive(id) && clock.now() - lastSeen > EXPIRES_AFTER,
  );
  const ends = expired.map(({ id }) => ({
    body: { type: 'session.end', session_id: id } as const,
    undo: directory.end(id),
  }));
  if (ends.length > 0) await commit(context, ends);
}

function mayActFor({ directory, pushes }: HubContext, connection: Connection, agent: string): boolean {
  const live = directory.sessionsOf(agent).filter(({ id }) => pushes.isLive(id));
  if (live.every(({ id }) => pushes.isBoundTo(id, connection))) return true;
  return connection.registered.has(agent);
}

function describeStart(context: HubContext, session: HubSession): HubResult<'session.start'> {
  return {
    session_id: session.id,
    agent_id: session.agent,
    started_at: session.startedAt,
    cursor: printCursor(context.lastNumber()),
  };
}

// What the hub's methods share: the state, the files, and committing changes of the state to disk.
import { type Coalescer } from '../base/async.ts';
import { type Clock } from '../base/clock.ts';
import { JsonRpcError, SERVER_ERROR } from '../base/json/jsonRpc.ts';
import { type HubRecord } from '../protocol/hub.ts';
import { type HubMethod, type HubParams, type HubResult } from '../protocol/hubMethods.ts';
import { type Connection, type Pushes } from './connection.ts';
import { type Directory, type HubAgent, type HubSession } from './directory.ts';
import { type HubLink } from './hubLink.ts';
import { type HealthWatchers } from './healthWatchers.ts';
import { type HubWriter, UnknownOutcomeError } from './hubWriter.ts';
import { type LiveIndex } from './index/liveIndex.ts';
import { HUB_FILE } from './readRecords.ts';

/** The agent for clients that never register. */
export interface HubIdentity {
  readonly name: string;
  readonly role: string;
  readonly module: string;
}

export interface HubContext {
  readonly clock: Clock;
  readonly directory: Directory;
  readonly pushes: Pushes;
  readonly writer: HubWriter;
  readonly updates: Coalescer<string>;
  readonly healthWatchers: HealthWatchers;
  readonly version: string;
  readonly startedAt: number;
  readonly identity?: HubIdentity | undefined;
  readonly index: LiveIndex;
  /** Undefined: this hub is not joined with others. */
  link(): HubLink | undefined;
  ulid(): string;
  /** The arrival number of the next record. */
  nextNumber(): number;
  /** The highest arrival number that was applied. */
  lastNumber(): number;
}

/** The first fields of a record. Its number is assigned before it is written. */
export function recordHead(context: HubContext): { v: 1; n: number; event_id: string; timestamp: string } {
  return { v: 1, n: context.nextNumber(), event_id: context.ulid(), timestamp: now(context) };
}

export function now({ clock }: Pick<HubContext, 'clock'>): string {
  return new Date(clock.now()).toISOString();
}

type Body = HubRecord extends infer R
  ? R extends HubRecord
    ? Omit<R, 'v' | 'n' | 'event_id' | 'timestamp'>
    : never
  : never;

/** Writes the records of changes that were already made in memory. Undoes the changes if a record cannot be written. */
export async function commit(context: HubContext, changes: readonly { body: Body; undo: () => void }[]): Promise<void> {
  const written = changes.map(({ body }) => context.writer.append(HUB_FILE, { ...recordHead(context), ...body }));
  const results = await Promise.allSettled(written);
  const refused = results.find((result) => result.status === 'rejected');
  if (refused === undefined) return;
  for (const { undo } of [...changes].reverse()) undo();
  throw diskRefused(refused.reason);
}

export function diskRefused(error: unknown): JsonRpcError {
  const reason = error instanceof Error ? error.message : String(error);
  const outcome =
    error instanceof UnknownOutcomeError
      ? 'it is not known whether this was stored (a message can be sent again with the same client_id)'
      : 'nothing was stored';
  return new JsonRpcError(SERVER_ERROR, `${outcome}: ${reason}`);
}

export function refused(message: string): JsonRpcError {
  return new JsonRpcError(SERVER_ERROR, message);
}

export interface Caller {
  readonly session: HubSession;
  readonly agent: HubAgent;
}

/** Methods that act as the caller's session. */
export type CallerMethods<M extends HubMethod> = {
  readonly [N in M]: (
    context: HubContext,
    caller: Caller,
    params: HubParams<N>,
  ) => HubResult<N> | Promise<HubResult<N>>;
};

/** Methods for any connection. */
export type ConnectionMethods<M extends HubMethod> = {
  readonly [N in M]: (
    context: HubContext,
    connection: Connection,
    params: HubParams<N>,
  ) => HubResult<N> | Promise<HubResult<N>>;
};

/** The session and agent bound to this connection; undefined if there is none. */
export function boundCaller(context: HubContext, connection: Connection): Caller | undefined {
  const session = connection.session === undefined ? undefined : context.directory.sessions.get(connection.session);
  const agent = session && context.directory.agents.get(session.agent);
  if (session === undefined || agent === undefined) return undefined;
  session.lastSeen = context.clock.now();
  agent.lastSeen = session.lastSeen;
  return { session, agent };
}

// The agents and sessions of a hub. Every change returns a function that undoes it if its record cannot be written.
import * as z from 'zod';
import { type HubRecord, hubRecord } from '../protocol/hub.ts';
import { type HubSubscription, Subscriptions } from './subscriptions.ts';

export interface HubAgent {
  readonly name: string;
  readonly role: string;
  readonly module: string;
  readonly display: string;
  /** Milliseconds since 1970; not stored on disk. */
  lastSeen: number;
}

export interface HubSession {
  readonly id: string;
  readonly agent: string;
  readonly startedAt: string;
  /** The time of its last connection or heartbeat, in milliseconds since 1970. */
  lastSeen: number;
}

/** The state of a directory after the first `length` bytes of `hub.jsonl`. */
export const directorySnapshot = z.object({
  length: z.int(),
  /** The next id of a subscription. */
  next: z.int(),
  records: z.array(hubRecord),
  /** When each session was last seen, in milliseconds since 1970. */
  seen: z.record(z.string(), z.number()),
});
export type DirectorySnapshot = z.infer<typeof directorySnapshot>;

type Undo = () => void;

export class Directory {
  readonly agents = new Map<string, HubAgent>();
  readonly sessions = new Map<string, HubSession>();
  readonly subscriptions = new Subscriptions();

  /** Applies a record that was read from a file. */
  replay(record: HubRecord): void {
    const at = Date.parse(record.timestamp) || 0;
    switch (record.type) {
      case 'agent.register':
        this.register({ ...record, lastSeen: at });
        return;
      case 'agent.unregister':
        this.unregister(record.name);
        return;
      case 'session.start':
        this.start({ id: record.session_id, agent: record.agent_id, startedAt: record.timestamp, lastSeen: at });
        return;
      case 'session.end':
        this.end(record.session_id);
        return;
      case 'subscription.add': {
        const agent = this.sessions.get(record.session_id)?.agent;
        if (agent === undefined) return;
        this.subscribe({
          id: record.subscription_id,
          session: record.session_id,
          agent,
          createdAt: record.timestamp,
          scope: record.scope,
          mentionRole: record.mention_role,
        });
        return;
      }
      case 'subscription.remove':
        this.unsubscribe(record.subscription_id);
        return;
      case 'thread.create':
      case 'read.mark':
        return;
    }
  }

  /** The whole state as a minimal list of records. `length`: the length of the file that has this state. */
  snapshot(length: number): DirectorySnapshot {
    const head = { v: 1, n: 1, event_id: '' } as const;
    const records: HubRecord[] = [];
    for (const { lastSeen, ...agent } of this.agents.values())
      records.push({ ...head, type: 'agent.register', timestamp: new Date(lastSeen).toISOString(), ...agent });
    for (const { id, agent, startedAt } of this.sessions.values())
      records.push({ ...head, type: 'session.start', timestamp: startedAt, session_id: id, agent_id: agent });
    for (const { id, session, createdAt, scope, mentionRole } of this.subscriptions.all) {
      records.push({
        ...head,
        type: 'subscription.add',
        timestamp: createdAt,
        subscription_id: id,
        session_id: session,
        scope,
        mention_role: mentionRole,
      });
    }
    const seen = Object.fromEntries([...this.sessions.values()].map(({ id, lastSeen }) => [id, lastSeen]));
    return { length, next: this.subscriptions.nextId, records, seen };
  }

  restore({ next, records, seen }: DirectorySnapshot): void {
    for (const record of records) this.replay(record);
    for (const session of this.sessions.values()) session.lastSeen = seen[session.id] ?? session.lastSeen;
    this.subscriptions.skipIds(next);
  }

  register({ name, role, module, display, lastSeen }: HubAgent): Undo {
    const before = this.agents.get(name);
    this.agents.set(name, { name, role, module, display, lastSeen });
    this.subscriptions.setRole(name, role);
    return () => {
      if (before === undefined) this.agents.delete(name);
      else this.agents.set(name, before);
      this.subscriptions.setRole(name, before?.role ?? '');
    };
  }

  unregister(name: string): Undo {
    const before = this.agents.get(name);
    const undoSessions = this.sessionsOf(name).map(({ id }) => this.end(id));
    this.agents.delete(name);
    return () => {
      if (before !== undefined) this.register(before);
      for (const undo of undoSessions) undo();
    };
  }

  sessionsOf(agent: string): HubSession[] {
    return [...this.sessions.values()].filter((session) => session.agent === agent);
  }

  start(session: HubSession): Undo {
    this.sessions.set(session.id, session);
    return () => void this.sessions.delete(session.id);
  }

  end(id: string): Undo {
    const session = this.sessions.get(id);
    const removed = this.subscriptions.of(id);
    for (const subscription of removed) this.subscriptions.remove(subscription.id);
    this.sessions.delete(id);
    return () => {
      if (session !== undefined) this.sessions.set(id, session);
      for (const subscription of removed) this.subscriptions.add(subscription);
    };
  }

  subscribe(subscription: HubSubscription): Undo {
    this.subscriptions.add(subscription);
    return () => void this.subscriptions.remove(subscription.id);
  }

  unsubscribe(id: number): Undo {
    const removed = this.subscriptions.remove(id);
    return () => {
      if (removed !== undefined) this.subscriptions.add(removed);
    };
  }

  /** Why this name and role cannot be registered; undefined if they can. */
  whyRefused(name: string, role: string): string | undefined {
    const others = [...this.agents.values()].filter((agent) => agent.name !== name);
    if (others.some((agent) => agent.role === name)) return `name: ${name} is a role in use`;
    if (name === role || (role !== '' && others.some((agent) => agent.name === role))) {
      return `role: ${role} is the name of an agent`;
    }
    return undefined;
  }
}

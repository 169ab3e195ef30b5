// What a hub and the link that joins it with other machines know of each other (WIRE C). `hub/nats/` has the one link there is.
import type * as sqliteModule from 'node:sqlite';
import { type Clock } from '../base/clock.ts';
import { type LinkHealth, type MessageRecord } from '../protocol/hub.ts';
import { type HubAgent } from './directory.ts';
import { type StoredRecord } from './hubWriter.ts';

/** The hub, for its link. */
export interface HubSide {
  readonly folder: string;
  readonly clock: Clock;
  readonly sqlite: typeof sqliteModule;
  /** How long the file of each author was when the hub opened. */
  readonly lengths: ReadonlyMap<string, number>;
  report(message: string, error?: unknown): void;
  /** Of this machine. */
  agents(): readonly HubAgent[];
  agent(name: string): HubAgent | undefined;
  isLive(agent: string): boolean;
  /** How many unread messages mention the agent. */
  unread(agent: string): number;
  /** Whether a record is in the index. */
  has(event: string): boolean;
  /** From which machine an author's newest message came; empty: from this one. Undefined: there is none. */
  lastMachineOf(author: string): string | undefined;
  /** Stores a record of another machine, then pushes it. Records are stored in the order of the calls. */
  receive(machine: string, record: MessageRecord): Promise<void>;
  /** What `health` says of the link has changed. */
  healthChanged(): void;
}

/** An agent of another machine, as `agent.list` shows it. */
export interface RemoteAgent {
  readonly agent_id: string;
  readonly role: string;
  readonly module: string;
  readonly display: string;
  readonly machine: string;
  readonly live: boolean;
  readonly last_seen_at: string;
  /** Unread messages that mention it. */
  readonly unread?: number;
}

/** The link, for its hub. Nothing here waits for the network but `close`, and that not for long. */
export interface HubLink {
  /** Records that are on disk and in the index now. */
  stored(records: readonly StoredRecord[]): void;
  /** An agent of this machine was registered, changed or unregistered. */
  agentsChanged(): void;
  /** The name of an agent of this machine on other machines; undefined while that is not decided. */
  knownAs(agent: string): string | undefined;
  agents(): readonly RemoteAgent[];
  health(): LinkHealth;
  close(): Promise<void>;
}

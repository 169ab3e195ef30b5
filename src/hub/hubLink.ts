// The port between a hub and the link that joins it with other machines (WIRE C). `hub/nats/` implements the link.
import type * as sqliteModule from 'node:sqlite';
import { type Clock } from '../base/clock.ts';
import { type LinkHealth, type MessageRecord } from '../protocol/hub.ts';
import { type ListedHubAgent } from '../protocol/hubMethods.ts';
import { type HubAgent } from './directory.ts';
import { type StoredRecord } from './hubWriter.ts';

/** The hub as its link sees it. */
export interface HubSide {
  readonly folder: string;
  readonly clock: Clock;
  readonly sqlite: typeof sqliteModule;
  /** The length of each author's file when the hub opened. */
  readonly lengths: ReadonlyMap<string, number>;
  report(message: string, error?: unknown): void;
  /** The agents of this machine. */
  agents(): readonly HubAgent[];
  agent(name: string): HubAgent | undefined;
  isLive(agent: string): boolean;
  /** How many unread messages mention the agent. */
  unread(agent: string): number;
  /** Whether a record is in the index. */
  has(event: string): Promise<boolean>;
  /** The machine that an author's newest message came from. Empty: this machine. Undefined: there is no message. */
  lastMachineOf(author: string): Promise<string | undefined>;
  /** Stores a record of another machine, then pushes it. Records are stored in the order of the calls. */
  receive(machine: string, record: MessageRecord): Promise<void>;
  /** The link calls this when its health has changed. */
  healthChanged(): void;
}

/** The link as its hub sees it. Only `close` waits for the network, and only for a short time. */
export interface HubLink {
  /** Called with records that are now on disk and in the index. */
  stored(records: readonly StoredRecord[]): void;
  /** Called when an agent of this machine was registered, changed or unregistered. */
  agentsChanged(): void;
  /** The name that other machines use for an agent of this machine; undefined until it is claimed. */
  knownAs(agent: string): string | undefined;
  /** The agents of other machines. */
  agents(): readonly ListedHubAgent[];
  health(): LinkHealth;
  close(): Promise<void>;
}

// What MCP servers need from outside: the user's approval, secrets, a browser, and a store for facts about servers.
import { type Clock } from '../base/clock.ts';
import { type Logger } from '../core/ports/ports.ts';
import { type CommandApprovals } from '../node/files/commandApprovals.ts';
import { type ConfiguredServer } from './config/configuration.ts';
import { type LaunchProof } from './config/launch.ts';
import { type VariableDeps } from './config/variables.ts';
import { type SignIn } from './oauth/signInPort.ts';
import { type OpenMcpSession, type McpSessionLimits } from './session/sessionPort.ts';

/** Facts that are shared between windows and stored outside the workspace, as a set of keys. */
export interface McpMemory {
  /** Resolves once the stored keys were read. */
  readonly ready: Promise<void>;
  has(key: string): boolean;
  keys(prefix: string): readonly string[];
  /** Resolves once it is on disk. */
  set(key: string, on: boolean): Promise<void>;
}

export interface McpHost {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly memory: McpMemory;
  readonly client: { readonly name: string; readonly version: string };
  readonly limits: McpSessionLimits;
  readonly open: OpenMcpSession;
  /** Whether the workspace is trusted. If not, no server starts. */
  isTrusted(): boolean;
  variables(server: ConfiguredServer): VariableDeps;
  /** The folders of the workspace: a server that runs code in them needs approval, whoever configured it. */
  roots(server: ConfiguredServer): readonly string[];
  /** Approvals of servers, in this window and stored. */
  readonly approvals: CommandApprovals;
  /** Asks the user before a server of the workspace starts. `changed`: an earlier form of it was approved. */
  approve(server: ConfiguredServer, proof: LaunchProof, changed: boolean, signal: AbortSignal): Promise<boolean>;
  /** Absent: signing in is not supported. */
  signIn?(server: ConfiguredServer): Promise<SignIn>;
  openExternal(url: string): Promise<boolean>;
  /** A line for the log of MCP servers. */
  log(server: string, line: string): void;
}

// A folder whose conversations are the sessions of a client: in this process, or in a window of VS Code.
import { type Client } from '../core/client/client.ts';
import { type ClientServer } from '../protocol/outside/acp.ts';
import { type UpdateDeps } from './updates.ts';

export interface AcpFolder extends Pick<UpdateDeps, 'snapshots' | 'effectOf' | 'traitsOf'> {
  readonly folder: string;
  readonly client: Client;
  /** There only the user chooses, and the window answers questions that the client cannot answer. */
  readonly isWindow: boolean;
  /** MCP servers that the client passes with a session. */
  addServers(servers: readonly ClientServer[]): void;
  /** Ends every turn and command of the sessions that runs in this process, and closes every file and connection. */
  close(sessions: readonly string[]): Promise<void>;
}

// Reads the state of a hub once, to show it to the user.
import { ignore } from '../../base/async.ts';
import { type FileSystem } from '../../node/files/fileSystem.ts';
import { type LinkHealth, linkHealth } from '../../protocol/hub.ts';
import { type ListedHubAgent } from '../../protocol/hubMethods.ts';
import { connectToHub, readAddress } from './hubConnection.ts';

export interface HubState {
  readonly messages: number;
  /** The process that serves the hub. */
  readonly pid: number;
  /** Undefined: it is not joined with other hubs. */
  readonly link: LinkHealth | undefined;
  readonly agents: readonly ListedHubAgent[];
}

/** Undefined: no process serves the hub of this folder. Rejects if the answers are not valid. */
export async function readHubState(files: FileSystem, folder: string): Promise<HubState | undefined> {
  const address = await readAddress(files, folder);
  if (address === undefined) return undefined;
  const connection = await connectToHub(address, ignore, ignore).catch(ignore);
  if (connection === undefined) return undefined;
  try {
    const [health, { agents }] = await Promise.all([connection.call('health', {}), connection.call('agent.list', {})]);
    return {
      messages: health.messages,
      pid: address.pid,
      link: linkHealth.safeParse(health).data,
      agents,
    };
  } finally {
    connection.close();
  }
}

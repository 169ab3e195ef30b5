// Reads the state of a hub once, to show it to the user.
import * as z from 'zod';
import { type FileSystem } from '../../node/files/fileSystem.ts';
import { type LinkHealth, linkHealth } from '../../protocol/hub.ts';
import { connectToHub, readAddress } from './hubConnection.ts';

const counts = z.object({ messages: z.int() });
const listed = z.object({
  agents: z.array(
    z.object({
      agent_id: z.string(),
      display: z.string(),
      machine: z.string().optional(),
      live: z.boolean(),
      last_seen_at: z.string(),
    }),
  ),
});

export interface HubState {
  readonly messages: number;
  /** The process that serves the hub. */
  readonly pid: number;
  /** Undefined: it is not joined with other hubs. */
  readonly link: LinkHealth | undefined;
  readonly agents: z.infer<typeof listed>['agents'];
}

/** Undefined: no process serves the hub of this folder. Rejects if the answers are not valid. */
export async function readHubState(files: FileSystem, folder: string): Promise<HubState | undefined> {
  const address = await readAddress(files, folder);
  if (address === undefined) return undefined;
  const connection = await connectToHub(
    address,
    () => undefined,
    () => undefined,
  ).catch(() => undefined);
  if (connection === undefined) return undefined;
  try {
    const [health, agents] = await Promise.all([connection.call('health'), connection.call('agent.list')]);
    return {
      messages: counts.parse(health).messages,
      pid: address.pid,
      link: linkHealth.safeParse(health).data,
      agents: listed.parse(agents).agents,
    };
  } finally {
    connection.close();
  }
}

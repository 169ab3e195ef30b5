// Records and claims written and read by a bare NATS client: forged records, and the claims of machines.
import { jetstream } from '@nats-io/jetstream';
import { Kvm } from '@nats-io/kv';
import { realIds } from '../../../src/node/realIds.ts';
import { type MessageCreate } from '../../../src/protocol/hub.ts';
import { NAME, type NatsServer } from './natsServer.ts';

export function recordOf(author: string, content: string, changes: object = {}): MessageCreate {
  return {
    v: 1,
    n: 1,
    event_id: realIds.ulid(),
    timestamp: new Date().toISOString(),
    type: 'message.create',
    message_id: `msg_${realIds.ulid()}`,
    author: { agent_id: author, name: author, role: '', module: '' },
    format: 'plain',
    content,
    scopes: [],
    refs: [],
    ...changes,
  };
}

/** The machine that has claimed this name. */
export async function claimOn(server: NatsServer, name: string): Promise<string | undefined> {
  const connection = await server.connectAsAdmin();
  try {
    const entry = await (await new Kvm(jetstream(connection)).open(`ear_agents_${NAME}`)).get(name);
    if (entry === null) return undefined;
    const { machine, released } = entry.json<{ machine: string; released?: boolean }>();
    return released === true ? undefined : machine;
  } finally {
    await connection.close();
  }
}

// Creates the stream and the buckets of a name, once, with an administrator's user, and prints the permissions for a
// machine's user.
import {
  DiscardPolicy,
  jetstream,
  type JetStreamManager,
  jetstreamManager,
  RetentionPolicy,
  StorageType,
} from '@nats-io/jetstream';
import { Kvm } from '@nats-io/kv';
import { nanos } from '@nats-io/transport-node';
import { isNoStream } from './apiErrors.ts';
import { type JoinOptions } from './joinOptions.ts';
import { connectNats } from './natsConnection.ts';
import { bucketStream, consumerName, inboxPrefix, type StreamNames, streamNames } from './streamNames.ts';

const DEFAULT_MAX_BYTES = 1024 ** 3;
const DUPLICATE_WINDOW = 24 * 3600_000;
const PRESENCE_TTL = 45_000;

export interface SetUpOptions extends JoinOptions {
  /** The size of the stream; undefined: unchanged, or 1 GiB for a new stream. */
  readonly maxBytes?: number | undefined;
}

/** Returns the text for the administrator. Running it again changes only the size. */
export async function setUpStream(options: SetUpOptions): Promise<string> {
  const connection = await connectNats(options, false);
  try {
    const manager = await jetstreamManager(connection);
    const names = streamNames(options.name);
    const created = await provideStream(manager, names, options.maxBytes);
    const buckets = new Kvm(jetstream(connection));
    await buckets.create(names.agents, { history: 1 });
    // Stored in a file, since a bucket in memory would be lost when the server restarts.
    await buckets.create(names.presence, { history: 1, ttl: PRESENCE_TTL });
    return [
      `The stream ${names.stream} ${created ? 'was created' : 'exists'}, and so do the buckets ${names.agents} and ${names.presence}.`,
      `Permissions of the user of machine ${options.machine}, for the server’s configuration:`,
      '',
      printPermissions(machinePermissions(options.name, options.machine)),
    ].join('\n');
  } finally {
    await connection.close();
  }
}

async function provideStream(manager: JetStreamManager, names: StreamNames, maxBytes?: number): Promise<boolean> {
  const { stream, subjects } = names;
  try {
    const { config } = await manager.streams.info(stream);
    if (maxBytes !== undefined && config.max_bytes !== maxBytes)
      await manager.streams.update(stream, { max_bytes: maxBytes });
    return false;
  } catch (error) {
    if (!isNoStream(error)) throw error;
  }
  await manager.streams.add({
    name: stream,
    subjects: [subjects],
    storage: StorageType.File,
    retention: RetentionPolicy.Limits,
    max_age: 0,
    max_bytes: maxBytes ?? DEFAULT_MAX_BYTES,
    discard: DiscardPolicy.New,
    duplicate_window: nanos(DUPLICATE_WINDOW),
    allow_direct: true,
  });
  return true;
}

export interface Permissions {
  readonly publish: readonly string[];
  readonly subscribe: readonly string[];
}

/** The permissions of one machine's user, which cannot publish under the name of another machine. */
export function machinePermissions(name: string, machine: string): Permissions {
  const { stream, agents, presence } = streamNames(name);
  const consumer = consumerName(machine);
  const streams = [stream, bucketStream(agents), bucketStream(presence)];
  return {
    publish: [
      `ear.${name}.*.${machine}.>`,
      '$JS.API.INFO',
      ...streams.map((one) => `$JS.API.STREAM.INFO.${one}`),
      ...streams.map((one) => `$JS.API.STREAM.MSG.GET.${one}`),
      ...streams.flatMap((one) => [`$JS.API.DIRECT.GET.${one}`, `$JS.API.DIRECT.GET.${one}.>`]),
      `$JS.API.CONSUMER.CREATE.${stream}.${consumer}`,
      `$JS.API.CONSUMER.CREATE.${stream}.${consumer}.>`,
      `$JS.API.CONSUMER.INFO.${stream}.${consumer}`,
      `$JS.API.CONSUMER.MSG.NEXT.${stream}.${consumer}`,
      `$JS.ACK.${stream}.${consumer}.>`,
      `$KV.${agents}.*`,
      `$KV.${presence}.${machine}`,
    ],
    subscribe: [`${inboxPrefix(machine)}.>`],
  };
}

/** Prints permissions in the syntax of nats-server's configuration. */
export function printPermissions({ publish, subscribe }: Permissions): string {
  const list = (subjects: readonly string[]) => subjects.map((subject) => `    "${subject}"`).join('\n');
  return `permissions {\n  publish: [\n${list(publish)}\n  ]\n  subscribe: [\n${list(subscribe)}\n  ]\n}`;
}

// Checks after each connect, before anything new is published, whether the stream still has what was published and
// received. Servers before 2.12 acknowledge records before they are on disk, so a killed server may lose the end of the
// stream.
import { type JetStreamManager } from '@nats-io/jetstream';
import { toNanos } from './inbox.ts';
import { type LinkState } from './linkState.ts';

/** Records that were published longer than this before the last check are on the server's disk. */
export const LOOK_BACK = 10 * 60_000;
const AT_ONCE = 64;

export interface StreamState {
  readonly created: string;
  readonly firstSeq: number;
  readonly lastSeq: number;
}

/** Resets the state so that lost records are published and received again. Returns the number of missing records. */
export async function checkStream(
  manager: JetStreamManager,
  stream: string,
  found: StreamState,
  state: LinkState,
): Promise<number> {
  const identity = `${stream} ${found.created}`;
  if (state.stream !== identity) {
    state.startOver(identity);
    return 0;
  }
  await checkReceivedPart(manager, stream, found, state);
  return checkPublished(manager, stream, found, state);
}

/** A stream only grows: if the last received message is unchanged, all earlier ones are too. */
async function checkReceivedPart(
  manager: JetStreamManager,
  stream: string,
  { firstSeq, lastSeq }: StreamState,
  state: LinkState,
): Promise<void> {
  const { seq, time } = state.position;
  if (seq === 0) return;
  const message = seq <= lastSeq ? await manager.streams.getMessage(stream, { seq }) : null;
  const wasRemoved = message === null && seq < firstSeq;
  if (wasRemoved || (message !== null && toNanos(message.timestamp) === time)) return;
  // Receives everything again; known records are not stored twice.
  state.setPosition({ seq: 0, time: 0 });
}

async function checkPublished(
  manager: JetStreamManager,
  stream: string,
  { firstSeq }: StreamState,
  state: LinkState,
): Promise<number> {
  // An administrator removed the records before the first sequence.
  const published = state.recentlyPublished(state.checkedAt - LOOK_BACK).filter(({ seq }) => seq >= firstSeq);
  let missing = 0;
  for (let at = 0; at < published.length; at += AT_ONCE) {
    const part = published.slice(at, at + AT_ONCE);
    const found = await Promise.all(part.map(({ seq }) => manager.streams.getMessage(stream, { seq })));
    for (const [index, one] of part.entries()) {
      if (found[index]?.header.get('Nats-Msg-Id') === one.event) continue;
      missing += 1;
      state.forget(one.seq);
      // Publishes all later records of the author again too, so that their order is kept.
      if (one.start < state.sent(one.author)) state.setSent(one.author, one.start);
    }
  }
  return missing;
}

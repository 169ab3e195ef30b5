// After each connect, before anything new is published: does the stream still hold what was published and received? Servers
// before 2.12 acknowledge before the disk has it, and a killed one may have lost the end of the stream.
import { type JetStreamManager } from '@nats-io/jetstream';
import { toNanos } from './inbox.ts';
import { type LinkState } from './linkState.ts';

/** What was published earlier than this before the last check is on the server's disk. */
export const LOOK_BACK = 10 * 60_000;
const AT_ONCE = 64;

export interface StreamState {
  readonly created: string;
  readonly firstSeq: number;
  readonly lastSeq: number;
}

/** Sets the state back to what is to be published and received again. Returns how many records are missing. */
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

/** A stream only grows: if the last message is the very one that was received, so are all before it. */
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
  // Everything is received again; what is known is not stored twice.
  state.setPosition({ seq: 0, time: 0 });
}

async function checkPublished(
  manager: JetStreamManager,
  stream: string,
  { firstSeq }: StreamState,
  state: LinkState,
): Promise<number> {
  // What is before the first sequence was removed by an administrator.
  const published = state.recentlyPublished(state.checkedAt - LOOK_BACK).filter(({ seq }) => seq >= firstSeq);
  let missing = 0;
  for (let at = 0; at < published.length; at += AT_ONCE) {
    const part = published.slice(at, at + AT_ONCE);
    const found = await Promise.all(part.map(({ seq }) => manager.streams.getMessage(stream, { seq })));
    for (const [index, one] of part.entries()) {
      if (found[index]?.header.get('Nats-Msg-Id') === one.event) continue;
      missing += 1;
      state.forget(one.seq);
      // From there on all of the author's records are published again, so that their order is kept.
      if (one.start < state.sent(one.author)) state.setSent(one.author, one.start);
    }
  }
  return missing;
}

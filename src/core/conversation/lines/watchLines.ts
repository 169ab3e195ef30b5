// Writes which lines a conversation waits for, and the user's grant that they may wake the model.
import { type EventDraft } from '../../../protocol/event.ts';
import { LINE_WAKE_DAYS, type LinePosition, MOST_LINE_WAKES } from '../../../protocol/lines/lineWatch.ts';
import { nameOfSubject } from '../../../protocol/scopes.ts';
import { type Clock, type Ports } from '../../ports/ports.ts';
import { type WantedLines } from '../../ports/producers.ts';
import { draftGrant } from '../grants.ts';
import { type ConversationLog } from '../log.ts';

const DAY_MILLISECONDS = 24 * 3600_000;

export function linesWatched(
  target: string,
  { patterns, quietAfterSeconds }: WantedLines,
  position: LinePosition,
): Extract<EventDraft, { type: 'lines_watched' }> {
  return {
    type: 'lines_watched',
    target,
    patterns: [...patterns],
    position,
    ...(quietAfterSeconds !== undefined && { quiet_after_secs: quietAfterSeconds }),
  };
}

/** The standing wake of the lines ends with it. Returns whether the conversation waited for them. */
export async function stopWatchingLines(log: ConversationLog, target: string): Promise<boolean> {
  const known = log.state.lines.all.get(target);
  if (known === undefined) return false;
  const { grant: id, position } = known;
  const revoked = { type: 'wake_revoked' as const, id: id ?? '', reason: 'cancelled' };
  const ends = linesWatched(target, { patterns: [] }, position);
  await log.appendTogether([{ draft: ends }, ...(id === undefined ? [] : [{ draft: revoked }])]).onDisk;
  return true;
}

/** `call`: the approved call that lets the lines wake the model. */
export async function watchLines(
  { log, ids, clock, store }: { readonly log: ConversationLog } & Pick<Ports, 'ids' | 'clock' | 'store'>,
  wanted: Extract<EventDraft, { type: 'lines_watched' }>,
  call: string | undefined,
): Promise<void> {
  if (call === undefined) return watchLinesAsleep(log, clock, wanted);
  const watched = fromNow(clock, wanted);
  const until = clock.now() + LINE_WAKE_DAYS * DAY_MILLISECONDS;
  const name = nameOfSubject(watched.target);
  const grant = draftGrant(log, ids, { source: 'lines', name, most: MOST_LINE_WAKES, until, call });
  // Found by the next window without reading logs, so that its lines are followed.
  await store.due.mark(log.id);
  await log.appendTogether([{ draft: grant.draft }, { draft: { ...watched, grant: grant.id } }]).onDisk;
}

/** Its lines do not wake. */
export async function watchLinesAsleep(
  log: ConversationLog,
  clock: Clock,
  wanted: Extract<EventDraft, { type: 'lines_watched' }>,
): Promise<void> {
  await log.append(fromNow(clock, wanted));
}

/** What is written from now on counts, also of a file that does not exist yet. */
function fromNow<T extends Extract<EventDraft, { type: 'lines_watched' }>>(clock: Clock, wanted: T): T {
  return { ...wanted, position: { modified: clock.now(), ...wanted.position } };
}

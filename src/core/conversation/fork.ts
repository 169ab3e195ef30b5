// Creates the events of a fork: the history up to the end of a cycle, notifications pending at that point, and the
// fork's origin. Pure.
import { failed, type Result, succeeded } from '../../base/errors.ts';
import { defined } from '../../base/json/defined.ts';
import { EVENT_VERSION, type EventDraft, type LogEvent } from '../../protocol/event.ts';
import { type Notification } from '../../protocol/notification.ts';
import { type ConversationChoice } from '../../protocol/page/controlsView.ts';
import { Choice } from './choices.ts';
import { Projections } from './projections/project.ts';
import { TurnState } from './projections/turnState.ts';

export interface ForkDeps {
  /** The conversation that is forked. */
  readonly id: string;
  readonly events: readonly LogEvent[];
  /** The last shared event. */
  readonly through: number;
  /** The message after it that the fork sends again. */
  readonly request?: string | undefined;
  /** RFC 3339. */
  readonly now: string;
  ulid(): string;
}

/** Events that begin the next cycle or turn. */
const BEGINNINGS: ReadonlySet<LogEvent['type']> = new Set([
  'turn_started',
  'chat_request',
  'chat_response',
  'tool_call_request',
]);

/** The numbers of events that end a cycle, newest first: a fork is possible after each. */
export function forkPoints(events: readonly LogEvent[]): readonly number[] {
  const points: number[] = [];
  const turn = new TurnState();
  for (const event of events) {
    turn.fold(event);
    // The call for a title is not part of a turn and does not end a cycle.
    const answered = event.type === 'model_call' && event.purpose === undefined;
    const ends = answered || event.type === 'turn_ended' || event.type === 'tool_call_response';
    if (ends && !turn.hasUnanswered) points.push(event.seq);
  }
  return points.reverse();
}

/** Notifications queued after `through` and before the next cycle: they were pending at this point too. */
function queuedAfter(events: readonly LogEvent[], through: number): Notification[] {
  const queued: Notification[] = [];
  for (const event of events) {
    if (event.seq <= through) continue;
    if (BEGINNINGS.has(event.type)) break;
    if (event.type === 'notification_queued') queued.push(event.notification);
  }
  return queued;
}

/** What holds in the conversation now; a fork of an earlier point keeps it. */
export function choiceIn(events: readonly LogEvent[]): ConversationChoice {
  const choice = new Choice();
  for (const event of events) choice.fold(event);
  return choice.current;
}

/** The fork's origin. */
export function forkedDraft({ id, through, request }: Pick<ForkDeps, 'id' | 'through' | 'request'>): EventDraft {
  return { type: 'forked', from: id, through, ...defined({ request }) };
}

/** The whole log of the fork. It keeps the key, because blocks of the shared history contain it. */
export function forkEvents(deps: ForkDeps): Result<readonly LogEvent[]> {
  const { events, through } = deps;
  if (!forkPoints(events).includes(through)) {
    return failed('not_a_cycle_end', `Event ${through} is not the end of a cycle.`, 'Fork after a complete answer.');
  }
  const shared = events.filter((event) => event.seq <= through);
  const state = new Projections();
  for (const event of shared) state.fold(event);
  const drafts: EventDraft[] = [forkedDraft(deps)];
  const chosen = choiceIn(events);
  if (JSON.stringify(chosen) !== JSON.stringify(state.choice.current)) drafts.push({ type: 'choice_made', ...chosen });
  if (state.summary.title !== '') drafts.push({ type: 'title_set', title: `${state.summary.title} (fork)` });
  const withdrawn = new Set(
    events.flatMap((event) => (event.type === 'notification_withdrawn' && event.seq > through ? event.ids : [])),
  );
  for (const notification of queuedAfter(events, through)) {
    if (!withdrawn.has(notification.id)) drafts.push({ type: 'notification_queued', notification });
  }
  // Notifications withdrawn later are withdrawn in the fork too.
  const pending = new Set(state.pending.notifications.map((notification) => notification.id));
  for (const event of events) {
    if (event.type !== 'notification_withdrawn' || event.seq <= through) continue;
    const ids = event.ids.filter((id) => pending.has(id));
    if (ids.length > 0) drafts.push({ type: 'notification_withdrawn', ids, reason: event.reason });
  }
  // Queued messages belong to the conversation in which the user wrote them.
  const queued = state.pending.queuedMessages.map((message) => message.id);
  if (queued.length > 0)
    drafts.push({ type: 'user_text_withdrawn', ids: queued, reason: 'it stays with the original' });
  if (state.turn.isOpen) drafts.push({ type: 'turn_ended', outcome: 'stopped' });
  const added = drafts.map((draft, index) => {
    const envelope = {
      v: EVENT_VERSION,
      seq: through + 1 + index,
      event_id: deps.ulid(),
      timestamp: deps.now,
    } as const;
    return { ...envelope, ...draft };
  });
  return succeeded([...shared, ...added]);
}

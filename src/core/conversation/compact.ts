// Writes the text of a compaction: the summary, reported states that still hold, and pending notifications. Pure.
import { wholeCharacters } from '../../base/text.ts';
import { type EventDraft } from '../../protocol/event.ts';
import { type Notification, printKind, READ_NOTIFICATIONS } from '../../protocol/notification.ts';
import { type TodoItem } from '../../protocol/todo.ts';
import { type Projections } from './projections/project.ts';

const MOST_FACTS = 40;
const FACT_LENGTH = 300;
const MOST_PENDING = 20;

type CompactionDraft = Extract<EventDraft, { type: 'compaction' }>;

/**
 * The last event that a compaction may include now, so that the last `keep` messages stay as they are and no tool call
 * is separated from its result. Undefined inside a cycle, or if there is nothing to compact.
 */
export function safeCompactionPoint(state: Projections, keep = 0): number | undefined {
  if (state.turn.unanswered.length > 0) return undefined;
  return state.messages.cycleEnd(keep);
}

/** The event that replaces everything up to and including `through` for the model; the originals stay in the log. */
export function compactionDraft(state: Projections, summary: string, through: number): CompactionDraft {
  const facts = state.outstanding.facts.filter((fact) => fact.seq <= through).map((fact) => fact.notification);
  const parts = [
    'Summary of the conversation so far (the original is no longer shown):',
    summary.trim(),
    listed('Reported earlier and still true, the last state of each:', facts, MOST_FACTS, factLine),
    todoList(state.todo.items),
    handleList(state),
    listed('Pending, delivered in full with the next result or request:', newestPending(state), MOST_PENDING, nameLine),
  ];
  return { type: 'compaction', summary: parts.filter((part) => part !== '').join('\n\n'), through };
}

function todoList(items: readonly TodoItem[]): string {
  if (items.length === 0) return '';
  return ['Your to-do list:', ...items.map(({ state, text }) => `- [${state}] ${text}`)].join('\n');
}

/** The model must remember its running handles, to use or stop them. */
function handleList({ handles }: Projections): string {
  const names = handles.all.filter(({ ended }) => !ended).map(({ name }) => name);
  if (names.length === 0) return '';
  return `Your running handles, as last reported: ${names.join(', ')}. List the handles for their current state.`;
}

function listed<T>(head: string, items: readonly T[], most: number, toLine: (item: T) => string): string {
  if (items.length === 0) return '';
  const left = items.length - most;
  const lines = items.slice(0, most).map((item) => `- ${toLine(item)}`);
  return [head, ...lines, ...(left > 0 ? [`- and ${left} more: ${READ_NOTIFICATIONS} lists them.`] : [])].join('\n');
}

/** The newest of each kind and subject. */
function newestPending(state: Projections): Notification[] {
  const newest = new Map<string, Notification>();
  for (const notification of state.pending.notifications) {
    const { kind, subject, id } = notification;
    newest.set(subject === undefined ? id : JSON.stringify([printKind(kind), subject]), notification);
  }
  return [...newest.values()];
}

/** Only the first line, which says what happened: a diff refers to bytes that are no longer shown. */
function factLine(notification: Notification): string {
  const line = (notification.message.split('\n')[0] ?? '').replace(/:$/, '');
  const text = line.length > FACT_LENGTH ? `${wholeCharacters(line, FACT_LENGTH)}…` : line;
  return `${printKind(notification.kind)} at ${notification.at.slice(11, 19)}: ${text}`;
}

function nameLine(notification: Notification): string {
  return `${printKind(notification.kind)} ${notification.subject ?? ''}`.trim();
}

// Decides what a compaction says: the summary, and again what is still true or still to be told. Between cycles only. Pure.
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
 * The last event that a compaction made now may reach through such that the last `keep` messages stay as they are and no
 * tool call is parted from its result. Undefined inside a cycle, or if there is nothing to compact.
 */
export function safeCompactionPoint(state: Projections, keep = 0): number | undefined {
  if (state.turn.unanswered.length > 0) return undefined;
  return state.messages.cycleEnd(keep);
}

/** The event that replaces, for the model, everything up to and including `through`; the originals stay in the log. */
export function compactionDraft(state: Projections, summary: string, through: number): CompactionDraft {
  const facts = state.standing.facts.filter((fact) => fact.seq <= through).map((fact) => fact.notification);
  const parts = [
    'Summary of the conversation so far (the original is no longer shown):',
    summary.trim(),
    listed('Told earlier and still true, the last state of each:', facts, MOST_FACTS, factLine),
    todoList(state.todo.items),
    handleList(state),
    listed(
      'Waiting to be told, in full with the next result or request:',
      newestPending(state),
      MOST_PENDING,
      nameLine,
    ),
  ];
  return { type: 'compaction', summary: parts.filter((part) => part !== '').join('\n\n'), through };
}

/** Written by the model itself, so it reads it again as it wrote it. */
function todoList(items: readonly TodoItem[]): string {
  if (items.length === 0) return '';
  return ['Your to-do list:', ...items.map(({ state, text }) => `- [${state}] ${text}`)].join('\n');
}

/** Nobody who forgets a server that he started can use or end it. */
function handleList({ handles }: Projections): string {
  const names = handles.all.filter(({ ended }) => !ended).map(({ name }) => name);
  if (names.length === 0) return '';
  return `Your handles that run, as far as you were told: ${names.join(', ')}. handle list shows how they stand.`;
}

function listed<T>(head: string, items: readonly T[], most: number, print: (item: T) => string): string {
  if (items.length === 0) return '';
  const left = items.length - most;
  const lines = items.slice(0, most).map((item) => `- ${print(item)}`);
  return [head, ...lines, ...(left > 0 ? [`- and ${left} more: ${READ_NOTIFICATIONS} lists them.`] : [])].join('\n');
}

/** One for each kind and subject. */
function newestPending(state: Projections): Notification[] {
  const newest = new Map<string, Notification>();
  for (const notification of state.pending.notifications) {
    const { kind, subject, id } = notification;
    newest.set(subject === undefined ? id : JSON.stringify([printKind(kind), subject]), notification);
  }
  return [...newest.values()];
}

/** A diff belongs to what is no longer shown: its first line says what happened. */
function factLine(notification: Notification): string {
  const line = (notification.message.split('\n')[0] ?? '').replace(/:$/, '');
  const text = line.length > FACT_LENGTH ? `${wholeCharacters(line, FACT_LENGTH)}…` : line;
  return `${printKind(notification.kind)} at ${notification.at.slice(11, 19)}: ${text}`;
}

function nameLine(notification: Notification): string {
  return `${printKind(notification.kind)} ${notification.subject ?? ''}`.trim();
}

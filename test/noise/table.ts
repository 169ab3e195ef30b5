// Prints the replayed hour as a table: each step of the user, the notifications delivered for it, and why, or why none.
import { estimateTokens } from '../../src/core/conversation/tokens.ts';
import { type LogEvent } from '../../src/protocol/event.ts';
import { type Notification } from '../../src/protocol/notification.ts';
import { type Recorded } from './recorded.ts';

/** A step of the user; `at` in milliseconds since the beginning. */
export interface Step {
  readonly label: string;
  readonly at: number;
}

export interface Delivered {
  readonly minutes: number;
  /** During which step each notification was queued, by its id. */
  readonly steps: ReadonlyMap<string, Step>;
  readonly events: readonly LogEvent[];
  readonly errors: readonly string[];
}

const WHY: Readonly<Record<string, string>> = {
  'file.changed': 'it has read the file, and what it read is out of date',
  'file.workspace': 'one line of counts beside the user’s words',
  'task.ended': 'a task of the user’s has ended',
  'terminal.failed': 'a command of the user’s failed and has not succeeded since',
  'git.head_changed': 'git made another of what it has read',
  'diagnostics.introduced': 'a file that it has read has a new problem',
  'diagnostics.resolved': 'a problem that was reported is gone',
};

/** Why nothing was queued, by step. */
const SILENT: Readonly<Record<string, string>> = {
  'builds by the task': 'a first success changes nothing for the model',
  'looks around': 'opening a file changes nothing',
  'runs the tests': 'a command that succeeds is not reported',
  'saves equal bytes': 'the bytes are those that it has read',
  'saves files that were not read': 'counted in the line beside the user’s next words',
  'lets the formatter go over everything': 'no byte of what it has read becomes another',
  commits: 'a commit changes no file',
  'builds by the task, and tests':
    'the build still succeeds, as was reported or assumed; dist is ignored by git and nobody has read it',
  'renames a file that was not read': 'counted in the line beside the user’s next words',
  'builds everything anew': 'dist is ignored by git and nobody has read it; what succeeds is not reported',
  'runs the tests with their coverage':
    'the report is ignored by git and nobody has read it; what succeeds is not reported',
  'discards it': 'the file is again as it was read',
  'stops the watcher': 'the watcher was never reported, so its end is not either',
};

function carriedIn(events: readonly LogEvent[]) {
  return events.flatMap((event) =>
    event.type === 'chat_request' || event.type === 'tool_call_response' ? (event.notifications ?? []) : [],
  );
}

export function tokensIn(events: readonly LogEvent[]): number {
  return carriedIn(events).reduce((sum, { text }) => sum + estimateTokens(text), 0);
}

/** The notifications that the model counts: one element may report several. */
export function elementsIn(events: readonly LogEvent[]): number {
  return carriedIn(events).reduce((sum, { text }) => sum + text.split('<notification ').length - 1, 0);
}

export function shownIn(events: readonly LogEvent[]): readonly Notification[] {
  const shown = new Set(carriedIn(events).flatMap((carried) => carried.shown));
  return queuedIn(events).filter(({ id }) => shown.has(id));
}

export function printTable(recording: readonly Recorded[], delivered: Delivered, head: readonly string[]): string {
  const shown = shownIn(delivered.events).map((one) => ({ one, step: delivered.steps.get(one.id) }));
  const rows = shown.map(
    ({ one, step }) =>
      `${minuteOf(step?.at ?? 0)} | ${step?.label ?? ''} | ${kindOf(one)} | ${firstLine(one)} | ${WHY[kindOf(one)] ?? 'NO REASON'}`,
  );
  const steps = recording.filter((entry) => entry.type === 'step');
  const quiet = steps.flatMap((step) => {
    if (shown.some((one) => one.step?.at === step.at)) return [];
    const why = describeUndelivered(delivered, step);
    return [`${minuteOf(step.at)} | ${step.label} | ${why === '' ? (SILENT[step.label] ?? 'NO REASON') : why}`];
  });
  return [
    ...head,
    '',
    'minute | what was done | kind | the first line for the model | why',
    ...rows,
    '',
    'minute | what was done and not reported | why',
    ...quiet,
    '',
    'touched files | how often | why they are not named',
    ...printPlaces(recording),
    '',
  ].join('\n');
}

/** The notifications of this step that were not delivered, with the reasons in the log. */
function describeUndelivered({ events, steps }: Delivered, step: Step): string {
  const reasons = new Map<string, number>();
  const withdrawn = events.filter((event) => event.type === 'notification_withdrawn');
  const merged = new Set(carriedIn(events).flatMap((carried) => carried.merged));
  for (const one of queuedIn(events)) {
    if (steps.get(one.id)?.at !== step.at) continue;
    const reason = withdrawn.find(({ ids }) => ids.includes(one.id))?.reason;
    const became = merged.has(one.id) ? 'a newer word on the same is shown' : 'counted';
    const line = `${kindOf(one)}: ${reason === undefined ? became : `withdrawn, ${reason}`}`;
    reasons.set(line, (reasons.get(line) ?? 0) + 1);
  }
  return [...reasons].map(([line, count]) => `${count} × ${line}`).join('; ');
}

/** Folders whose files did not cause notifications of single files. */
function printPlaces(recording: readonly Recorded[]): string[] {
  const touched = recording.filter((entry) => entry.type === 'touch');
  const row = (place: string, why: string) =>
    `${place} | ${touched.filter(({ path }) => path === place || path.startsWith(`${place}/`)).length} | ${why}`;
  return [
    row('dist', '.gitignore names it and nobody has read it'),
    row('node_modules', 'the same'),
    row('coverage', 'the same'),
    row('.git', 'git’s own files'),
    row('src/teas', 'nobody has read them: git reports their number'),
  ];
}

function queuedIn(events: readonly LogEvent[]): Notification[] {
  return events.flatMap((event) => (event.type === 'notification_queued' ? [event.notification] : []));
}

function kindOf({ kind: { source, name } }: Notification): string {
  return `${source}.${name}`;
}

function firstLine({ message }: Notification): string {
  return message.split('\n')[0] ?? '';
}

function minuteOf(at: number): number {
  return Math.round(at / 6000) / 10;
}

// Prints a conversation for golden files so that two runs print the same: numbered ids, no times or addresses.
import { type PartialAnswer as Drawn } from '../../../src/core/ports/ports.ts';
import { type LogEvent } from '../../../src/protocol/event.ts';
import { type ReceivedRequest } from '../models/scriptedServer.ts';

export interface Walk {
  /** The lines of events.jsonl. */
  readonly events: string;
  /** The logs of other conversations in the walk. */
  readonly others?: readonly string[];
  readonly requests: readonly ReceivedRequest[];
  readonly drawn: readonly Drawn[];
}

/** Leaves out the texts of system prompt and tools, which have their own tests. */
export function printWalk({ events, others = [], requests, drawn }: Walk): string {
  const lines = [
    '# Log',
    ...printLog(events),
    '',
    ...others.flatMap((other) => ['# Log of the other conversation', ...printLog(other), '']),
    '# Requests',
    ...requests.flatMap(printRequest),
    '',
    '# Drawn besides the answers',
    ...drawn.filter(({ type }) => type === 'retrying' || type === 'retrying_ended').map((one) => JSON.stringify(one)),
    '',
  ];
  return stable(lines.join('\n'));
}

function printLog(events: string): string[] {
  return printEvents(approvalsInOrder(events.trimEnd().split('\n').map(parse).filter(isOfTheTurn)));
}

/** Sorts approvals, which are in any order in the log if calls run concurrently. */
function approvalsInOrder(events: readonly LogEvent[]): LogEvent[] {
  return events.reduce<LogEvent[]>((sorted, event) => {
    let at = sorted.length;
    for (let before = sorted[at - 1]; isAfter(before, event); before = sorted[at - 1]) at -= 1;
    return sorted.toSpliced(at, 0, event);
  }, []);
}

function isAfter(one: LogEvent | undefined, other: LogEvent): boolean {
  return one?.type === 'approval' && other.type === 'approval' && one.tool_call_id > other.tool_call_id;
}

function parse(line: string): LogEvent {
  return JSON.parse(line) as LogEvent;
}

/** Titles are left out because they arrive at any time. */
function isOfTheTurn(event: LogEvent): boolean {
  return event.type !== 'title_set' && !(event.type === 'model_call' && event.purpose === 'title');
}

/** Replaces `through` with the number of printed events up to it. */
function printEvents(events: readonly LogEvent[]): string[] {
  const reached = (through: number) => events.filter((event) => event.seq <= through).length;
  return events.map((event) => {
    if (event.type === 'compaction' || event.type === 'forked')
      return printEvent({ ...event, through: reached(event.through) });
    if (!('notifications' in event) || event.notifications === undefined) return printEvent(event);
    const { notifications } = event;
    return printEvent({ ...event, notifications: { ...notifications, through: reached(notifications.through) } });
  });
}

function printEvent(event: LogEvent): string {
  const envelope = new Set(['v', 'seq', 'event_id', 'timestamp', 'crc', 'type']);
  const rest = Object.entries(event).filter(([name]) => !envelope.has(name));
  return `${event.type} ${JSON.stringify(Object.fromEntries(rest))}`;
}

function printRequest({ body }: ReceivedRequest, number: number): string[] {
  const { messages } = JSON.parse(body) as { messages: { role: string }[] };
  const printed = messages.slice(1).map((message) => `  ${JSON.stringify(message)}`);
  return [`request ${number + 1}`, ...printed];
}

function stable(text: string): string {
  const ids = new Map<string, string>();
  const keys = new Set([...text.matchAll(/^conversation_started .*?"key":"([\w-]+)"/gm)].map(([, key]) => key ?? ''));
  return [...keys]
    .reduce((rest, key, index) => rest.replaceAll(key, index === 0 ? 'KEY' : `KEY${index + 1}`), text)
    .replace(/[0-7][0-9A-HJKMNP-TV-Z]{25}/g, (id) => {
      const known = ids.get(id) ?? `#${ids.size + 1}`;
      ids.set(id, known);
      return known;
    })
    .replace(/(The tools are: )[\w, ]+\./g, '$1TOOLS.')
    .replace(/[\u202a-\u202e\u2066-\u2069]/g, (mark) => `\\u${mark.charCodeAt(0).toString(16)}`)
    .replace(/127\.0\.0\.1:\d+/g, 'HOST')
    .replace(/(.{16,48}?)\1{999,}/g, (all, unit: string) => `REPEATED(${unit}, ${all.length / unit.length} times)`);
}

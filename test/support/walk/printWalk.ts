// Prints a conversation for golden files. Two runs print the same: ids are numbered, times and addresses are left out.
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

/**
 * Prints everything but the system prompt and the tools, which have their own tests. A block is printed once, where it
 * entered the log. A request prints only the messages that the previous request did not have.
 */
export function printWalk({ events, others = [], requests, drawn }: Walk): string {
  const blocks = new Blocks();
  const lines = [
    '# Log',
    ...printLog(events, blocks),
    '',
    ...others.flatMap((other) => ['# Log of the other conversation', ...printLog(other, blocks), '']),
    '# Requests',
    ...requests.flatMap((request, number) => printRequest(messagesOf(request), number, requests[number - 1], blocks)),
    '',
    '# Drawn besides the answers',
    ...drawn.filter(({ type }) => type === 'retrying' || type === 'retrying_ended').map((one) => JSON.stringify(one)),
    '',
  ];
  return stable(lines.join('\n'));
}

/** The notification blocks of a walk, numbered in the order in which they entered the log. */
class Blocks {
  readonly #numbers = new Map<string, number>();

  /** The lines that print the block at its first occurrence. */
  enter(text: string): { name: string; lines: string[] } {
    if (text === '') return { name: '', lines: [] };
    const known = this.#numbers.get(text);
    if (known !== undefined) return { name: nameBlock(known), lines: [] };
    const number = this.#numbers.size + 1;
    this.#numbers.set(text, number);
    return { name: nameBlock(number), lines: [`    block ${number}`, ...indentText(text)] };
  }

  /** Replaces each block in the text by its name. */
  abbreviate(text: string): string {
    const longestFirst = [...this.#numbers].sort(([one], [other]) => other.length - one.length);
    return longestFirst.reduce((rest, [block, number]) => rest.replaceAll(block, nameBlock(number)), text);
  }
}

function nameBlock(number: number): string {
  return `[block ${number}]`;
}

/** Puts a bar before each line, so that blank lines and the end of the text are visible. */
function indentText(text: string): string[] {
  return text.split('\n').map((line) => `    |${line === '' ? '' : ` ${line}`}`);
}

function printLog(events: string, blocks: Blocks): string[] {
  return printEvents(approvalsInOrder(events.trimEnd().split('\n').map(parse).filter(isOfTheTurn)), blocks);
}

/** Sorts approvals, whose order in the log varies if calls run concurrently. */
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

/** Titles are left out because they arrive at any time; the prompt and the tools have their own tests. */
function isOfTheTurn(event: LogEvent): boolean {
  if (event.type === 'config_used' && event.prefix !== undefined) return false;
  return event.type !== 'title_set' && !(event.type === 'model_call' && event.purpose === 'title');
}

/** A number of another event is printed as the count of printed events up to that one. */
function printEvents(events: readonly LogEvent[], blocks: Blocks): string[] {
  const reached = (through: number) => events.filter((event) => event.seq <= through).length;
  return events.flatMap((event) => {
    if (event.type === 'compaction' || event.type === 'forked')
      return [printEvent({ ...event, through: reached(event.through) })];
    if (!('notifications' in event) || event.notifications === undefined) return [printEvent(event)];
    const { notifications } = event;
    const { name, lines } = blocks.enter(notifications.text);
    const printed = { ...notifications, text: name, through: reached(notifications.through) };
    return [printEvent({ ...event, notifications: printed }), ...lines];
  });
}

function printEvent(event: LogEvent): string {
  // How a request was printed has its length and checksum, which depend on the key.
  const envelope = new Set(['v', 'seq', 'event_id', 'timestamp', 'crc', 'type', 'sent']);
  const rest = Object.entries(event).filter(([name]) => !envelope.has(name));
  return `${event.type} ${JSON.stringify(Object.fromEntries(rest))}`;
}

interface PrintedMessage {
  readonly role: string;
  readonly content?: unknown;
}

/** The messages without the system prompt. */
function messagesOf({ body }: ReceivedRequest): readonly PrintedMessage[] {
  return (JSON.parse(body) as { messages: PrintedMessage[] }).messages.slice(1);
}

function printRequest(
  messages: readonly PrintedMessage[],
  number: number,
  previous: ReceivedRequest | undefined,
  blocks: Blocks,
): string[] {
  const before = (previous === undefined ? [] : messagesOf(previous)).map((message) => JSON.stringify(message));
  const changed = messages.findIndex((message, index) => JSON.stringify(message) !== before[index]);
  const same = changed === -1 ? messages.length : changed;
  return [
    `request ${number + 1}`,
    ...(same === 0 ? [] : [`  as before: ${same} of ${before.length}`]),
    ...messages.slice(same).flatMap((message) => printMessage(message, blocks)),
  ];
}

/** Prints texts with several lines or a block unchanged, and everything else as JSON. */
function printMessage({ role, content, ...rest }: PrintedMessage, blocks: Blocks): string[] {
  const text = typeof content === 'string' ? blocks.abbreviate(content) : undefined;
  if (text === undefined || !text.includes('\n')) {
    const printed = content === undefined ? rest : { content: text ?? content, ...rest };
    return [`  ${role} ${JSON.stringify(printed)}`];
  }
  return [`  ${role}${Object.keys(rest).length === 0 ? '' : ` ${JSON.stringify(rest)}`}`, ...indentText(text)];
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
    .replace(/"folders":\["[^"]+"\]/g, '"folders":["FOLDER"]')
    .replace(/127\.0\.0\.1:\d+/g, 'HOST')
    .replace(/(.{16,48}?)\1{999,}/g, (all, unit: string) => `REPEATED(${unit}, ${all.length / unit.length} times)`);
}

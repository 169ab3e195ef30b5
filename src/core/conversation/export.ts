// Exports a conversation as Markdown or JSON, with its key masked. Pure.
import { knownToolLabel, otherToolName } from '../../base/toolLabels.ts';
import { fenceAround, wholeCharacters } from '../../base/text.ts';
import { type Carried, type EventOf, type LogEvent } from '../../protocol/event.ts';
import { Projections } from './projections/project.ts';

export interface ExportedConversation {
  readonly id: string;
  readonly events: readonly LogEvent[];
}

/** Every event as it is in the log. */
export function exportJson({ id, events }: ExportedConversation): string {
  const text = JSON.stringify({ conversation: id, title: titleOf(events), events }, null, 2);
  return `${masked(text, events)}\n`;
}

const SUMMARY_LENGTH = 100;
const ANSWER = '## Earshot';

/** For people: messages as text; calls with their results, reasoning and notifications are collapsed. */
export function exportMarkdown({ id, events }: ExportedConversation): string {
  const title = titleOf(events) || 'Conversation';
  const begun = events[0]?.timestamp.replace(/T(\d\d:\d\d).*/, ' $1 UTC') ?? 'empty';
  const parts = [`# ${oneLine(title)}`, `Earshot, conversation ${id}, ${begun}.`];
  const skipped = new Set(events.flatMap(messagesShownElsewhere));
  const results = new Map(events.flatMap((event) => (event.type === 'tool_call_response' ? [[event.id, event]] : [])));
  let speaker = '';
  for (const event of events) {
    if (skipped.has(event.event_id)) continue;
    for (const part of printEvent(event, results)) {
      // The cycles of one turn are one answer.
      if (part === speaker) continue;
      if (part.startsWith('## ')) speaker = part === ANSWER ? part : '';
      parts.push(part);
    }
  }
  return `${masked(parts.join('\n\n'), events)}\n`;
}

/** Queued messages that became a request of their own or were withdrawn. */
function messagesShownElsewhere(event: LogEvent): readonly string[] {
  if (event.type === 'user_text_withdrawn') return event.ids;
  if (event.type !== 'chat_request' || event.notifications === undefined) return [];
  const { text, user, user_text: ids } = event.notifications;
  // Messages that were delivered apart from the request are printed where they were queued.
  const isApart = user === undefined ? text.includes('<user_message') : user.length > 0;
  return isApart ? [] : ids;
}

function printEvent(event: LogEvent, results: ReadonlyMap<string, EventOf<'tool_call_response'>>): string[] {
  switch (event.type) {
    case 'chat_request': {
      const who = event.source === 'user' ? 'You' : 'Automated event';
      return [...printCarried(event.notifications), `## ${who}`, ...printTyped(event)];
    }
    case 'chat_response':
      return [
        ANSWER,
        ...(event.reasoning === undefined ? [] : collapsed('Reasoning', [quoted(event.reasoning)])),
        ...(event.message === undefined ? [] : [event.message]),
        ...(event.truncated === true ? ['*(cut off here)*'] : []),
      ];
    case 'tool_call_request': {
      const text = event.arguments_text ?? JSON.stringify(event.arguments, null, 2);
      const result = results.get(event.id);
      const outcome = result === undefined ? ' (no result)' : result.is_error ? ' (failed)' : '';
      const name = knownToolLabel(event.name) ?? otherToolName(event.name);
      return collapsed(`${name}: ${firstText(event.arguments)}${outcome}`, [
        fenced(text, 'json'),
        ...(result === undefined ? [] : [`**${result.is_error ? 'Failed' : 'Result'}:**`, fenced(result.content)]),
      ]);
    }
    case 'approval':
      return [
        `*${printAnswerer(event)}: ${event.action}${event.reason === undefined ? '' : `, “${oneLine(event.reason)}”`}*`,
      ];
    case 'tool_call_response':
      // The content is printed with the call.
      return printCarried(event.notifications);
    case 'inquiry_request':
      return [
        '### Question',
        event.question,
        ...[...(event.options ?? []), ...(event.fields ?? []).map(({ label }) => label)].map(
          (option) => `- ${oneLine(option)}`,
        ),
      ];
    case 'inquiry_response':
      return [`*${printAnswerer(event)}:* ${[event.answer].flat().map(oneLine).join(', ')}`];
    case 'user_text_queued':
      return ['## You, meanwhile', ...printTyped(event)];
    case 'compaction':
      return ['### Compacted: from here on the model reads this instead', quoted(event.summary)];
    case 'results_dropped':
      return ['*From here on the model reads one line instead of each long result above.*'];
    case 'turn_ended':
      return event.outcome === 'done' ? [] : [`*Turn ended: ${event.failure?.message ?? event.outcome}*`];
    case 'forked':
      return [`*Forked from ${event.from}${event.through > 0 ? ` after event ${event.through}` : ''}.*`];
    default:
      return [];
  }
}

/** What the user typed; the text of a prompt file or skill is collapsed. */
function printTyped({ content, typed }: Pick<EventOf<'chat_request'>, 'content' | 'typed'>): string[] {
  return typed === undefined ? [content] : [typed, ...collapsed('Text sent to the model', [quoted(content)])];
}

function printCarried(notifications: Carried | undefined): string[] {
  if (notifications === undefined || notifications.text === '') return [];
  return collapsed('Notifications delivered to the model', [fenced(notifications.text, 'xml')]);
}

/** A block that viewers of Markdown show as its summary until it is opened. */
function collapsed(summary: string, parts: readonly string[]): string[] {
  const text = wholeCharacters(oneLine(summary), SUMMARY_LENGTH).replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  return [`<details>\n<summary>${text}</summary>`, ...parts, '</details>'];
}

/** The argument that says most about a call: the first that is text. */
function firstText(args: unknown): string {
  const values = typeof args === 'object' && args !== null ? Object.values(args) : [];
  return values.find((value) => typeof value === 'string') ?? '';
}

function printAnswerer({ by, program }: EventOf<'approval' | 'inquiry_response'>): string {
  return program === undefined ? by : `${by} (process ${program.pid}: ${oneLine(program.command)})`;
}

/** The fence is longer than any inside the text. */
function fenced(text: string, language = ''): string {
  const fence = fenceAround(text);
  return `${fence}${language}\n${text}\n${fence}`;
}

function quoted(text: string): string {
  return text
    .split('\n')
    .map((line) => `> ${line}`)
    .join('\n');
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

function titleOf(events: readonly LogEvent[]): string {
  const state = new Projections();
  for (const event of events) state.summary.fold(event);
  return state.summary.title;
}

/** Masks the key, because anybody who has it could forge a notification block. */
function masked(text: string, events: readonly LogEvent[]): string {
  const keys = events.flatMap((event) => (event.type === 'conversation_started' ? [event.key] : []));
  return keys.reduce((masking, key) => (key === '' ? masking : masking.replaceAll(key, '•••')), text);
}

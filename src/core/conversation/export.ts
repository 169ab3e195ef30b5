// Decides what an exported conversation looks like, for people (Markdown) and for programs (JSON). The key is masked. Pure.
import { fenceAround } from '../../base/text.ts';
import { type Carried, type LogEvent } from '../../protocol/event.ts';
import { Projections } from './projections/project.ts';

export interface ExportedConversation {
  readonly id: string;
  readonly events: readonly LogEvent[];
}

/** Every event as it stands in the log. */
export function exportJson({ id, events }: ExportedConversation): string {
  const text = JSON.stringify({ conversation: id, title: titleOf(events), events }, null, 2);
  return `${masked(text, events)}\n`;
}

export function exportMarkdown({ id, events }: ExportedConversation): string {
  const title = titleOf(events) || 'Conversation';
  const parts = [`# ${oneLine(title)}`, `Earshot, conversation ${id}, ${events[0]?.timestamp ?? 'empty'}.`];
  const told = new Set(events.flatMap(wordsToldElsewhere));
  for (const event of events) if (!told.has(event.event_id)) for (const part of print(event)) parts.push(part);
  return `${masked(parts.join('\n\n'), events)}\n`;
}

/** Queued words that became a request of their own, or were taken back. */
function wordsToldElsewhere(event: LogEvent): readonly string[] {
  if (event.type === 'user_text_withdrawn') return event.ids;
  if (event.type !== 'chat_request' || event.notifications === undefined) return [];
  // In the block they are told as what was written meanwhile.
  return event.notifications.text.includes('<user_message') ? [] : event.notifications.user_text;
}

function print(event: LogEvent): string[] {
  switch (event.type) {
    case 'chat_request': {
      const who = event.source === 'user' ? 'You' : 'Automated event';
      return [...carried(event.notifications), `## ${who}`, event.content];
    }
    case 'chat_response':
      return [
        '## Earshot',
        ...(event.reasoning === undefined ? [] : [quoted(event.reasoning)]),
        ...(event.message === undefined ? [] : [event.message]),
        ...(event.truncated === true ? ['*(cut off here)*'] : []),
      ];
    case 'tool_call_request': {
      const text = event.arguments_text ?? JSON.stringify(event.arguments, null, 2);
      return [`### Tool call: ${oneLine(event.name)}`, fenced(text, 'json')];
    }
    case 'approval':
      return [`*${event.by}: ${event.action}${event.reason === undefined ? '' : `, “${oneLine(event.reason)}”`}*`];
    case 'tool_call_response':
      return [`#### ${event.is_error ? 'Failed' : 'Result'}`, fenced(event.content), ...carried(event.notifications)];
    case 'inquiry_request':
      return ['### Question', event.question, ...(event.options ?? []).map((option) => `- ${oneLine(option)}`)];
    case 'inquiry_response':
      return [`*${event.by}:* ${[event.answer].flat().map(oneLine).join(', ')}`];
    case 'user_text_queued':
      return ['## You, meanwhile', event.content];
    case 'compaction':
      return ['### Compacted: from here on the model reads this instead', quoted(event.summary)];
    case 'turn_ended':
      return event.outcome === 'done' ? [] : [`*Turn ended: ${event.failure?.message ?? event.outcome}*`];
    case 'forked':
      return [`*Forked from ${event.from} after event ${event.through}.*`];
    default:
      return [];
  }
}

function carried(notifications: Carried | undefined): string[] {
  if (notifications === undefined || notifications.text === '') return [];
  return ['**Told to the model:**', fenced(notifications.text, 'xml')];
}

/** A fence longer than any inside it. */
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

/** Whoever has the key can make a block that passes for ours. */
function masked(text: string, events: readonly LogEvent[]): string {
  const keys = events.flatMap((event) => (event.type === 'conversation_started' ? [event.key] : []));
  return keys.reduce((masking, key) => (key === '' ? masking : masking.replaceAll(key, '•••')), text);
}

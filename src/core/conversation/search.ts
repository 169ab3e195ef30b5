// Finds text in a conversation: in the user's messages and the answers, newest first. Pure.
import { wholeCharacters } from '../../base/text.ts';
import { type LogEvent } from '../../protocol/event.ts';

const BEFORE = 30;
const LONGEST = 120;

/** One line of the text around the newest match; undefined if nothing matches. */
export function findExcerpt(events: readonly LogEvent[], query: string): string | undefined {
  const wanted = query.toLowerCase();
  if (wanted === '') return undefined;
  for (const event of events.toReversed()) {
    const text = searchedText(event);
    const place = text?.toLowerCase().indexOf(wanted) ?? -1;
    if (text !== undefined && place !== -1) return excerptAt(text, place);
  }
  return undefined;
}

function searchedText(event: LogEvent): string | undefined {
  if (event.type === 'chat_request' && event.source === 'user') return event.content;
  return event.type === 'chat_response' ? event.message : undefined;
}

function excerptAt(text: string, place: number): string {
  const from = Math.max(0, place - BEFORE);
  const line = text
    .slice(from, from + LONGEST * 2)
    .replace(/\s+/g, ' ')
    .trim();
  return `${from > 0 ? '…' : ''}${wholeCharacters(line, LONGEST)}${line.length > LONGEST ? '…' : ''}`;
}

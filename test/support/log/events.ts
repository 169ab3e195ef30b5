// Helpers to write a log by hand: events, numbered and folded.
import { Projections } from '../../../src/core/conversation/projections/project.ts';
import { EVENT_VERSION, type EventDraft, type LogEvent } from '../../../src/protocol/event.ts';
import { type Notification } from '../../../src/protocol/notification.ts';
import { shippedTools } from '../shippedTools.ts';

export function numbered(...drafts: EventDraft[]): LogEvent[] {
  return drafts.map((draft, index) => {
    const seq = index + 1;
    const envelope = { v: EVENT_VERSION, seq, event_id: `event-${seq}`, timestamp: '2026-01-02T03:04:05.000Z' };
    return { ...envelope, ...draft } as LogEvent;
  });
}

export function folded(events: Iterable<LogEvent>): Projections {
  const state = new Projections(shippedTools);
  for (const event of events) state.fold(event);
  return state;
}

export const started: EventDraft = { type: 'conversation_started', key: 'the-secret-key' };
export const turnStarted: EventDraft = { type: 'turn_started', source: 'user' };
export const succeededCall: EventDraft = { type: 'model_call', model: 'm', outcome: 'succeeded' };

export function request(content: string): EventDraft {
  return { type: 'chat_request', content, source: 'user' };
}

export function call(id: string): EventDraft {
  return { type: 'tool_call_request', id, name: 'read_file', arguments: { path: 'a.ts' } };
}

export function queued(notification: Notification): EventDraft {
  return { type: 'notification_queued', notification };
}

/** A tool response that delivers these notifications. */
export function result(id: string, through = 0, shown: string[] = [], more: object = {}): EventDraft {
  const lists = { user_text: [], shown, merged: [], counted: [], filtered: [], ...more };
  const notifications = { format: 'xml', text: `<block of ${shown.join()}>`, through, ...lists } as const;
  const response = { type: 'tool_call_response', id, content: `result of ${id}`, is_error: false } as const;
  return shown.length === 0 && through === 0 ? response : { ...response, notifications };
}

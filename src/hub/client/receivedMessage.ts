// A message for an agent, made from a push or from a listing after a reconnect.
import * as z from 'zod';
import { type IncomingMessage } from '../../core/ports/agentHub.ts';
import { type HubMessage, type MatchType } from '../../protocol/hub.ts';
import { previewOf } from '../preview.ts';

const pushSchema = z.object({
  message_id: z.string(),
  thread_id: z.string().nullable(),
  author: z.object({ agent_id: z.string(), role: z.string() }),
  preview: z.string(),
  scopes: z.array(z.object({ type: z.string(), value: z.string() })),
  matched_subscription: z.object({ match_type: z.enum(['mention', 'scope', 'all']) }),
  edited: z.boolean().optional(),
  cursor: z.string(),
  timestamp: z.string(),
});

/** A message for this agent, live or found after a reconnect. */
export interface ReceivedMessage extends Omit<IncomingMessage, 'conversation' | 'name' | 'hub'> {
  readonly thread: string | null;
}

/** Throws if the push is not a valid message. */
export function readPush(params: unknown): ReceivedMessage {
  const push = pushSchema.parse(params);
  return {
    id: push.message_id,
    thread: push.thread_id,
    author: push.author.agent_id,
    role: push.author.role,
    preview: push.preview,
    scopes: push.scopes,
    match: push.matched_subscription.match_type,
    edited: push.edited === true,
    cursor: push.cursor,
    at: push.timestamp,
  };
}

export function describeListed(message: HubMessage, match: MatchType): ReceivedMessage {
  const { author, body } = message;
  return {
    id: message.message_id,
    thread: message.thread_id,
    author: author.agent_id,
    role: author.role,
    preview: previewOf(body.content),
    scopes: message.scopes,
    match,
    edited: message.version > 1,
    cursor: message.cursor,
    at: message.updated_at ?? message.created_at,
  };
}

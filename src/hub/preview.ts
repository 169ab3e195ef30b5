// What is pushed of a message: its preview has the first 100 characters, without splitting a surrogate pair.
import { type HubMessage, type MessagePush } from '../protocol/hubMethods.ts';

const PREVIEW_LENGTH = 100;

export function previewOf(content: string): string {
  let end = 0;
  for (let count = 0; count < PREVIEW_LENGTH && end < content.length; count++) {
    end += (content.codePointAt(end) ?? 0) > 0xffff ? 2 : 1;
  }
  return end < content.length ? `${content.slice(0, end)}...` : content;
}

/** The fields of a message that a push contains. */
export type Announced = Pick<
  HubMessage,
  'message_id' | 'thread_id' | 'author' | 'scopes' | 'refs' | 'cursor' | 'created_at' | 'updated_at'
> & { readonly body: Pick<HubMessage['body'], 'content'> };

/** The same for a push and for a message that was listed after a reconnect. */
export function describePush(message: Announced, edited: boolean): Omit<MessagePush, 'matched_subscription'> {
  const { message_id, thread_id, author, body, scopes, cursor, created_at, updated_at } = message;
  return {
    message_id,
    thread_id,
    author,
    preview: previewOf(body.content),
    scopes,
    ...(edited && { edited }),
    cursor,
    timestamp: updated_at ?? created_at,
  };
}

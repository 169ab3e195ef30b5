// Rows of the message index as the protocol's objects, and the cursor that numbers them.
import { type HubMessage, type Pair, type ThreadHead } from '../protocol/hub.ts';

export type Row = Readonly<Record<string, unknown>>;

export function toMessage(row: Row, reader: string): HubMessage {
  const author = text(row, 'author');
  const structured = textOrNull(row, 'structured');
  const replyTo = textOrNull(row, 'reply_to');
  const updated = textOrNull(row, 'updated_at');
  return {
    message_id: text(row, 'message_id'),
    thread_id: textOrNull(row, 'thread_id'),
    ...(replyTo !== null && { reply_to: replyTo }),
    author: { agent_id: author, name: author, role: text(row, 'author_role'), module: text(row, 'author_module') },
    body: {
      format: text(row, 'format'),
      content: text(row, 'content'),
      ...(structured !== null && { structured: JSON.parse(structured) as unknown }),
    },
    scopes: JSON.parse(text(row, 'scopes')) as Pair[],
    refs: JSON.parse(text(row, 'refs')) as Pair[],
    created_at: text(row, 'created_at'),
    ...(updated !== null && { updated_at: updated }),
    version: number(row, 'version'),
    deleted: number(row, 'deleted') !== 0,
    is_read: author === reader || number(row, 'was_read') !== 0,
    cursor: printCursor(number(row, 'changed')),
  };
}

export function toThread(row: Row): ThreadHead {
  return {
    thread_id: text(row, 'thread_id'),
    title: text(row, 'title'),
    created_by: text(row, 'created_by'),
    created_at: text(row, 'created_at'),
    scopes: JSON.parse(text(row, 'scopes')) as Pair[],
  };
}

/** Opaque to clients: an arrival number. */
export function printCursor(n: number): string {
  return `c${n.toString(36)}`;
}

export function parseCursor(cursor: string): number | undefined {
  const n = /^c[0-9a-z]{1,11}$/.test(cursor) ? Number.parseInt(cursor.slice(1), 36) : Number.NaN;
  return Number.isSafeInteger(n) ? n : undefined;
}

export function text(row: Row, column: string): string {
  return textOrNull(row, column) ?? '';
}

export function textOrNull(row: Row, column: string): string | null {
  const value = row[column];
  return typeof value === 'string' ? value : null;
}

export function number(row: Row, column: string): number {
  return Number(row[column]);
}

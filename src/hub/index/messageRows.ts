// The tables of the message index, the conditions of queries, the conversion of rows to objects of the protocol, and
// cursors.
import { type Pair, type ThreadHead } from '../../protocol/hub.ts';
import { type HubMessage } from '../../protocol/hubMethods.ts';

/** The version of the tables. A file with another one is rebuilt. */
export const LAYOUT = 2;

/** `machine` is empty for messages of this machine. `changes` has the edits and deletions that were applied. */
export const TABLES = `
CREATE TABLE meta (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE files (name TEXT PRIMARY KEY, length INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE messages (
  n INTEGER PRIMARY KEY, changed INTEGER NOT NULL, event_id TEXT NOT NULL UNIQUE, message_id TEXT NOT NULL UNIQUE,
  thread_id TEXT, reply_to TEXT, author TEXT NOT NULL, author_role TEXT NOT NULL, author_module TEXT NOT NULL,
  format TEXT NOT NULL, content TEXT NOT NULL, structured TEXT, scopes TEXT NOT NULL, refs TEXT NOT NULL,
  created_at TEXT NOT NULL, updated_at TEXT, version INTEGER NOT NULL, deleted INTEGER NOT NULL, client_id TEXT,
  machine TEXT NOT NULL);
CREATE UNIQUE INDEX messages_changed ON messages(changed);
CREATE INDEX messages_thread ON messages(thread_id, n);
CREATE INDEX messages_author ON messages(author, n);
CREATE UNIQUE INDEX messages_client ON messages(machine, author, client_id) WHERE client_id IS NOT NULL;
CREATE TABLE changes (event_id TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE scopes (type TEXT NOT NULL, value TEXT NOT NULL, n INTEGER NOT NULL, PRIMARY KEY (type, value, n)) WITHOUT ROWID;
CREATE TABLE mentions (value TEXT NOT NULL, n INTEGER NOT NULL, PRIMARY KEY (value, n)) WITHOUT ROWID;
CREATE TABLE reads (agent TEXT NOT NULL, n INTEGER NOT NULL, PRIMARY KEY (agent, n)) WITHOUT ROWID;
CREATE TABLE threads (
  thread_id TEXT PRIMARY KEY, title TEXT NOT NULL, created_by TEXT NOT NULL, created_at TEXT NOT NULL,
  scopes TEXT NOT NULL, changed INTEGER NOT NULL, root TEXT) WITHOUT ROWID;
CREATE INDEX threads_changed ON threads(changed);
CREATE INDEX threads_root ON threads(root, thread_id) WHERE root IS NOT NULL;
`;

export interface MessageFilter {
  readonly scope?: Pair | undefined;
  readonly mention?: string | undefined;
  readonly thread?: string | undefined;
  readonly author?: string | undefined;
  readonly unread?: boolean | undefined;
}

export interface ThreadSummary extends ThreadHead {
  readonly message_count: number;
  readonly unread_count: number;
  readonly last_activity: string;
  readonly last_sender: string;
  readonly preview: string;
  /** The arrival number of the last change. */
  readonly changed: number;
}

export type Value = string | number | null;
export type Row = Readonly<Record<string, unknown>>;

export function toMessage(row: Row, reader: string): HubMessage {
  const author = text(row, 'author');
  const structured = textOrNull(row, 'structured');
  const machine = text(row, 'machine');
  return {
    message_id: text(row, 'message_id'),
    thread_id: textOrNull(row, 'thread_id'),
    reply_to: textOrNull(row, 'reply_to') ?? undefined,
    author: {
      agent_id: author,
      name: author,
      role: text(row, 'author_role'),
      module: text(row, 'author_module'),
      machine: machine === '' ? undefined : machine,
    },
    body: {
      format: text(row, 'format'),
      content: text(row, 'content'),
      structured: structured === null ? undefined : (JSON.parse(structured) as unknown),
    },
    scopes: JSON.parse(text(row, 'scopes')) as Pair[],
    refs: JSON.parse(text(row, 'refs')) as Pair[],
    created_at: text(row, 'created_at'),
    updated_at: textOrNull(row, 'updated_at') ?? undefined,
    version: number(row, 'version'),
    deleted: number(row, 'deleted') !== 0,
    is_read: (author === reader && machine === '') || number(row, 'was_read') !== 0,
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

/** A cursor is an arrival number; clients treat it as opaque. */
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

/** Limit of a page in characters, far below the limit of unread replies beyond which a client is dropped. */
const LONGEST_PAGE = 2 * 1024 * 1024;

/** As many rows as fit into a page, but at least one. */
export function readPage(found: Iterable<Row>, limit: number): { readonly rows: Row[]; readonly more: boolean } {
  const rows: Row[] = [];
  let length = 0;
  for (const row of found) {
    for (const column of ['content', 'structured', 'scopes', 'refs']) length += text(row, column).length;
    if (rows.length === limit || (rows.length > 0 && length > LONGEST_PAGE)) return { rows, more: true };
    rows.push(row);
  }
  return { rows, more: false };
}

/** The WHERE clause that selects the messages of a filter. */
export function conditions(filter: MessageFilter, reader: string): { where: string; values: Value[] } {
  const parts: [string, ...Value[]][] = [['1 = 1']];
  const { scope, mention, thread, author, unread } = filter;
  if (scope !== undefined)
    parts.push(['n IN (SELECT n FROM scopes WHERE type = ? AND value = ?)', scope.type, scope.value]);
  if (mention !== undefined) parts.push(['n IN (SELECT n FROM mentions WHERE value = ?)', mention]);
  if (thread !== undefined) parts.push(['thread_id = ?', thread]);
  if (author !== undefined) parts.push(['author = ?', author]);
  if (unread === true) {
    parts.push([
      "(author <> ? OR machine <> '') AND deleted = 0 AND NOT EXISTS (SELECT 1 FROM reads WHERE reads.agent = ? AND reads.n = messages.n)",
      reader,
      reader,
    ]);
  }
  return { where: parts.map(([sql]) => sql).join(' AND '), values: parts.flatMap(([, ...values]) => values) };
}

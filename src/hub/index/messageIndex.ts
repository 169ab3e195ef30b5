// The SQLite index of messages, threads and read marks. It can be rebuilt from the hub's files at any time.
import type * as sqliteModule from 'node:sqlite';
import { type MessageCreate, type MessageRecord, type ThreadHead } from '../../protocol/hub.ts';
import { type HubMessage } from '../../protocol/hubMethods.ts';
import { type AnyRecord, type StoredRecord } from '../hubWriter.ts';
import {
  conditions,
  LAYOUT,
  type MessageFilter,
  number,
  readPage,
  type Row,
  TABLES,
  text,
  textOrNull,
  type ThreadSummary,
  toMessage,
  toThread,
  type Value,
} from './messageRows.ts';
import { previewOf } from '../preview.ts';
import { isBusy } from './sqliteErrors.ts';

export interface MessagePage {
  readonly messages: readonly HubMessage[];
  readonly more: boolean;
}

export class MessageIndex {
  readonly isInMemory: boolean;
  readonly #database: sqliteModule.DatabaseSync;
  readonly #statements = new Map<string, sqliteModule.StatementSync>();

  private constructor(database: sqliteModule.DatabaseSync, isInMemory = false) {
    this.#database = database;
    this.isInMemory = isInMemory;
  }

  /**
   * Undefined: the file is missing, damaged or of another layout, and must be created again. Throws if another process
   * has locked it.
   */
  static open(sqlite: typeof sqliteModule, path: string): MessageIndex | undefined {
    let database: sqliteModule.DatabaseSync | undefined;
    try {
      database = new sqlite.DatabaseSync(path);
      database.exec(PRAGMAS);
      const index = new MessageIndex(database);
      const sound = database.prepare('PRAGMA quick_check(1)').get()?.['quick_check'] === 'ok';
      if (sound && index.#number('layout') === LAYOUT) return index;
      database.close();
    } catch (error) {
      database?.close();
      if (isBusy(error)) throw error;
    }
    return undefined;
  }

  /** `path` must not exist yet, or be `:memory:`. */
  static create(sqlite: typeof sqliteModule, path: string): MessageIndex {
    const database = new sqlite.DatabaseSync(path);
    database.exec(`${PRAGMAS}; BEGIN; ${TABLES} COMMIT`);
    const index = new MessageIndex(database, path === ':memory:');
    index.#run('INSERT INTO meta VALUES (?, ?)', 'layout', LAYOUT);
    return index;
  }

  close(): void {
    this.#database.close();
  }

  /** The indexed length of each file. */
  lengths(): Map<string, number> {
    return new Map(
      this.#all('SELECT name, length FROM files').map((row) => [text(row, 'name'), number(row, 'length')]),
    );
  }

  /** The stored snapshot of the directory, with which only the rest of `hub.jsonl` has to be read. */
  get directory(): string | undefined {
    const row = this.#get("SELECT value FROM meta WHERE name = 'directory'");
    return row && text(row, 'value');
  }

  setDirectory(printed: string): void {
    this.#run('INSERT OR REPLACE INTO meta VALUES (?, ?)', 'directory', printed);
  }

  /** The highest arrival number that is indexed. */
  get lastNumber(): number {
    return this.#number('last') ?? 0;
  }

  /** Applies all in one transaction. Ignores records that are indexed already. Returns those that changed something. */
  apply(records: readonly StoredRecord[]): AnyRecord[] {
    this.#database.exec('BEGIN IMMEDIATE');
    try {
      const changed = records.filter((stored) => this.#apply(stored)).map(({ record }) => record);
      const ends = new Map(records.map(({ file, end }) => [file, end]));
      for (const [file, end] of ends) this.#run('INSERT OR REPLACE INTO files VALUES (?, ?)', file, end);
      const last = records.reduce((highest, { record }) => Math.max(highest, record.n), this.lastNumber);
      this.#run('INSERT OR REPLACE INTO meta VALUES (?, ?)', 'last', last);
      this.#database.exec('COMMIT');
      return changed;
    } catch (error) {
      try {
        this.#database.exec('ROLLBACK');
      } catch {
        // After some errors SQLite has rolled back already.
      }
      throw error;
    }
  }

  #apply({ record }: StoredRecord): boolean {
    switch (record.type) {
      case 'message.create':
        return this.#create(record);
      case 'message.edit':
      case 'message.delete':
        return this.#change(record);
      case 'thread.create':
        this.#thread(record.thread, record.n);
        return true;
      case 'read.mark':
        for (const id of record.message_ids) {
          this.#run('INSERT OR IGNORE INTO reads SELECT ?, n FROM messages WHERE message_id = ?', record.agent_id, id);
        }
        return true;
      default:
        return true;
    }
  }

  #create(record: MessageCreate): boolean {
    const { n, author, thread } = record;
    if (thread !== undefined) this.#thread(thread, n);
    const added = this.#run(
      `INSERT OR IGNORE INTO messages VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULL, 1, 0, ?, ?)`,
      n,
      n,
      record.event_id,
      record.message_id,
      thread?.thread_id ?? this.#threadFrom(record.message_id),
      record.reply_to ?? null,
      author.agent_id,
      author.role,
      author.module,
      record.format,
      record.content,
      printStructured(record.structured),
      JSON.stringify(record.scopes),
      JSON.stringify(record.refs),
      record.timestamp,
      record.client_id ?? null,
      record.machine ?? '',
    );
    if (added === 0) return false;
    for (const { type, value } of record.scopes)
      this.#run('INSERT OR IGNORE INTO scopes VALUES (?, ?, ?)', type, value, n);
    for (const { type, value } of record.refs) {
      if (type === 'mention') this.#run('INSERT OR IGNORE INTO mentions VALUES (?, ?)', value, n);
    }
    return true;
  }

  /**
   * Only the author may change a message; for authors on other machines, their machine has checked that. Ignores a
   * change that was applied already.
   */
  #change(record: Exclude<MessageRecord, MessageCreate>): boolean {
    if (this.#run('INSERT OR IGNORE INTO changes VALUES (?)', record.event_id) === 0) return false;
    const { content, structured, deleted } =
      record.type === 'message.edit'
        ? { content: record.content, structured: printStructured(record.structured), deleted: 0 }
        : { content: '', structured: null, deleted: 1 };
    const changed = this.#run(
      `UPDATE messages SET content = ?, structured = ?, deleted = ?, updated_at = ?, version = version + 1, changed = ?
       WHERE message_id = ? AND machine = ? AND (author = ? OR machine <> '') AND deleted = 0 AND changed < ?`,
      content,
      structured,
      deleted,
      record.timestamp,
      record.n,
      record.message_id,
      record.machine ?? '',
      record.author,
      record.n,
    );
    if (changed > 0) this.#touchThread(record.message_id, record.n);
    return changed > 0;
  }

  /** Whether a message, an edit or a deletion was applied already. */
  has(event: string): boolean {
    const found = 'SELECT 1 FROM messages WHERE event_id = ?1 UNION ALL SELECT 1 FROM changes WHERE event_id = ?1';
    return this.#get(found, event) !== undefined;
  }

  #thread(thread: ThreadHead, n: number): void {
    this.#run(
      `INSERT INTO threads VALUES (?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (thread_id) DO UPDATE SET changed = max(changed, excluded.changed), root = coalesce(root, excluded.root)`,
      thread.thread_id,
      thread.title,
      thread.created_by,
      thread.created_at,
      JSON.stringify(thread.scopes),
      n,
      thread.root ?? null,
    );
    if (thread.root === undefined) return;
    this.#run(
      `UPDATE messages SET thread_id = ? WHERE message_id = ? AND (thread_id IS NULL
       OR EXISTS (SELECT 1 FROM threads WHERE threads.thread_id = messages.thread_id AND root = messages.message_id))`,
      this.#threadFrom(thread.root),
      thread.root,
    );
  }

  /**
   * The thread that a reply to this message has started. Two machines may each start one, and their records may arrive
   * in any order, so every machine uses the lower id.
   */
  #threadFrom(message: string): string | null {
    return textOrNull(this.#get('SELECT min(thread_id) AS id FROM threads WHERE root = ?', message) ?? {}, 'id');
  }

  #touchThread(message: string, n: number): void {
    this.#run(
      'UPDATE threads SET changed = max(changed, ?) WHERE thread_id = (SELECT thread_id FROM messages WHERE message_id = ?)',
      n,
      message,
    );
  }

  get count(): number {
    return number(this.#get('SELECT count(*) AS count FROM messages WHERE deleted = 0') ?? {}, 'count');
  }

  /** `reader`: the agent that `is_read` refers to. */
  get(id: string, reader: string): HubMessage | undefined {
    const row = this.#get(`${selectMessages} WHERE message_id = ?`, reader, id);
    return row && toMessage(row, reader);
  }

  byClientId(author: string, client: string): HubMessage | undefined {
    const row = this.#get(
      `${selectMessages} WHERE machine = '' AND author = ? AND client_id = ?`,
      author,
      author,
      client,
    );
    return row && toMessage(row, author);
  }

  /** With `after`: messages created or changed after that, in this order. Without: the newest ones, oldest first. */
  list(filter: MessageFilter, reader: string, limit: number, after: number | undefined): MessagePage {
    const { where, values } = conditions(filter, reader);
    if (after === undefined) {
      const newest = `${selectMessages} WHERE ${where} ORDER BY n DESC LIMIT ?`;
      const { rows } = readPage(this.#prepared(newest).iterate(reader, ...values, limit), limit);
      return { messages: rows.reverse().map((row) => toMessage(row, reader)), more: false };
    }
    const later = `${selectMessages} WHERE ${where} AND changed > ? ORDER BY changed LIMIT ?`;
    const { rows, more } = readPage(this.#prepared(later).iterate(reader, ...values, after, limit + 1), limit);
    return { messages: rows.map((row) => toMessage(row, reader)), more };
  }

  unread(filter: MessageFilter, reader: string): number {
    const { where, values } = conditions({ ...filter, unread: true }, reader);
    return number(this.#get(`SELECT count(*) AS count FROM messages WHERE ${where}`, ...values) ?? {}, 'count');
  }

  lastMachineOf(author: string): string | undefined {
    const row = this.#get('SELECT machine FROM messages WHERE author = ? ORDER BY n DESC LIMIT 1', author);
    return row && text(row, 'machine');
  }

  /** Unread messages that mention the agent, counted up to a limit. */
  unreadMentions(agent: string, limit: number): number {
    const { where, values } = conditions({ mention: agent, unread: true }, agent);
    const found = `SELECT 1 FROM messages WHERE ${where} LIMIT ?`;
    return number(this.#get(`SELECT count(*) AS count FROM (${found})`, ...values, limit) ?? {}, 'count');
  }

  thread(id: string): ThreadHead | undefined {
    const row = this.#get('SELECT * FROM threads WHERE thread_id = ?', id);
    return row && toThread(row);
  }

  summary(id: string, reader: string): ThreadSummary | undefined {
    const row = this.#get('SELECT * FROM threads WHERE thread_id = ?', id);
    return row && this.#summarise(row, reader);
  }

  /** Newest change first; `before`: only threads whose last change came earlier. */
  threads(reader: string, limit: number, before: number | undefined): { threads: ThreadSummary[]; more: boolean } {
    const rows = this.#all(
      'SELECT * FROM threads WHERE changed < ? ORDER BY changed DESC LIMIT ?',
      before ?? Number.MAX_SAFE_INTEGER,
      limit + 1,
    );
    return { threads: rows.slice(0, limit).map((row) => this.#summarise(row, reader)), more: rows.length > limit };
  }

  #summarise(row: Row, reader: string): ThreadSummary {
    const thread = toThread(row);
    const id = thread.thread_id;
    const count = this.#get('SELECT count(*) AS count FROM messages WHERE thread_id = ? AND deleted = 0', id) ?? {};
    const last = this.#get('SELECT * FROM messages WHERE thread_id = ? AND deleted = 0 ORDER BY n DESC LIMIT 1', id);
    const changed = this.#get(
      'SELECT max(coalesce(updated_at, created_at)) AS at FROM messages WHERE thread_id = ?',
      id,
    );
    return {
      ...thread,
      message_count: number(count, 'count'),
      unread_count: this.unread({ thread: id }, reader),
      last_activity: textOrNull(changed ?? {}, 'at') ?? thread.created_at,
      last_sender: last === undefined ? thread.created_by : text(last, 'author'),
      preview: last === undefined ? '' : previewOf(text(last, 'content')),
      changed: number(row, 'changed'),
    };
  }

  #number(name: string): number | undefined {
    const row = this.#get('SELECT value FROM meta WHERE name = ?', name);
    return row && number(row, 'value');
  }

  #prepared(sql: string): sqliteModule.StatementSync {
    const known = this.#statements.get(sql);
    if (known !== undefined) return known;
    const statement = this.#database.prepare(sql);
    this.#statements.set(sql, statement);
    return statement;
  }

  #run(sql: string, ...values: Value[]): number {
    return Number(this.#prepared(sql).run(...values).changes);
  }

  #get(sql: string, ...values: Value[]): Row | undefined {
    return this.#prepared(sql).get(...values);
  }

  #all(sql: string, ...values: Value[]): Row[] {
    return this.#prepared(sql).all(...values);
  }
}

/** The wait for a lock blocks the process, so it is short; `LiveIndex` tries again. */
const PRAGMAS = 'PRAGMA busy_timeout = 10; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL';
const selectMessages =
  'SELECT messages.*, EXISTS (SELECT 1 FROM reads WHERE reads.agent = ? AND reads.n = messages.n) AS was_read FROM messages';

function printStructured(value: unknown): string | null {
  return value === undefined ? null : JSON.stringify(value);
}

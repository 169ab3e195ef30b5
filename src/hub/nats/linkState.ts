// The link's state on disk: how far each author was published, how far the stream was received, and the records that
// were published recently. If the file is lost or damaged, everything is published and received again, and nothing is
// stored twice.
import { rmSync } from 'node:fs';
import type * as sqliteModule from 'node:sqlite';
import { type Clock } from '../../base/clock.ts';
import { type Disposable } from '../../base/disposable.ts';

const LAYOUT = '1';
/** The wait for another process's lock blocks this one, so it is short; the next flush writes what this one could not. */
const PRAGMAS = 'PRAGMA busy_timeout = 100; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL';
/** Changes are written in groups. What a killed process has not written is published again. */
const WRITE_AFTER = 50;
/** The newest published records are kept at any age, in case this machine's clock jumps. */
const KEPT = 1000;

export interface Position {
  /** Everything in the stream up to this sequence was received. */
  readonly seq: number;
  /** When the server stored that message, in nanoseconds since 1970. */
  readonly time: number;
}

export interface Published {
  readonly seq: number;
  readonly event: string;
  readonly author: string;
  /** The offsets of its line in the author's file. */
  readonly start: number;
  readonly end: number;
  readonly at: number;
}

export interface LinkStateDeps {
  readonly sqlite: typeof sqliteModule;
  readonly clock: Clock;
  report(message: string, error: unknown): void;
}

export class LinkState {
  readonly #database: sqliteModule.DatabaseSync;
  readonly #clock: Clock;
  readonly #report: (message: string, error: unknown) => void;
  readonly #sent = new Map<string, number>();
  #position: Position = { seq: 0, time: 0 };
  #stream: string | undefined;
  #changedAuthors = new Set<string>();
  #published: Published[] = [];
  #timer: Disposable | undefined;
  readonly #statements = new Map<string, sqliteModule.StatementSync>();

  private constructor(database: sqliteModule.DatabaseSync, { clock, report }: LinkStateDeps) {
    this.#database = database;
    this.#clock = clock;
    this.#report = report;
    this.#stream = this.#meta('stream');
    this.#position = { seq: Number(this.#meta('seq') ?? 0), time: Number(this.#meta('time') ?? 0) };
    for (const { author, sent } of database.prepare('SELECT author, sent FROM outbox').all())
      this.#sent.set(String(author), Number(sent));
  }

  static open(path: string, deps: LinkStateDeps): LinkState {
    const { sqlite } = deps;
    try {
      const database = new sqlite.DatabaseSync(path);
      try {
        return new LinkState(database, deps).#checked();
      } catch {
        database.close();
      }
    } catch {
      // Created again below.
    }
    for (const suffix of ['', '-wal', '-shm']) rmSync(`${path}${suffix}`, { force: true });
    const database = new sqlite.DatabaseSync(path);
    database.exec(`${PRAGMAS};
      CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
      CREATE TABLE outbox (author TEXT PRIMARY KEY, sent INTEGER NOT NULL) WITHOUT ROWID;
      CREATE TABLE published (seq INTEGER PRIMARY KEY, event TEXT NOT NULL, author TEXT NOT NULL,
        start INTEGER NOT NULL, "end" INTEGER NOT NULL, at INTEGER NOT NULL);
      INSERT INTO meta VALUES ('layout', '${LAYOUT}')`);
    return new LinkState(database, deps);
  }

  #checked(): this {
    this.#database.exec(PRAGMAS);
    const sound = this.#database.prepare('PRAGMA quick_check(1)').get()?.['quick_check'] === 'ok';
    if (!sound || this.#meta('layout') !== LAYOUT) throw new Error('another layout');
    return this;
  }

  /** The stream that this state belongs to: its name and creation time. */
  get stream(): string | undefined {
    return this.#stream;
  }

  /** For another stream, or one that was created again: nothing was published to it or received from it. */
  startOver(stream: string): void {
    this.#timer?.dispose();
    this.#timer = undefined;
    this.#stream = stream;
    this.#sent.clear();
    this.#published = [];
    this.#position = { seq: 0, time: 0 };
    this.#changedAuthors.clear();
    this.#database.exec('BEGIN; DELETE FROM outbox; DELETE FROM published; COMMIT');
    this.flush();
  }

  get position(): Position {
    return this.#position;
  }

  setPosition(position: Position): void {
    this.#position = position;
    this.#flushSoon();
  }

  /** How many bytes of the author's file were published. */
  sent(author: string): number {
    return this.#sent.get(author) ?? 0;
  }

  setSent(author: string, end: number): void {
    this.#sent.set(author, end);
    this.#changedAuthors.add(author);
    this.#flushSoon();
  }

  published(one: Published): void {
    this.#published.push(one);
    this.setSent(one.author, one.end);
  }

  /** When the stream was last found to contain all published records; 0: never. */
  get checkedAt(): number {
    return Number(this.#meta('checked') ?? 0);
  }

  setChecked(at: number, olderThan: number): void {
    this.flush();
    this.#setMeta('checked', String(at));
    this.#database
      .prepare(
        'DELETE FROM published WHERE at < ? AND seq NOT IN (SELECT seq FROM published ORDER BY seq DESC LIMIT ?)',
      )
      .run(olderThan, KEPT);
  }

  recentlyPublished(since: number): Published[] {
    this.flush();
    const rows = this.#database
      .prepare('SELECT seq, event, author, start, "end", at FROM published WHERE at >= ? ORDER BY seq')
      .all(since);
    return rows.map((row) => ({
      seq: Number(row['seq']),
      event: String(row['event']),
      author: String(row['author']),
      start: Number(row['start']),
      end: Number(row['end']),
      at: Number(row['at']),
    }));
  }

  /** Forgets a published record that is no longer in the stream. */
  forget(seq: number): void {
    this.#database.prepare('DELETE FROM published WHERE seq = ?').run(seq);
  }

  /** Throws if the write fails; the next flush then writes everything. */
  flush(): void {
    this.#timer?.dispose();
    this.#timer = undefined;
    const { seq, time } = this.#position;
    const outbox = this.#prepared('INSERT OR REPLACE INTO outbox VALUES (?, ?)');
    const published = this.#prepared('INSERT OR REPLACE INTO published VALUES (?, ?, ?, ?, ?, ?)');
    this.#database.exec('BEGIN');
    try {
      for (const author of this.#changedAuthors) outbox.run(author, this.#sent.get(author) ?? 0);
      for (const one of this.#published) published.run(one.seq, one.event, one.author, one.start, one.end, one.at);
      this.#setMeta('seq', String(seq));
      this.#setMeta('time', String(time));
      this.#setMeta('stream', this.#stream ?? '');
      this.#database.exec('COMMIT');
    } catch (error) {
      this.#database.exec('ROLLBACK');
      throw error;
    }
    this.#changedAuthors = new Set();
    this.#published = [];
  }

  close(): void {
    this.flush();
    this.#database.close();
  }

  #prepared(sql: string): sqliteModule.StatementSync {
    const known = this.#statements.get(sql) ?? this.#database.prepare(sql);
    this.#statements.set(sql, known);
    return known;
  }

  #flushSoon(): void {
    this.#timer ??= this.#clock.after(WRITE_AFTER, () => {
      try {
        this.flush();
      } catch (error) {
        this.#report('the publishing state cannot be written', error);
      }
    });
  }

  #meta(name: string): string | undefined {
    const value = this.#database.prepare('SELECT value FROM meta WHERE name = ?').get(name)?.['value'];
    return typeof value === 'string' && value !== '' ? value : undefined;
  }

  #setMeta(name: string, value: string): void {
    this.#prepared('INSERT OR REPLACE INTO meta VALUES (?, ?)').run(name, value);
  }
}

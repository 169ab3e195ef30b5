// Reports lines that scripts send with earshot-notify: takes them from the spool, and removes each once it is in the log
// of every conversation that gets it, one without an address a while later, since other windows may have the folder too.
import { pause, Sequence } from '../../base/async.ts';
import { type Disposable, DisposableStore } from '../../base/disposable.ts';
import { type Clock, type Logger, type Producer, type Publisher } from '../../core/ports/ports.ts';
import { type LiveConversations } from '../../core/ports/producers.ts';
import { type Handles } from '../../core/tools/handles.ts';
import { isInside } from '../../node/files/resolvePath.ts';
import { runOfGrant } from '../../node/scripts/notifyProgram.ts';
import { listEntries, readEntry, removeEntry, type StoredEntry } from '../../node/scripts/scriptSpool.ts';
import { ReportPace } from '../lines/reportPace.ts';
import { draftScriptLines, type ScriptLine } from './scriptReports.ts';

/** How often one command may wake the model with its lines; the kind's own pauses apply too. */
const MOST_WAKES = 10;
/** Lines that one notification has. */
const MOST_TOGETHER = 50;
/** A line that could not be taken at once is looked for again. */
const LOOK_EVERY = 30_000;
/** Every window of the folder has looked by then. */
const SHARED_MILLISECONDS = 2 * LOOK_EVERY;
/** With more in the spool, the first window that has delivered a line removes it: the spool takes 1,000. */
const MOST_SHARED = 300;

export interface ScriptsDeps {
  readonly handles: Pick<Handles, 'byRun'>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The folders that are open, as absolute paths without links. */
  folders(): Promise<readonly string[]>;
  /** The user allows every script to wake the model. */
  mayWake(): boolean;
  /** The account's home; default: the user's. */
  readonly home?: string | undefined;
  /** Resolves once all that were live before a restart are live again. Absent: they are. */
  ready?(): Promise<void>;
}

export interface Scripts {
  readonly producer: Producer;
  /** Takes everything from the spool now. Resolves to the number of conversations that got this line. */
  taken(id: string): Promise<number>;
}

export function createScripts(deps: ScriptsDeps): Scripts {
  let watch: ScriptsWatch | undefined;
  return {
    producer: {
      name: 'scripts',
      start: (publisher, _seen, { live }) => {
        const started = new ScriptsWatch(deps, publisher, live);
        watch = started;
        return {
          dispose: () => {
            started.dispose();
            if (watch === started) watch = undefined;
          },
        };
      },
      sample: async () => {
        // A request does not wait until the window is composed.
        if (watch?.isReady === true) await watch.takeAll();
        return [];
      },
    },
    taken: async (id) => (await watch?.taken(id)) ?? 0,
  };
}

class ScriptsWatch implements Disposable {
  readonly #deps: ScriptsDeps;
  readonly #publisher: Publisher;
  readonly #live: LiveConversations;
  readonly #held = new DisposableStore();
  readonly #pace: ReportPace;
  readonly #taking = new Sequence();
  /** How many conversations got the lines that were taken last. */
  readonly #counts = new Map<string, number>();
  /** Lines that were delivered here and stay for other windows: since when, and to whom. */
  readonly #shared = new Map<string, { readonly since: number; readonly conversations: string }>();
  #conversations: string;
  #timer: Disposable;
  #isDisposed = false;
  #isReady = false;

  constructor(deps: ScriptsDeps, publisher: Publisher, live: LiveConversations) {
    this.#deps = deps;
    this.#publisher = publisher;
    this.#live = live;
    this.#pace = new ReportPace(deps.clock);
    this.#conversations = live.ids().join();
    this.#held.add(live.onDidChange(() => this.#liveChanged()));
    this.#timer = this.#lookLater();
    void this.takeAll().catch(this.#report);
  }

  get isReady(): boolean {
    return this.#isReady;
  }

  async taken(id: string): Promise<number> {
    await this.takeAll();
    return this.#counts.get(id) ?? 0;
  }

  takeAll(): Promise<void> {
    return this.#taking.run(() => this.#take());
  }

  dispose(): void {
    this.#isDisposed = true;
    this.#held.dispose();
    this.#timer.dispose();
  }

  #liveChanged(): void {
    const now = this.#live.ids().join();
    if (now === this.#conversations) return;
    this.#conversations = now;
    void this.takeAll().catch(this.#report);
  }

  #lookLater(): Disposable {
    return this.#deps.clock.after(LOOK_EVERY, () => {
      this.#timer = this.#lookLater();
      void this.takeAll().catch(this.#report);
    });
  }

  async #take(): Promise<void> {
    const { home, logger } = this.#deps;
    await this.#deps.ready?.();
    this.#isReady = true;
    if (this.#isDisposed || this.#live.ids().length === 0) return;
    const ids = await listEntries(home, (count) =>
      logger.warn(`${count} lines from scripts were older than a week and were removed`),
    );
    if (ids.length === 0) return;
    const folders = await this.#deps.folders();
    /** By the conversations that get them, and by name. */
    const groups = new Map<string, { readonly recipients: readonly string[]; readonly lines: ScriptLine[] }>();
    const isFull = ids.length > MOST_SHARED;
    for (const id of this.#shared.keys()) if (!ids.includes(id)) this.#shared.delete(id);
    for (const id of ids) {
      if (await this.#isShared(id, isFull)) continue;
      // One that cannot be read now holds up no other.
      const stored = await readEntry(id, home, (file, reason) =>
        logger.warn(`${file} is no line from a script: ${reason}`),
      ).catch(this.#report);
      if (stored === undefined) continue;
      const recipients = this.#recipients(stored, folders);
      if (recipients.length === 0) continue;
      const key = JSON.stringify([recipients, stored.entry.name]);
      const group = groups.get(key) ?? { recipients, lines: [] };
      groups.set(key, group);
      group.lines.push({ id, ...stored });
    }
    for (const { recipients, lines } of groups.values()) {
      for (let from = 0; from < lines.length; from += MOST_TOGETHER) {
        await this.#deliver(lines.slice(from, from + MOST_TOGETHER), recipients, isFull);
      }
    }
  }

  /** The conversation that it is for, wherever that is; otherwise every conversation of its folder. */
  #recipients({ entry }: StoredEntry, folders: readonly string[]): readonly string[] {
    const { to, dir } = entry;
    const ids = this.#live.ids();
    if (to !== undefined) return ids.filter((id) => id === to);
    const isHere = folders.some((folder) => isInside(folder, dir));
    return isHere ? ids.filter((id) => this.#live.subagent?.(id) === undefined) : [];
  }

  /** It was delivered to all that are here now. Removes it once other windows had time for it. */
  async #isShared(id: string, isFull: boolean): Promise<boolean> {
    const shared = this.#shared.get(id);
    if (shared?.conversations !== this.#live.ids().join()) return false;
    if (!isFull && this.#deps.clock.monotonic() - shared.since < SHARED_MILLISECONDS) return true;
    await removeEntry(id, this.#deps.home);
    this.#shared.delete(id);
    return true;
  }

  async #deliver(lines: readonly ScriptLine[], recipients: readonly string[], isFull: boolean): Promise<void> {
    for (const conversation of recipients) {
      const unknown = this.#unknown(lines, conversation);
      if (unknown.length > 0) await this.#publish(unknown, conversation);
    }
    for (const { id, entry } of lines) {
      const now = this.#deps.clock.now();
      const got = recipients.filter((one) => this.#live.scripts(one)?.isKnown({ id, key: entry.key }, now) === true);
      // A conversation that was released meanwhile gets it when it is live again.
      if (got.length < recipients.length) continue;
      this.#counts.set(id, got.length);
      if (entry.to === undefined && !isFull) {
        const { since = this.#deps.clock.monotonic() } = this.#shared.get(id) ?? {};
        this.#shared.set(id, { since, conversations: this.#live.ids().join() });
      } else await removeEntry(id, this.#deps.home);
    }
    for (const id of this.#counts.keys()) if (this.#counts.size > 1000) this.#counts.delete(id);
  }

  /** Those that the log does not have yet, each key once. */
  #unknown(lines: readonly ScriptLine[], conversation: string): readonly ScriptLine[] {
    const record = this.#live.scripts(conversation);
    const now = this.#deps.clock.now();
    const keys = new Set<string>();
    return lines.filter(({ id, entry: { key } }) => {
      if (record === undefined || record.isKnown({ id, key }, now) || (key !== undefined && keys.has(key)))
        return false;
      if (key !== undefined) keys.add(key);
      return true;
    });
  }

  async #publish(lines: readonly ScriptLine[], conversation: string): Promise<void> {
    const wait = this.#pace.take();
    if (wait > 0) await pause(this.#deps.clock, wait);
    const runs = lines.map((line) => this.#grantedRun(line, conversation));
    const run = runs.find((one) => one !== undefined);
    const wake = run !== undefined || (this.#deps.mayWake() && lines.some(({ entry }) => entry.wake === true));
    const sender = this.#ownCommand(lines, conversation);
    await this.#publisher.publish(draftScriptLines(lines, { conversation, wake, run, sender }), conversation);
  }

  /**
   * The command whose approval allows this line to wake the model: one that this conversation started and that still
   * runs, or ran when the line was written.
   */
  #grantedRun({ entry, written }: ScriptLine, conversation: string): string | undefined {
    const { wake, grant = '', to } = entry;
    const record = this.#live.scripts(conversation);
    if (wake !== true || to !== conversation || record === undefined) return undefined;
    const run = runOfGrant(grant, record.key);
    const handle = run === undefined ? undefined : this.#deps.handles.byRun(conversation, run);
    if (run === undefined || handle?.name === undefined || record.wakesOf(run) >= MOST_WAKES) return undefined;
    const { end } = handle.process.status;
    return end === undefined || written <= Date.parse(end.at) ? run : undefined;
  }

  /** The name of the command that sent all of them. */
  #ownCommand(lines: readonly ScriptLine[], conversation: string): string | undefined {
    const key = this.#live.scripts(conversation)?.key ?? '';
    const names = lines.map(({ entry: { grant = '' } }) => {
      const run = runOfGrant(grant, key);
      return run === undefined ? undefined : this.#deps.handles.byRun(conversation, run)?.name;
    });
    return names.every((name) => name === names[0]) ? names[0] : undefined;
  }

  readonly #report = (error: unknown): undefined => {
    this.#deps.logger.error('lines from scripts could not be taken', error);
  };
}

// Watches the files that live conversations have seen, and tells each of them when its view is out of date.
import { type FSWatcher, watch } from 'chokidar';
import { type Disposable, DisposableStore, toDisposable } from '../base/disposable.ts';
import { fileAgainAsRead, fileChanged, fileDeleted, GONE } from '../core/notify/fileChange.ts';
import { type Clock, type Log, type Producer, type Publisher, type SeenFile, type SeenFiles } from '../core/ports.ts';
import { type Snapshots } from '../core/storagePorts.ts';
import { type Workspace } from '../core/workspacePorts.ts';
import { type NotificationDraft } from '../protocol/notification.ts';

/** Writers often write in several steps: a file is looked at once it was quiet for this long. */
const QUIET_MILLISECONDS = 100;

export interface FilesDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly snapshots: Snapshots;
  readonly workspace: Workspace;
}

export function createFilesProducer(deps: FilesDeps): Producer {
  return { name: 'files', start: (publisher, seen) => new FilesWatch(deps, publisher, seen) };
}

class FilesWatch implements Disposable {
  readonly #deps: FilesDeps;
  readonly #publisher: Publisher;
  readonly #seen: SeenFiles;
  readonly #watcher: FSWatcher;
  readonly #held = new DisposableStore();
  /** Watched files: the machine's path → ours. */
  readonly #paths = new Map<string, string>();
  /** What each conversation had seen when the file was last looked at. */
  readonly #lookedAt = new Map<string, string>();
  readonly #quiet = new Map<string, Disposable>();
  readonly #looking = new Map<string, Promise<void>>();
  /** The watcher takes a moment to close and may still speak. */
  #ended = false;
  /** What was published and may still be held back, by conversation and path. */
  readonly #said = new Map<string, string>();

  constructor(deps: FilesDeps, publisher: Publisher, seen: SeenFiles) {
    this.#deps = deps;
    this.#publisher = publisher;
    this.#seen = seen;
    this.#watcher = watch([], { ignoreInitial: true, persistent: true, followSymlinks: true });
    for (const event of ['add', 'change', 'unlink'] as const) {
      this.#watcher.on(event, (absolute) => this.#touched(absolute));
    }
    this.#watcher.on('error', (error) => deps.log.error('watching files failed', error));
    this.#held.add(seen.onDidChange(() => this.#follow()));
    this.#held.add(toDisposable(() => void this.#watcher.close().catch((error: unknown) => this.#report(error))));
    this.#follow();
  }

  dispose(): void {
    this.#ended = true;
    for (const timer of this.#quiet.values()) timer.dispose();
    this.#held.dispose();
  }

  #report(error: unknown): void {
    this.#deps.log.error('looking at a changed file failed', error);
  }

  /** Watches what is seen now, and looks at once at every file whose view moved: it may have changed before the watch. */
  #follow(): void {
    void this.#followNow().catch((error: unknown) => this.#report(error));
  }

  async #followNow(): Promise<void> {
    const files = this.#seen.all();
    const wanted = new Set(files.map((file) => file.path));
    for (const [absolute, path] of this.#paths) {
      if (wanted.has(path)) continue;
      this.#paths.delete(absolute);
      this.#lookedAt.delete(path);
      this.#watcher.unwatch(absolute);
    }
    for (const file of files) {
      const view = JSON.stringify(file.by.map(({ conversation, hash }) => [conversation, hash]));
      if (this.#lookedAt.get(file.path) === view) continue;
      this.#lookedAt.set(file.path, view);
      const resolved = await this.#deps.workspace.resolve(file.path);
      if (this.#ended) return;
      if (!resolved.ok) continue;
      if (!this.#paths.has(resolved.value.absolute)) {
        this.#paths.set(resolved.value.absolute, file.path);
        this.#watcher.add(resolved.value.absolute);
      }
      this.#look(file.path);
    }
  }

  #touched(absolute: string): void {
    const path = this.#paths.get(absolute);
    if (path === undefined || this.#ended) return;
    this.#quiet.get(path)?.dispose();
    const timer = this.#deps.clock.after(QUIET_MILLISECONDS, () => {
      this.#quiet.delete(path);
      this.#look(path);
    });
    this.#quiet.set(path, timer);
  }

  /** One look at a time for each file, so that two never publish the same state. */
  #look(path: string): void {
    const before = this.#looking.get(path) ?? Promise.resolve();
    const next = before.then(() => this.#compare(path)).catch((error: unknown) => this.#report(error));
    this.#looking.set(path, next);
  }

  async #compare(path: string): Promise<void> {
    const resolved = await this.#deps.workspace.resolve(path);
    if (!resolved.ok) return;
    const content = await this.#deps.workspace.read(resolved.value);
    if (!content.ok && content.failure.code !== 'not_found') return;
    const bytes = content.ok ? content.value.bytes : undefined;
    const now = bytes === undefined ? GONE : this.#deps.snapshots.hash(bytes);
    // Kept before anyone is told: the carrier of the notification names it as seen.
    if (bytes !== undefined) await this.#deps.snapshots.put(bytes);
    for (const view of this.#seen.get(path)?.by ?? []) await this.#tell(path, view, now, bytes);
  }

  async #tell(path: string, view: SeenFile['by'][number], now: string, bytes: Uint8Array | undefined): Promise<void> {
    const { conversation, hash } = view;
    const told = this.#said.get(JSON.stringify([conversation, path])) ?? view.told;
    const at = new Date(this.#deps.clock.now()).toISOString();
    const withdraw = (name: string, reason: string) =>
      this.#publisher.withdraw({ source: 'file', name }, `file:${path}`, reason, conversation);
    if (now === hash) {
      const untold = [
        await withdraw('changed', 'it is again as it was seen'),
        await withdraw('deleted', 'it is there again, as it was seen'),
      ];
      if (told === undefined || told === hash || untold.includes(true)) return;
      this.#say({ ...fileAgainAsRead(path, now), at }, conversation, path, now);
      return;
    }
    if (now === told) return;
    if (bytes === undefined) {
      await withdraw('changed', 'it was deleted');
      this.#say({ ...fileDeleted(path), at }, conversation, path, now);
      return;
    }
    await withdraw('deleted', 'it is there again');
    const before = await this.#deps.snapshots.get(hash);
    this.#say({ ...fileChanged(path, before, bytes, now), at }, conversation, path, now);
  }

  /** Not waited for: a calm publisher may hold it back, and the next look must be able to replace it or take it back. */
  #say(draft: NotificationDraft, conversation: string, path: string, hash: string): void {
    const key = JSON.stringify([conversation, path]);
    this.#said.set(key, hash);
    const settled = () => {
      if (this.#said.get(key) === hash) this.#said.delete(key);
    };
    void this.#publisher
      .publish(draft, conversation)
      .finally(settled)
      .catch((error: unknown) => this.#report(error));
  }
}

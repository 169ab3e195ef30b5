// Watches exactly the files that live conversations have seen. Requests a comparison when a conversation sees a file.
import { coalesce } from '../../base/async.ts';
import { type SeenFiles } from '../../core/ports/ports.ts';
import { type LiveConversations } from '../../core/ports/producers.ts';
import { type FileTouch } from '../../core/ports/sources.ts';
import { type Workspace } from '../../core/ports/workspace.ts';
import { type WatchedPaths } from './diskWatch.ts';

export interface FollowedFilesDeps {
  readonly seen: SeenFiles;
  readonly live: LiveConversations;
  readonly workspace: Workspace;
  readonly watched: WatchedPaths;
  /** Compares the file, which may have changed before it was watched. */
  compare(path: string): void;
  /** Called when no live conversation has seen the file any more. */
  forgotten(path: string): void;
  failed(error: unknown): void;
}

export class FollowedFiles {
  readonly #deps: FollowedFilesDeps;
  /** What each conversation had seen when the file was last compared, by path. */
  readonly #views = new Map<string, string>();
  /** Conversations that were live at the last refresh. */
  #live: ReadonlySet<string> = new Set();
  /** Conversations that joined since the file was last compared, by path. */
  readonly #joined = new Map<string, readonly string[]>();
  readonly #refresh = coalesce(async () => {
    if (!this.#ended) await this.#refreshNow();
  });
  #ended = false;

  constructor(deps: FollowedFilesDeps) {
    this.#deps = deps;
  }

  has(path: string): boolean {
    return this.#views.has(path);
  }

  /** The files that a touch concerns: a watcher reports a deleted or created folder without the files in it. */
  concerned(path: string, type: FileTouch['type']): readonly string[] {
    if (this.has(path)) return [path];
    return type === 'changed' ? [] : [...this.#views.keys()].filter((inside) => inside.startsWith(`${path}/`));
  }

  /** Conversations for which the file was not observed until now. Each is returned once. */
  takeJoined(path: string): readonly string[] {
    const joined = this.#joined.get(path) ?? [];
    this.#joined.delete(path);
    return joined;
  }

  /** Call after a file was seen, or a conversation was opened or closed. */
  refresh(): void {
    void this.#refresh().catch((error: unknown) => this.#deps.failed(error));
  }

  end(): void {
    this.#ended = true;
  }

  async #refreshNow(): Promise<void> {
    const { seen, live, workspace, watched, compare, forgotten } = this.#deps;
    const files = seen.all();
    const wanted = new Set(files.map((file) => file.path));
    const before = this.#live;
    this.#live = new Set(live.ids());
    for (const path of [...this.#views.keys()]) {
      if (wanted.has(path)) continue;
      this.#views.delete(path);
      forgotten(path);
      watched.remove(path);
    }
    for (const { path, by } of files) {
      const view = JSON.stringify(by.map(({ conversation, hash }) => [conversation, hash]));
      if (this.#views.get(path) === view) continue;
      this.#views.set(path, view);
      const joined = by.map(({ conversation }) => conversation).filter((id) => !before.has(id));
      if (joined.length > 0) this.#joined.set(path, joined);
      const resolved = await workspace.resolve(path);
      if (this.#ended) return;
      if (resolved.ok) watched.add(path, resolved.value.absolute);
      compare(path);
    }
  }
}

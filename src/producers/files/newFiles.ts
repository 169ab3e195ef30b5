// Finds the new path of a deleted file: a file that appeared at about the same time with the same bytes.
import { type FileProducerDeps } from './currentFile.ts';

const KEPT_MILLISECONDS = 5000;
const MOST = 200;
/** How many new paths are compared with one deleted file. */
const MOST_READ = 20;
const MOST_DEEP = 8;

export interface NewFilesDeps extends FileProducerDeps {
  report(error: unknown): void;
}

interface Sought {
  readonly hash: string;
  /** The old path. */
  readonly path: string;
  readonly since: number;
  readonly found: (path: string) => Promise<void>;
  reads: number;
}

export class NewFiles {
  readonly #deps: NewFilesDeps;
  readonly #appeared = new Map<string, number>();
  readonly #sought = new Set<Sought>();

  constructor(deps: NewFilesDeps) {
    this.#deps = deps;
  }

  add(path: string): void {
    this.#appeared.delete(path);
    this.#appeared.set(path, this.#deps.clock.now());
    const [oldest] = this.#appeared.keys();
    if (this.#appeared.size > MOST && oldest !== undefined) this.#appeared.delete(oldest);
    if (this.#sought.size > 0) void this.#compare(path).catch((error: unknown) => this.#deps.report(error));
  }

  /** The path of a new file with these bytes; `lost` is the old path. */
  async find(hash: string, lost: string): Promise<string | undefined> {
    const since = this.#deps.clock.now() - KEPT_MILLISECONDS;
    const recent = [...this.#appeared].filter(([, at]) => at >= since).map(([path]) => path);
    for (const path of recent.toReversed().slice(0, MOST_READ)) {
      const found = await this.#findAt(path, hash, lost);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** Calls `found` at most once, within 5 s: the editor's watcher may report the new file after the deletion. */
  seek(hash: string, lost: string, found: (path: string) => Promise<void>): void {
    this.#sought.add({ hash, path: lost, found, since: this.#deps.clock.now(), reads: MOST_READ });
  }

  async #compare(path: string): Promise<void> {
    const until = this.#deps.clock.now() - KEPT_MILLISECONDS;
    for (const sought of this.#sought) {
      sought.reads -= 1;
      if (sought.since < until || sought.reads < 0) this.#sought.delete(sought);
    }
    if (this.#sought.size === 0) return;
    for (const sought of [...this.#sought]) {
      const found = await this.#findAt(path, sought.hash, sought.path);
      if (found !== undefined && this.#sought.delete(sought)) await sought.found(found);
    }
  }

  /** For a moved folder, only the folder is reported; the file is looked up in it by the end of its old path. */
  async #findAt(path: string, hash: string, lost: string): Promise<string | undefined> {
    if ((await this.#hashOf(path)) === hash) return path;
    const parts = lost.split('/');
    for (let depth = 1; depth < parts.length && depth <= MOST_DEEP; depth += 1) {
      const inside = `${path}/${parts.slice(-depth).join('/')}`;
      if (inside !== lost && (await this.#hashOf(inside)) === hash) return inside;
    }
    return undefined;
  }

  async #hashOf(path: string): Promise<string | undefined> {
    const { snapshots, workspace } = this.#deps;
    const file = await workspace.resolve(path);
    const content = file.ok ? await workspace.read(file.value) : undefined;
    return content?.ok === true ? snapshots.hash(content.value.bytes) : undefined;
  }
}

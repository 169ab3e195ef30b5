// Watches paths on disk with chokidar: single files, and whole folders for globs. Stops at the system's limits.
import { type FSWatcher, watch } from 'chokidar';
import { type Disposable } from '../../base/disposable.ts';
import { describeError } from '../../base/errors.ts';
import { type Logger } from '../../core/ports/ports.ts';
import { type FileTouch } from '../../core/ports/sources.ts';
import { type Platform } from '../../node/platform/parts.ts';
import { platform } from '../../node/platform/platform.ts';

/** Error codes at the system's limits for watching. */
const LIMIT_CODES = new Set(['ENOSPC', 'EMFILE', 'ENFILE']);
/** A URI of another file system, which only the editor can watch. A single letter is a drive. */
const ADDRESS = /^[a-z][a-z0-9+.-]+:/i;

const EVENTS = { add: 'created', change: 'changed', unlink: 'deleted', unlinkDir: 'deleted' } as const;

export interface DiskWatchDeps {
  readonly logger: Logger;
  /** The editor's watcher runs too, so this one can end at the system's limit. */
  readonly hasOther: boolean;
  readonly watch?: typeof watch | undefined;
  /** Default: this system's. */
  readonly platform?: Pick<Platform, 'disk' | 'programs'>;
  /** Called with an added path, or with a path below an added folder. */
  touched(path: string, type: FileTouch['type']): void;
  broke(error: unknown): void;
}

interface WatchedFolder {
  readonly path: string;
  ignores(path: string): boolean;
}

export class WatchedPaths implements Disposable {
  readonly #deps: DiskWatchDeps;
  /** Workspace paths, and the paths to watch, by key. */
  readonly #files = new Map<string, { readonly path: string; readonly absolute: string }>();
  readonly #folders = new Map<string, WatchedFolder>();
  #watcher: FSWatcher | undefined;
  #ended = false;

  constructor(deps: DiskWatchDeps) {
    this.#deps = deps;
    const watcher = (deps.watch ?? watch)([], {
      ignoreInitial: true,
      persistent: true,
      followSymlinks: true,
      ignored: (absolute) => this.#isIgnored(absolute),
    });
    this.#watcher = watcher;
    for (const [event, type] of Object.entries(EVENTS)) {
      watcher.on(event as keyof typeof EVENTS, (absolute) => this.#touched(absolute, type));
    }
    watcher.on('error', (error) => this.#failed(error));
  }

  add(path: string, absolute: string): void {
    const key = this.#keyOf(absolute);
    if (ADDRESS.test(absolute) || this.#files.has(key)) return;
    this.#files.set(key, { path, absolute });
    this.#watcher?.add(absolute);
  }

  remove(path: string): void {
    for (const [key, known] of this.#files) {
      if (known.path !== path) continue;
      this.#files.delete(key);
      this.#watcher?.unwatch(known.absolute);
    }
  }

  /** Watches everything in the folder that is not ignored. */
  addFolder(path: string, absolute: string, ignores: (path: string) => boolean): void {
    const key = this.#keyOf(absolute);
    if (ADDRESS.test(absolute) || this.#folders.has(key)) return;
    this.#folders.set(key, { path, ignores });
    this.#watcher?.add(absolute);
  }

  removeFolder(absolute: string): void {
    if (this.#folders.delete(this.#keyOf(absolute))) this.#watcher?.unwatch(absolute);
  }

  dispose(): void {
    this.#ended = true;
    this.#close();
  }

  #close(): void {
    const watcher = this.#watcher;
    this.#watcher = undefined;
    if (watcher === undefined) return;
    void watcher.close().catch((error: unknown) => this.#deps.logger.error('a watcher could not be closed', error));
  }

  #touched(absolute: string, type: FileTouch['type']): void {
    // Closing takes a moment, during which events still arrive.
    if (this.#ended) return;
    const file = this.#files.get(this.#keyOf(absolute));
    if (file !== undefined) {
      // Without this, chokidar would not report that the file is created again.
      if (type === 'deleted') this.#watcher?.add(file.absolute);
      this.#deps.touched(file.path, type);
      return;
    }
    const inside = this.#placeOf(absolute)?.inside;
    if (inside !== undefined) this.#deps.touched(inside, type);
  }

  #isIgnored(absolute: string): boolean {
    if (this.#files.has(this.#keyOf(absolute))) return false;
    const place = this.#placeOf(absolute);
    return place !== undefined && place.inner !== '' && place.folder.ignores(place.inside);
  }

  /** The watched folder that the path is in, its path below it, and its workspace path. */
  #placeOf(absolute: string): { folder: WatchedFolder; inner: string; inside: string } | undefined {
    const path = this.#withSlashes(absolute);
    const key = this.#keyOf(absolute);
    for (const [root, folder] of this.#folders) {
      const start = root.endsWith('/') ? root : `${root}/`;
      if (key !== root && !key.startsWith(start)) continue;
      const inner = path.slice(start.length);
      return { folder, inner, inside: [folder.path, inner].filter((part) => part !== '').join('/') };
    }
    return undefined;
  }

  /** The same for all forms of a path: chokidar asks with slashes and reports with the system's separator. */
  #keyOf(absolute: string): string {
    const path = this.#withSlashes(absolute);
    return (this.#deps.platform ?? platform).disk.ignoresCase ? path.normalize('NFC').toLowerCase() : path;
  }

  #withSlashes(absolute: string): string {
    return (this.#deps.platform ?? platform).programs.withSlashes(absolute);
  }

  #failed(error: unknown): void {
    if (this.#ended || this.#watcher === undefined) return;
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    if (LIMIT_CODES.has(code) && this.#deps.hasOther) {
      this.#close();
      this.#deps.logger.warn(
        `the system cannot watch more files (${code}): from now on only the editor’s own watcher is used, which skips the paths in files.watcherExclude. Raise fs.inotify.max_user_watches, or open a smaller folder`,
      );
      return;
    }
    this.#deps.broke(new Error(`files cannot be watched: ${describeError(error)}`, { cause: error }));
  }
}

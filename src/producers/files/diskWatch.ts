// Watches paths on disk with chokidar: single files, and whole folders for globs. Stops at the system's limits.
import { type FSWatcher, watch } from 'chokidar';
import { type Disposable } from '../../base/disposable.ts';
import { describeError } from '../../base/errors.ts';
import { type Logger } from '../../core/ports/ports.ts';
import { type FileTouch } from '../../core/ports/sources.ts';

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
  /** Called with an added path, or with a path below an added folder. */
  touched(path: string, type: FileTouch['type']): void;
  broke(error: unknown): void;
}

export class WatchedPaths implements Disposable {
  readonly #deps: DiskWatchDeps;
  /** Workspace paths by absolute path. */
  readonly #files = new Map<string, string>();
  readonly #folders = new Map<string, { readonly path: string; ignores(path: string): boolean }>();
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
    if (ADDRESS.test(absolute) || this.#files.has(absolute)) return;
    this.#files.set(absolute, path);
    this.#watcher?.add(absolute);
  }

  remove(path: string): void {
    for (const [absolute, known] of this.#files) {
      if (known !== path) continue;
      this.#files.delete(absolute);
      this.#watcher?.unwatch(absolute);
    }
  }

  /** Watches everything in the folder that is not ignored. */
  addFolder(path: string, absolute: string, ignores: (path: string) => boolean): void {
    if (ADDRESS.test(absolute) || this.#folders.has(absolute)) return;
    this.#folders.set(absolute, { path, ignores });
    this.#watcher?.add(absolute);
  }

  removeFolder(absolute: string): void {
    if (this.#folders.delete(absolute)) this.#watcher?.unwatch(absolute);
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
    const file = this.#files.get(absolute);
    if (file !== undefined) {
      // Without this, chokidar would not report that the file is created again.
      if (type === 'deleted') this.#watcher?.add(absolute);
      this.#deps.touched(file, type);
      return;
    }
    const inside = this.#pathInFolder(absolute);
    if (inside !== undefined) this.#deps.touched(inside, type);
  }

  #isIgnored(absolute: string): boolean {
    if (this.#files.has(absolute)) return false;
    const folder = this.#folderOf(absolute);
    if (folder === undefined || folder.absolute === absolute) return false;
    return folder.ignores(this.#pathInFolder(absolute) ?? '');
  }

  #folderOf(absolute: string) {
    for (const [root, folder] of this.#folders) {
      if (absolute === root || absolute.startsWith(root.endsWith('/') ? root : `${root}/`)) {
        return { absolute: root, ...folder };
      }
    }
    return undefined;
  }

  #pathInFolder(absolute: string): string | undefined {
    const folder = this.#folderOf(absolute.replaceAll('\\', '/'));
    if (folder === undefined) return undefined;
    const inner = absolute.slice(folder.absolute.length).replaceAll('\\', '/').replace(/^\//, '');
    return [folder.path, inner].filter((part) => part !== '').join('/');
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

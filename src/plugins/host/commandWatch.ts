// Watches the files that plugins' commands name, including those that do not exist yet, and reports possible changes.
import { type FSWatcher, watch } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename, dirname, relative, sep } from 'node:path';
import { type Clock } from '../../base/clock.ts';
import { type Disposable } from '../../base/disposable.ts';

/** Debounces changes: while a program is being written, its file changes many times. */
const QUIET_MILLISECONDS = 100;
const MOST_FOLDERS = 64;

export interface CommandWatchDeps {
  readonly clock: Clock;
  /** Called once no watched file has changed for 100 ms. */
  changed(): void;
}

interface WatchedFolder {
  readonly watcher: FSWatcher;
  /** Names in the folder that matter. */
  names: ReadonlySet<string>;
}

export class CommandWatch implements Disposable {
  readonly #deps: CommandWatchDeps;
  readonly #folders = new Map<string, WatchedFolder>();
  #timer: Disposable | undefined;
  #ended = false;

  constructor(deps: CommandWatchDeps) {
    this.#deps = deps;
  }

  /** Watches these paths and no others. Changes after it has resolved are not missed. */
  async watch(paths: readonly string[]): Promise<void> {
    let wanted = await foldersOf(paths);
    this.#apply(wanted);
    // A folder of a path may have been created before its parent was watched.
    for (let again = await foldersOf(paths); !isSameCommand(wanted, again); again = await foldersOf(paths)) {
      wanted = again;
      this.#apply(wanted);
    }
  }

  dispose(): void {
    this.#ended = true;
    this.#timer?.dispose();
    this.#apply(new Map());
  }

  #apply(wanted: ReadonlyMap<string, ReadonlySet<string>>): void {
    for (const [folder, { watcher }] of this.#folders) {
      if (!this.#ended && wanted.has(folder)) continue;
      this.#folders.delete(folder);
      watcher.close();
    }
    if (this.#ended) return;
    for (const [folder, names] of wanted) {
      const known = this.#folders.get(folder);
      if (known === undefined) this.#open(folder, names);
      else known.names = names;
    }
  }

  #open(folder: string, names: ReadonlySet<string>): void {
    try {
      const watcher = watch(folder, { persistent: false }, (_, name) => {
        const watched = this.#folders.get(folder);
        // The folder's own name: the folder was moved or removed.
        if (watched !== undefined && (name === null || watched.names.has(name) || name === basename(folder))) {
          this.#noticed();
        }
      });
      watcher.on('error', () => this.#noticed());
      this.#folders.set(folder, { watcher, names });
    } catch {
      // The folder is gone, or the system has no watches left. The files are checked before each run in any case.
    }
  }

  #noticed(): void {
    this.#timer?.dispose();
    this.#timer = this.#deps.clock.after(QUIET_MILLISECONDS, () => this.#deps.changed());
  }
}

/** The nearest existing folder of each path, and the name in it that leads to the path. */
async function foldersOf(paths: readonly string[]): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const folders = new Map<string, Set<string>>();
  for (const path of paths) {
    const folder = await nearestFolder(dirname(path));
    if (!folders.has(folder) && folders.size >= MOST_FOLDERS) continue;
    const [name = ''] = relative(folder, path).split(sep);
    folders.set(folder, (folders.get(folder) ?? new Set()).add(name));
  }
  return folders;
}

async function nearestFolder(path: string): Promise<string> {
  try {
    if ((await stat(path)).isDirectory()) return path;
  } catch {
    // It does not exist.
  }
  const parent = dirname(path);
  return parent === path ? path : nearestFolder(parent);
}

function isSameCommand(
  one: ReadonlyMap<string, ReadonlySet<string>>,
  other: ReadonlyMap<string, ReadonlySet<string>>,
): boolean {
  return [...other.keys()].every((folder) => one.has(folder));
}

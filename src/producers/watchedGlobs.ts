// Decides what is told of files that nobody has read but somebody watches for: that they appeared, changed or went.
import { type Disposable, DisposableStore } from '../base/disposable.ts';
import { watchedFile } from '../core/notify/fileChange.ts';
import { compileGlob, keyOf } from '../core/notify/globs.ts';
import { type Clock, type Publisher } from '../core/ports.ts';
import { type LiveConversations } from '../core/producerPorts.ts';
import { type FileTouch } from '../core/sourcePorts.ts';
import { type Snapshots } from '../core/storagePorts.ts';
import { type Workspace } from '../core/workspacePorts.ts';
import { type Authorship } from './authorship.ts';
import { type WatchedPaths } from './diskWatch.ts';
import { type Exclusions } from './exclusions.ts';
import { Looks } from './looks.ts';

const QUIET_MILLISECONDS = 300;
const HASHES_KEPT = 5000;
/** Never gone into from outside: too many files that nobody meant. */
const HEAVY = /(^|\/)(node_modules|\.git)(\/|$)/;

export interface WatchedGlobsDeps {
  readonly clock: Clock;
  readonly workspace: Workspace;
  readonly snapshots: Snapshots;
  readonly publisher: Publisher;
  readonly authorship: Authorship;
  readonly exclusions: Exclusions;
  readonly watched: WatchedPaths;
  readonly live: LiveConversations;
  /** The editor's watcher sees the whole workspace, so that only folders that are named need one of ours. */
  readonly hasEditor: boolean;
  isSeen(path: string): boolean;
  report(error: unknown): void;
}

interface Glob {
  readonly folder: string;
  readonly matches: (path: string) => boolean;
}

export class WatchedGlobs implements Disposable {
  readonly #deps: WatchedGlobsDeps;
  readonly #held = new DisposableStore();
  readonly #looks: Looks;
  readonly #globs = new Map<string, Glob>();
  /** Folders that we watch: ours → the machine's. */
  readonly #folders = new Map<string, string>();
  /** What first happened to a file since it was last looked at. */
  readonly #first = new Map<string, FileTouch['type']>();
  readonly #hashes = new Map<string, string>();

  constructor(deps: WatchedGlobsDeps) {
    this.#deps = deps;
    const { clock, report, live } = deps;
    this.#looks = this.#held.add(
      new Looks({
        clock,
        quietMilliseconds: QUIET_MILLISECONDS,
        look: (path, touched) => this.#look(path, touched),
        report,
      }),
    );
    this.#held.add(live.onDidChange(() => this.#refresh()));
    this.#refresh();
  }

  /** Returns whether anybody watches for it. */
  touched(path: string, type: FileTouch['type']): boolean {
    if (this.#globs.size === 0 || this.#deps.isSeen(path) || this.#globsFor(path).length === 0) return false;
    if (!this.#first.has(path)) this.#first.set(path, type);
    this.#looks.soon(path, true);
    return true;
  }

  dispose(): void {
    for (const absolute of this.#folders.values()) this.#deps.watched.removeFolder(absolute);
    this.#held.dispose();
  }

  #globsFor(path: string): Glob[] {
    return [...this.#globs.values()].filter(({ matches }) => matches(path));
  }

  #refresh(): void {
    const wanted = this.#deps.live.globs();
    for (const glob of [...this.#globs.keys()]) if (!wanted.has(glob)) this.#globs.delete(glob);
    for (const glob of wanted) {
      if (!this.#globs.has(glob)) this.#globs.set(glob, { folder: keyOf(glob).folder, matches: compileGlob(glob) });
    }
    const folders = new Set([...this.#globs.values()].map(({ folder }) => folder));
    if (this.#deps.hasEditor) folders.delete('');
    for (const [folder, absolute] of [...this.#folders]) {
      if (folders.has(folder)) continue;
      this.#folders.delete(folder);
      this.#deps.watched.removeFolder(absolute);
    }
    for (const folder of folders) if (!this.#folders.has(folder)) this.#watchFolder(folder);
  }

  #watchFolder(folder: string): void {
    this.#folders.set(folder, '');
    const watch = async () => {
      const resolved = await this.#deps.workspace.resolve(folder === '' ? '.' : folder);
      if (!resolved.ok || this.#folders.get(folder) !== '') return;
      this.#folders.set(folder, resolved.value.absolute);
      const ignores = (path: string) => HEAVY.test(path.slice(folder.length));
      this.#deps.watched.addFolder(folder, resolved.value.absolute, ignores);
    };
    void watch().catch((error: unknown) => this.#deps.report(error));
  }

  async #look(path: string, touched: number | undefined): Promise<void> {
    const first = this.#first.get(path);
    this.#first.delete(path);
    if (first === undefined || this.#deps.isSeen(path) || (await this.#isExcluded(path))) return;
    const resolved = await this.#deps.workspace.resolve(path);
    const content = resolved.ok ? await this.#deps.workspace.read(resolved.value) : undefined;
    if (content === undefined || (!content.ok && content.failure.code !== 'not_found')) return;
    const hash = content.ok ? this.#deps.snapshots.hash(content.value.bytes) : undefined;
    const before = this.#hashes.get(path);
    this.#remember(path, hash);
    if (hash === undefined) {
      // It came and went between two looks.
      if (first === 'created' || (await this.#withdrawCreated(path))) return;
    } else if (hash === before) return;
    const name = hash === undefined ? 'deleted' : first === 'created' && before === undefined ? 'created' : 'changed';
    await this.#say(name, path, hash, touched);
  }

  async #say(
    name: FileTouch['type'],
    path: string,
    hash: string | undefined,
    touched: number | undefined,
  ): Promise<void> {
    const { live, authorship, publisher, clock } = this.#deps;
    const at = new Date(clock.now()).toISOString();
    await Promise.all(
      live.ids().map(async (conversation) => {
        const author = authorship.judge({ path, hash, touched }, conversation);
        if (author === 'own') return;
        await publisher.publish({ ...watchedFile(name, path, author), at }, conversation);
      }),
    );
  }

  #withdrawCreated(path: string): Promise<boolean> {
    const kind = { source: 'file', name: 'created' };
    return this.#deps.publisher.withdraw(kind, `file:${path}`, 'it is gone again');
  }

  /** Unless a glob leads into what is excluded on purpose. */
  async #isExcluded(path: string): Promise<boolean> {
    const { exclusions } = this.#deps;
    if (!(await exclusions.excludes(path))) return false;
    for (const { folder } of this.#globsFor(path)) {
      if (folder !== '' && (await exclusions.excludes(folder))) return false;
    }
    return true;
  }

  #remember(path: string, hash: string | undefined): void {
    this.#hashes.delete(path);
    if (hash === undefined) return;
    const [oldest] = this.#hashes.keys();
    if (this.#hashes.size >= HASHES_KEPT && oldest !== undefined) this.#hashes.delete(oldest);
    this.#hashes.set(path, hash);
  }
}
